/* Serves our base to nodes that catch up, and copies it for checkpoints.
 *
 *   TAKE  ──► HISTORY, in parts                the rumors of which our base is the sum
 *   FETCH ──► READ ──► learner ──► BLOCK ...   blocks of it, with the version's latest entries
 *             SAVE ──► learner ──► history     everything in the learner, and its history
 *
 * No copy of the base is kept: each block is as recent as its READ. Training steps do not change
 * the base, so a READ need not wait for a step, nor for orders behind it. The learner only promises
 * that answers come in the order of execution, so a block contains the rumors that the learner
 * answered before it. A base given away must contain all rumors that were known and not withheld
 * (broadcast/withheld.h) when the neighbour first asked, since the neighbour would not get those
 * rumors otherwise. So the neighbour gets no block before the learner has applied these rumors. A
 * block comes with the latest entries of its version and the hash of all entries. Links carry
 * blocks only when no rumor waits (connection/peer.c), so blocks do not delay rumors. But they use
 * processor time, so while this node trains, serve_rate limits their bytes per second. Tests:
 * tests/world/test_serve.c, test_joining_load.c and test_takeover.c.
 */
#include <math.h>
#include <string.h>

#include "node/broadcast/retract.h"
#include "node/broadcast/withheld.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer_private.h"

#define HISTORY_AT_ONCE ((MESSAGE_MAX - MESSAGE_ADDS) / HISTORY_ENTRY_BYTES)
#define TURN_S          5
/* Shortest time between two histories for one neighbour while rumors are withheld. */
#define HELD_NS SECOND_NS
/* A neighbour's request after a pause of this length may be for another base. */
#define OTHER_BASE_NS (5 * SECOND_NS)
/* Least default limit for sent blocks, bytes per second: a sixteenth of a core at 5 ns a byte. */
#define SERVE_AUTO 12.5e6
/* Default limit for sent blocks, as a part of budget_uplink. */
#define SERVE_PART 0.25
#define LISTED_MAX ((MESSAGE_MAX - MESSAGE_ADDS - BLOCK_MAX) / VERSION_ENTRY_BYTES)

_Static_assert(READ_BLOCKS *BLOCK_ENTRIES == NODE_READ_MAX, "the owner gives room for a READ");

/* Returns false while this node must give no blocks: its base is incomplete, refuted, or
 * contains more rumors of an expelled member than may stay. */
static bool may_serve(const struct node *node)
{
    return base_is_whole(node) && !retract_needs_base(node) && !digest_votes_refute(node);
}

/* Records a neighbour's request. If it may be for another base than the neighbour's earlier
 * requests, the blocks that answer it must contain every rumor that is known now. */
static void on_asked(struct node *node, const struct peer *from, bool is_new)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, from);
    CHECK(neighbour->fetched_ns <= node->now_ns);
    if (is_new ||
        (neighbour->fetches_count == 0 && node->now_ns - neighbour->fetched_ns > OTHER_BASE_NS))
        neighbour->serve_from = broadcast_log(node)->newest;
    neighbour->fetched_ns = node->now_ns;
}

/* Returns the bytes of queue space for a history. All parts of a history must describe one version,
 * so they are queued together or not at all. */
static size_t history_room(size_t incarnations)
{
    return (incarnations + HISTORY_AT_ONCE - 1) / HISTORY_AT_ONCE * FRAME_MAX;
}

static bool has_room_for_history(const struct node *node, const struct peer *peer)
{
    return peer_queued_bytes(peer) + history_room(broadcast_versions(node)->publishers) <=
           peer->queue.max;
}

uint32_t node_incarnations_max(size_t send_queue_bytes)
{
    return (uint32_t)(send_queue_bytes / 8 * 7 / FRAME_MAX * HISTORY_AT_ONCE);
}

/* Returns the number of origins with a rumor that is not withheld. */
static uint32_t origins_in_base(const struct node *node)
{
    uint32_t count = 0;
    for (uint32_t origin_index = 0; origin_index < broadcast_versions(node)->count; origin_index++)
        count += withheld_last(node, origin_index) != NULL;
    return count;
}

static void say_history(struct node *node, const struct peer *to, uint64_t digest)
{
    const struct versions *versions = broadcast_versions(node);
    uint32_t left = origins_in_base(node);
    struct message history = {.kind = HISTORY,
                              .digest = digest,
                              .parts = (left + HISTORY_AT_ONCE - 1) / HISTORY_AT_ONCE,
                              .bulk = {node->scratch, 0}};
    if (left == 0) {
        history.parts = 1; /* one part without entries is the history of the first weights */
        CHECK(connection_say(node, to, &history));
        return;
    }
    for (const struct origin *origin = versions_newer(versions, NULL); origin;
         origin = versions_newer(versions, origin)) {
        const struct signed_head *last = withheld_last(node, versions_index(versions, origin));
        if (!last)
            continue;
        memcpy(node->scratch + history.bulk.count, last->bytes, HISTORY_ENTRY_BYTES);
        history.bulk.count += HISTORY_ENTRY_BYTES;
        if (--left > 0 && history.bulk.count < HISTORY_AT_ONCE * HISTORY_ENTRY_BYTES)
            continue;
        CHECK(connection_say(node, to, &history));
        history.part++;
        history.bulk.count = 0;
    }
    CHECK(left == 0 && history.part == history.parts);
}

/* A base without rumors is of use only to a neighbour that lacks the first weights. */
static bool has_history(const struct node *node, const struct peer *to)
{
    return origins_in_base(node) > 0 ||
           (transfer_neighbour(node, to)->lacks_first && broadcast_versions(node)->rumors == 0);
}

void serve_on_take(struct node *node, const struct peer *from)
{
    uint64_t digest;
    const uint64_t asked_ns = transfer_neighbour(node, from)->fetched_ns;
    const bool is_soon = asked_ns > 0 && node->now_ns - asked_ns < HELD_NS;
    on_asked(node, from, true);
    if (may_serve(node) && !node->transfer->request.is_asked && has_history(node, from) &&
        has_room_for_history(node, from) && !(is_soon && withheld_has_any(node)) &&
        withheld_digest(node, &digest)) {
        node->transfer->serve.served_ns = node->now_ns;
        /* our base contains the rumors that wait in the neighbour's backlog */
        broadcast_forget_backlog(node, from);
        say_history(node, from, digest);
        return;
    }
    (void)connection_say(node, from, &(struct message){.kind = HISTORY});
}

static void refuse(struct node *node, const struct peer *to)
{
    (void)connection_say(node, to, &(struct message){.kind = BLOCK});
}

void serve_on_fetch(struct node *node, const struct peer *from, uint64_t block, uint64_t count)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, from);
    on_asked(node, from, neighbour->fetched_ns == 0);
    if (count == 0 || count > READ_BLOCKS || block >= node->transfer->blocks ||
        count > node->transfer->blocks - block)
        connection_hang_up(node, from, BYE_BROKEN, "asked for blocks that do not exist");
    else if (!may_serve(node) || neighbour->fetches_count == FETCHES_MAX)
        refuse(node, from);
    else
        neighbour->fetches[neighbour->fetches_count++] =
            (struct span){.block = (uint32_t)block, .count = (uint32_t)count};
    node->transfer->serve.served_ns = node->now_ns;
}

/* Returns how many blocks fit in the neighbour's queue. */
static uint32_t room_for(const struct peer *peer)
{
    const size_t waiting = peer_queued_bytes(peer);
    return waiting < peer->queue.max ? (uint32_t)((peer->queue.max - waiting) / FRAME_MAX) : 0;
}

/* Returns the limit of the bytes of blocks per second that this node sends; INFINITY = no limit. */
static double serve_rate(const struct node *node)
{
    const uint64_t fixed = node->options.serve_bytes_per_s;
    if (fixed == 0 || joining_state(node) != JOINING_TRAINING)
        return INFINITY;
    return fixed == NODE_SERVE_AUTO ? fmax(SERVE_PART * budget_uplink(node), SERVE_AUTO)
                                    : (double)fixed;
}

/* Returns the number of version entries to send with each block. */
static uint32_t listed(const struct node *node)
{
    const uint32_t most =
        node->options.limits.listed_max ? node->options.limits.listed_max : LISTED_MAX;
    return u32_min(broadcast_active_origins(node), most);
}

/* Returns how many blocks the neighbour gets in one turn: as many as its link and its part of
 * serve_rate carry in TURN_S seconds, at least one, at most READ_BLOCKS. So blocks are sent soon
 * after they are read. */
static uint32_t fair_turn(const struct node *node, const struct peer *peer)
{
    uint32_t takers = 0;
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        takers += node->transfer->neighbours[i].fetches_count > 0;
    const uint64_t block_bytes =
        node->options.block_entries * sizeof(int32_t) + listed(node) * (size_t)VERSION_ENTRY_BYTES;
    const double rate = fmin(serve_rate(node) / (takers ? takers : 1), rate_link(node, peer)->rate);
    const double blocks = rate * TURN_S / (double)block_bytes;
    return (uint32_t)fmin(fmax(blocks, 1), READ_BLOCKS);
}

/* Removes at most `most` blocks from the front of the neighbour's requests, and returns them. */
static struct span take_fetch(struct transfer_neighbour *neighbour, uint32_t most)
{
    CHECK(neighbour->fetches_count > 0 && most > 0);
    struct span first = neighbour->fetches[0];
    if (first.count > most) {
        first.count = most;
        neighbour->fetches[0].block += most;
        neighbour->fetches[0].count -= most;
        return first;
    }
    neighbour->fetches_count--;
    memmove(neighbour->fetches, neighbour->fetches + 1,
            neighbour->fetches_count * sizeof *neighbour->fetches);
    return first;
}

static void put_back(struct transfer_neighbour *neighbour, struct span span)
{
    CHECK(span.count > 0 && neighbour->fetches_count <= FETCHES_MAX);
    if (neighbour->fetches_count == FETCHES_MAX)
        return; /* the list is full; the neighbour will request these blocks again */
    memmove(neighbour->fetches + 1, neighbour->fetches,
            neighbour->fetches_count * sizeof *neighbour->fetches);
    neighbour->fetches[0] = span;
    neighbour->fetches_count++;
}

/* Returns the next neighbour in turn that waits for blocks, has room for one in its queue, and for
 * which pacer_is_busy is false. Skips a neighbour while the learner has not applied the rumors,
 * except withheld ones, that its blocks must contain. */
static const struct peer *next_taker(struct node *node)
{
    const uint32_t places = node->options.limits.peers_max;
    for (uint32_t i = 1; i <= places; i++) {
        const uint32_t origin_index = (node->transfer->serve.turn + i) % places;
        if (node->transfer->neighbours[origin_index].fetches_count == 0)
            continue; /* this neighbour has requested no blocks */
        const struct peer *peer = connection_at(node, origin_index);
        if (peer->state != PEER_OPEN || pacer_is_busy(node, peer) || room_for(peer) == 0 ||
            !broadcast_has_done(node, node->transfer->neighbours[origin_index].serve_from))
            continue;
        node->transfer->serve.turn = origin_index;
        return peer;
    }
    return NULL;
}

static void begin_reading(struct node *node, uint64_t conn, struct span span)
{
    struct reading *reading = &node->transfer->serve.reading;
    CHECK(!reading->is_out && base_is_whole(node));
    *reading = (struct reading){
        .is_out = true, .bases = node->transfer->fetch.bases, .conn = conn, .span = span};
}

/* Sets serve.heads to the heads of the last rumors in the learner's base as of its present answer.
 * Own rumors are always in that base, because they become known only after the learner has cut
 * them. */
static const struct serve *look_at_answer(struct node *node)
{
    const struct serve *serve = &node->transfer->serve;
    broadcast_done(node, serve->heads);
    return serve;
}

bool serve_next_read(struct node *node, struct action *action)
{
    if (node->transfer->serve.reading.is_out || node->now_ns < node->transfer->serve.next_ns ||
        /* the learner has not applied all blocks of a base that is taken over, or a retraction */
        broadcast_has_blocks_given(node) || retract_is_due(node) || retract_is_under_way(node))
        return false;
    const struct peer *peer = next_taker(node);
    if (!peer)
        return false;
    if (!may_serve(node)) { /* this node may no longer send its base */
        transfer_neighbour(node, peer)->fetches_count = 0;
        refuse(node, peer);
        return false;
    }
    const uint32_t room = room_for(peer), turn = fair_turn(node, peer);
    const struct span span = take_fetch(transfer_neighbour(node, peer), u32_min(room, turn));
    begin_reading(node, peer->conn, span);
    *action = (struct action){.kind = ACTION_READ,
                              .first = (uint64_t)span.block * node->options.block_entries};
    for (uint32_t i = 0; i < span.count; i++)
        action->entries += transfer_block_entries(node, span.block + i);
    CHECK(action->entries > 0 && action->entries <= NODE_READ_MAX);
    CHECK(action->first + action->entries <= node->options.parameters);
    return true;
}

static void pay(struct node *node, uint64_t bytes)
{
    node->transfer->serve.bytes += bytes;
    node->transfer->serve.next_ns =
        node->now_ns + (uint64_t)((double)bytes * 1e9 / serve_rate(node));
}

/* Returns true if a base with these heads has more rumors of an expelled member than may stay. */
static bool has_excess(const struct node *node, const struct signed_head *const *heads)
{
    const struct versions *versions = broadcast_versions(node);
    bool has = false;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        has |= heads[origin_index] &&
               signed_head_seq(heads[origin_index]) >= versions->origins[origin_index].keep;
    return has;
}

static void say_blocks(struct node *node, const struct peer *to, struct span span,
                       const int32_t *units)
{
    CHECK(span.block < node->transfer->blocks && span.count <= node->transfer->blocks - span.block);
    const struct signed_head *const *heads = look_at_answer(node)->heads;
    if (has_excess(node, heads)) { /* these blocks will be read again after the retraction */
        put_back(transfer_neighbour(node, to), span);
        return;
    }
    const size_t entries_listed =
        versions_latest(broadcast_versions(node), heads, 0, listed(node), node->scratch, NULL);
    struct message message = {.kind = BLOCK,
                              .hash = versions_hash(broadcast_versions(node), heads),
                              .entries = {node->scratch, entries_listed * VERSION_ENTRY_BYTES}};
    uint8_t *body = node->scratch + message.entries.count;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < span.count; i++) {
        const uint32_t entries = transfer_block_entries(node, span.block + i);
        message.block = span.block + i;
        message.bulk = (struct bytes){body, block_encode(units, entries, body)};
        if (!connection_say(node, to, &message)) {
            put_back(transfer_neighbour(node, to),
                     (struct span){.block = span.block + i, .count = span.count - i});
            break; /* rumors have filled the neighbour's queue since the READ */
        }
        bytes += message.entries.count + message.bulk.count;
        units += entries;
    }
    pay(node, bytes);
}

void node_on_read(struct node *node, uint64_t now_ns, const int32_t *units)
{
    struct reading *reading = &node->transfer->serve.reading;
    CHECK(reading->is_out && now_ns >= node->now_ns);
    node->now_ns = now_ns;
    reading->is_out = false;
    const struct peer *peer = connection_at(node, (uint32_t)reading->conn);
    if (peer->conn != reading->conn || peer->state != PEER_OPEN)
        return;
    if (may_serve(node) && reading->bases == node->transfer->fetch.bases)
        say_blocks(node, peer, reading->span, units);
    else
        refuse(node, peer);
}

bool serve_next_save(struct node *node, struct action *action)
{
    struct serve *serve = &node->transfer->serve;
    const bool is_due = node->options.save_ns > 0 && node->now_ns >= serve->save_ns;
    if (!(is_due || serve->is_save_asked) || serve->is_saving || !joining_has_joined(node) ||
        !base_is_whole(node) || retract_is_under_way(node) || digest_votes_refute(node) ||
        !leaving_stays(node))
        return false;
    serve->is_save_asked = false;
    serve->is_saving = true;
    serve->saving_bases = node->transfer->fetch.bases;
    serve->save_ns = node->now_ns + node->options.save_ns;
    *action = (struct action){.kind = ACTION_SAVE};
    return true;
}

void serve_save_anyway(struct node *node)
{
    node->transfer->serve.is_save_asked = true;
}

size_t node_history_max(const struct node_options *options)
{
    return (size_t)options->limits.incarnations_max * HISTORY_ENTRY_BYTES;
}

static size_t put_entry(const struct signed_head *last, uint8_t *out)
{
    if (last)
        memcpy(out, last->bytes, HISTORY_ENTRY_BYTES);
    return last ? HISTORY_ENTRY_BYTES : 0;
}

bool node_on_saved(struct node *node, uint64_t now_ns, uint8_t *out, size_t *bytes)
{
    struct serve *serve = &node->transfer->serve;
    CHECK(serve->is_saving && now_ns >= node->now_ns);
    node->now_ns = now_ns;
    serve->is_saving = false;
    *bytes = 0;
    if (serve->saving_bases != node->transfer->fetch.bases)
        return false;
    (void)look_at_answer(node);
    for (const struct origin *origin = versions_newer(broadcast_versions(node), NULL); origin;
         origin = versions_newer(broadcast_versions(node), origin)) {
        const uint32_t origin_index = versions_index(broadcast_versions(node), origin);
        *bytes += put_entry(serve->heads[origin_index], out + *bytes);
    }
    return true;
}

size_t node_history(const struct node *node, uint8_t *out)
{
    size_t bytes = 0;
    for (const struct origin *origin = versions_newer(broadcast_versions(node), NULL); origin;
         origin = versions_newer(broadcast_versions(node), origin))
        bytes += put_entry(origin->applied > 0 ? &origin->applied_last : NULL, out + bytes);
    return bytes;
}

void serve_save_soon(struct node *node)
{
    node->transfer->serve.save_ns = node->now_ns;
}

bool serve_has_served_lately(const struct node *node)
{
    const uint64_t served_ns = node->transfer->serve.served_ns;
    return served_ns && node->now_ns - served_ns < SERVING_NS;
}
