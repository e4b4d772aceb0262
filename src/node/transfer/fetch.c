/* Fetch: takes over a base when more rumors are missing than neighbours will push, or after a
 * partition.
 *
 *   too much is missing, or another base wins ──► TAKE to one neighbour
 *   HISTORY ──► replaces our version (takeover.c) ──► FETCH to all neighbours that have the base
 *   BLOCK by BLOCK (pending_blocks.c) ──► complete
 *
 * After HISTORY the node takes rumors as usual: into the log, to neighbours and to the learner. An
 * update has no effect on a missing block: the block is brought up to date when it arrives. So
 * blocks may come, in any order, from any neighbour that knows at least as many rumors as the
 * fetched base contains. If a donor leaves, the blocks that it gave stay.
 *
 * The complete base must have the digest that the donor promised (base_digest.c). Otherwise the
 * base is discarded and another history is requested. If the donor gave all blocks, it is to blame.
 * If many nodes gave blocks, the liar is unknown; then all blocks of the next base are requested
 * from the donor of its history. Tests: tests/world/test_fetch.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "node/broadcast/replace_version.h"
#include "node/broadcast/retract.h"
#include "node/orders/proofs.h"
#include "node/transfer/transfer_private.h"

/* Time to wait for a requested history; after it, the request has failed. */
#define ANSWER_NS (5 * SECOND_NS)
/* Time without a block from a neighbour after which requests to that neighbour have failed. */
#define STALL_NS (30 * SECOND_NS)
/* Time after a failed request before that neighbour is asked again. */
#define REFUSED_NS (10 * SECOND_NS)
/* Time without a block from a neighbour after which an idle neighbour is asked for the same
 * blocks. */
#define SLOW_NS (5 * SECOND_NS)
/* After this time without a useful block, another base is requested. */
#define STUCK_NS (15 * SECOND_NS)
/* Least time for which a node keeps a base that it has taken over (may_yield). */
#define REST_NS (20 * SECOND_NS)
/* A node keeps a base for at least this many times the time of its fetch. */
#define RESTS 3
/* A node is far behind if it lacks this many more rumors than a base has blocks. To this
 * number a joined node adds FAR_EACH for each active origin. */
#define FAR_RUMORS 64
/* Time for which a neighbour must claim rumors that most neighbours lack until a note names it. */
#define CLAIMS_NS   (30 * SECOND_NS)
#define PROGRESS_NS (10 * SECOND_NS) /* time between two notes about the progress of a fetch */
/* Spans of blocks that may be requested at once from a neighbour that has given no block yet. The
 * number grows as its blocks arrive. */
#define SPANS_MIN 2

bool node_is_catching_up(const struct node *node)
{
    return !base_is_whole(node);
}

uint32_t node_bases(const struct node *node)
{
    return node->transfer->fetch.bases;
}

bool fetch_is_asking(const struct node *node)
{
    return node->transfer->request.is_asked;
}

static bool has_refused(const struct node *node, const struct transfer_neighbour *neighbour)
{
    return neighbour->refused_ns && node->now_ns - neighbour->refused_ns < REFUSED_NS;
}

static bool is_waiting(const struct node *node)
{
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        if (node->transfer->neighbours[i].asked_blocks > 0)
            return true;
    return false;
}

/* Returns true if another base must be fetched: the complete base was false, or for STUCK_NS no
 * neighbour could be asked for blocks or no block was useful. Waiting for a slow neighbour does not
 * count. */
static bool is_stuck(const struct node *node)
{
    const struct fetch *fetch = &node->transfer->fetch;
    if (fetch->is_false)
        return true;
    if (base_is_whole(node) || node->now_ns - fetch->moved_ns <= STUCK_NS)
        return false;
    if (fetch->came_ns)
        return node->now_ns - fetch->came_ns > STUCK_NS;
    return !is_waiting(node);
}

/* Returns true if this node may take over the neighbour's base after a partition, or because it
 * lags. A node that has just taken over a base, or is fetching one, yields only after a decisive
 * comparison of the two sides (is_decisive). Without this rule three sides could take over each
 * other's bases in a circle. */
static bool may_yield(const struct node *node, const struct transfer_neighbour *neighbour)
{
    return neighbour->is_decisive ||
           (base_is_whole(node) && node->now_ns >= node->transfer->fetch.rest_ns);
}

/* Returns true if our base must be replaced: digest votes refute it, most neighbours lack lost
 * rumors that it contains, or it contains an expelled member's rumors that the log has dropped. A
 * contested proof forces no replacement. */
static bool must_replace(const struct node *node)
{
    return digest_votes_refute(node) || lost_rumors_refute(node) ||
           (retract_needs_base(node) && !proofs_are_contested(node) &&
            base_state(node) != BASE_ROLLING);
}

/* Returns true if the neighbour's base should replace ours: the neighbour is far ahead, its base
 * wins after a partition, or ours must be replaced or cannot be completed. */
static bool is_better(const struct node *node, const struct peer *peer)
{
    const struct transfer_neighbour *neighbour = transfer_neighbour(node, peer);
    const bool is_partitioned = broadcast_is_partitioned(node, peer);
    if (!broadcast_is_compared(node, peer) || has_refused(node, neighbour) ||
        blame_is_on(node, peer))
        return false;
    if (broadcast_lacks_first(node))
        return neighbour->has_base;
    if (digest_votes_refute(node) && !is_stuck(node))
        return digest_votes_prefer(node, peer);
    if (lost_rumors_refute(node) && !is_stuck(node))
        return lost_rumors_prefer(node, peer);
    if (is_stuck(node) || (base_state(node) == BASE_ROLLING && !is_partitioned) ||
        must_replace(node))
        return true;
    if (!may_yield(node, neighbour))
        return false;
    if (is_partitioned)
        return !neighbour->peer_yields;
    return neighbour->is_ahead && !neighbour->ours_preferred && base_is_whole(node);
}

/* Returns true if the neighbour may give blocks. A blamed neighbour may not; while from_donor is
 * set, only the donor of the base may. */
static bool may_give(const struct node *node, const struct peer *peer)
{
    const bool from_donor = node->transfer->blame.from_donor && base_state(node) == BASE_FETCHING;
    return !blame_is_on(node, peer) && (!from_donor || blame_is_donor(node, peer));
}

/* Besides may_give, requires that the neighbour exchanges rumors with this node, has refused no
 * request lately, and knows at least as many rumors as the base being fetched has. */
bool fetch_may_ask(const struct node *node, const struct peer *peer)
{
    return broadcast_is_together(node, peer) &&
           broadcast_knows(node, peer) >= node->transfer->fetch.rumors &&
           !has_refused(node, transfer_neighbour(node, peer)) && may_give(node, peer);
}

bool fetch_most_are_ahead(const struct node *node)
{
    const struct peer *peer;
    uint32_t ahead = 0, compared = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        compared += transfer_counts(node, peer);
        ahead += transfer_counts(node, peer) && node->transfer->neighbours[i].is_ahead;
    }
    CHECK(ahead <= compared);
    return (ahead > 1 || membership_live(node) <= 2) && 2 * ahead > compared;
}

void fetch_on_claims(struct node *node, const struct peer *peer, uint64_t rumors)
{
    char text[192];
    struct transfer_neighbour *neighbour = transfer_neighbour(node, peer);
    CHECK(peer->state == PEER_OPEN);
    if (neighbour->claims_ns == 0)
        neighbour->claims_ns = node->now_ns;
    if (rumors < CLAIMS_MANY || neighbour->are_claims_noted ||
        node->now_ns - neighbour->claims_ns < CLAIMS_NS)
        return;
    neighbour->are_claims_noted = true;
    (void)snprintf(text, sizeof text,
                   "claims %" PRIu64 " rumors that the other members lack; this node keeps its "
                   "base; expel the member if it lies (hearsay expel)",
                   rumors);
    (void)connection_note(node, peer, NOTE_FALSE_BASE, LEVEL_WARNING, text);
}

static const struct peer *choose_donor(struct node *node)
{
    const struct peer *peer, *chosen = NULL;
    uint32_t donors = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (is_better(node, peer) && rng_below(&node->rng, ++donors) == 0)
            chosen = peer;
    return chosen;
}

/* Requests the history of a random neighbour with a better base. A node that served its base lately
 * does not ask, unless it must replace that base: if two nodes took over each other's base, both
 * bases would be lost. A joined node skips half of the calls at random: a node that has asked sends
 * no history, so two nodes could otherwise keep asking each other. */
static void ask(struct node *node)
{
    const bool serves = serve_has_served_lately(node);
    if ((serves && base_is_whole(node) && !must_replace(node)) || retract_is_under_way(node) ||
        (joining_has_joined(node) && rng_below(&node->rng, 2) == 0))
        return;
    const struct peer *donor = choose_donor(node);
    if (rumor_log_is_waiting(broadcast_log(node)))
        return; /* the learner is too slow for the rumors, so another base would not help */
    if (!donor || !connection_say(node, donor, &(struct message){.kind = TAKE}))
        return;
    struct history_request *request = &node->transfer->request;
    CHECK(!request->is_asked);
    request->is_asked = true;
    request->donor = donor->conn;
    request->asked_ns = node->now_ns;
    request->parts = 0;
    request->entries = 0;
}

/* Returns true if fetching all blocks of a base probably costs less than the missing rumors. */
static bool is_far(const struct node *node, uint64_t missing)
{
    const uint64_t each =
        joining_has_joined(node) ? FAR_EACH * (uint64_t)broadcast_active_origins(node) : 0;
    return missing > FAR_RUMORS + node->transfer->blocks + each;
}

/* Returns the number of rumors of the neighbour's own incarnation that its version claims and this
 * node lacks. */
static uint64_t claimed_of_itself(const struct node *node, const struct peer *from,
                                  const struct message *version)
{
    const uint64_t tag = origin_tag(from->id, from->incarnation);
    const struct origin *origin = versions_find(broadcast_versions(node), tag);
    const uint32_t have = origin ? origin->next : 0;
    for (size_t i = 0; i < version->bulk.count / VERSION_ENTRY_BYTES; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        if (entry.tag == tag && entry.next > have)
            return entry.next - have;
    }
    return 0;
}

bool fetch_on_missing(struct node *node, const struct peer *from, const struct message *version,
                      uint64_t missing)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, from);
    neighbour->has_base = version->base;
    neighbour->lacks_first = !version->base && version->hash == VERSION_HASH_NONE;
    neighbour->is_ahead =
        neighbour->has_base && (is_far(node, missing) || (neighbour->is_ahead && missing > 0));
    if (!neighbour->is_ahead)
        neighbour->claims_ns = 0;
    else if (missing >= CLAIMS_MANY && joining_has_joined(node) && base_is_whole(node) &&
             !fetch_most_are_ahead(node))
        fetch_on_claims(node, from, claimed_of_itself(node, from, version));
    return neighbour->is_ahead || (neighbour->has_base && broadcast_lacks_first(node));
}

bool fetch_is_ahead(const struct node *node, const struct peer *peer)
{
    return transfer_neighbour(node, peer)->is_ahead;
}

void fetch_set_ahead(struct node *node, const struct peer *peer)
{
    transfer_neighbour(node, peer)->is_ahead = true;
}

void fetch_begin(struct node *node, enum base_state state, uint64_t rumors)
{
    struct transfer *transfer = node->transfer;
    struct fetch *fetch = &transfer->fetch;
    CHECK(state != BASE_WHOLE);
    if (base_is_whole(node))
        fetch->wrote_ns = node->now_ns;
    base_move(node, state);
    fetch->bases++;
    fetch->rumors = rumors;
    fetch->began_ns = fetch->noted_ns = fetch->moved_ns = node->now_ns;
    fetch->came_ns = 0;
    fetch->cursor = fetch->blocks_written = 0;
    fetch->bytes = 0;
    transfer->blame.is_of_many = fetch->is_false = false;
    memset(fetch->from, 0, transfer->blocks * sizeof *fetch->from);
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        transfer->neighbours[i].has_given = false;
    pending_clear(node);
}

void fetch_begin_first(struct node *node, uint8_t standing)
{
    struct transfer *transfer = node->transfer;
    memset(transfer->request.next, 0, broadcast_versions(node)->max * sizeof(uint32_t));
    (void)replace_version(node, NULL, 0, 0, transfer->request.next, false);
    fetch_begin(node, BASE_FETCHING, 0);
    base_digest_begin(node, 0);
    transfer->digest_votes.are_open = transfer->request.is_asked = false;
    transfer->fetch.keep_weights = false;
    broadcast_set_lacks_first(node);
    transfer->fetch.standing = standing;
}

uint8_t fetch_standing(const struct node *node)
{
    return node->transfer->fetch.standing;
}

/* Returns the next blocks to request; count = 0 if all were requested or have arrived. */
static struct span next_span(struct node *node)
{
    struct fetch *fetch = &node->transfer->fetch;
    const uint32_t blocks = node->transfer->blocks;
    const uint32_t most = base_state(node) == BASE_ROLLING ? 1 : READ_BLOCKS;
    struct span span = {0};
    CHECK(fetch->cursor <= blocks);
    while (fetch->cursor < blocks && fetch->from[fetch->cursor] != BLOCK_MISSING)
        fetch->cursor++;
    span.block = fetch->cursor;
    while (span.count < most && span.block + span.count < blocks &&
           fetch->from[span.block + span.count] == BLOCK_MISSING)
        span.count++;
    return span;
}

static void set_from(struct fetch *fetch, struct span span, uint64_t from)
{
    CHECK(from > BLOCK_WRITTEN);
    for (uint32_t i = 0; i < span.count; i++)
        fetch->from[span.block + i] = from;
}

/* Marks all blocks that were requested in this conversation and have not arrived as missing, so
 * that they are requested from another neighbour. */
static void release(struct node *node, uint64_t conn)
{
    struct fetch *fetch = &node->transfer->fetch;
    CHECK(conn > BLOCK_WRITTEN);
    for (uint32_t i = 0; i < node->transfer->blocks; i++)
        if (fetch->from[i] == conn)
            fetch->from[i] = BLOCK_MISSING;
    fetch->cursor = 0;
}

void fetch_forgive(struct node *node)
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        node->transfer->neighbours[i].refused_ns = 0;
}

static void give_up(struct node *node, const struct peer *donor)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, donor);
    release(node, donor->conn);
    neighbour->asked_blocks = neighbour->asked_spans_count = 0;
    neighbour->refused_ns = node->now_ns;
}

/* Marks the blocks requested from one slow neighbour as missing, so that the idle neighbour
 * free_one is asked for them. The first copy of a block counts. */
static void take_from_slow(struct node *node, const struct peer *free_one)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const struct transfer_neighbour *neighbour = &node->transfer->neighbours[i];
        if (peer == free_one || neighbour->asked_blocks == 0 ||
            node->now_ns - neighbour->gave_ns < SLOW_NS)
            continue;
        release(node, peer->conn);
        return;
    }
}

/* Returns true if pending_blocks has space for one more span besides all requested blocks. */
static bool has_room_for_span(const struct node *node)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < PENDING_MAX; i++)
        taken += node->transfer->pending.blocks[i].entries > 0;
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        taken += node->transfer->neighbours[i].asked_blocks;
    return taken + READ_BLOCKS <= PENDING_MAX;
}

static void fetch_from(struct node *node, const struct peer *donor)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, donor);
    CHECK(neighbour->spans_max <= FETCHES_MAX);
    while (neighbour->asked_spans_count < neighbour->spans_max && has_room_for_span(node)) {
        const struct span span = next_span(node);
        if (span.count == 0) {
            if (neighbour->asked_blocks == 0)
                take_from_slow(node, donor);
            return;
        }
        const struct message fetch = {.kind = FETCH, .block = span.block, .count = span.count};
        if (!connection_say(node, donor, &fetch))
            return;
        set_from(&node->transfer->fetch, span, donor->conn);
        if (neighbour->asked_blocks == 0)
            neighbour->gave_ns = node->now_ns;
        neighbour->asked_blocks += span.count;
        neighbour->asked_spans[neighbour->asked_spans_count++] = span.count;
    }
}

static void consider_fetching_from(struct node *node, const struct peer *peer)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, peer);
    if (neighbour->asked_blocks > 0 && node->now_ns - neighbour->gave_ns > STALL_NS)
        give_up(node, peer);
    if (neighbour->spans_max == 0)
        neighbour->spans_max = SPANS_MIN;
    if (fetch_may_ask(node, peer) &&
        (base_state(node) != BASE_ROLLING || peer->conn == node->transfer->rolling.donor))
        fetch_from(node, peer);
}

/* Requests blocks, from the donor first: another neighbour may know equally many rumors, but
 * different ones. */
static void fetch(struct node *node)
{
    CHECK(!base_is_whole(node));
    const struct peer *peer = connection_open_peer(node, node->transfer->request.donor);
    if (peer)
        consider_fetching_from(node, peer);
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        consider_fetching_from(node, peer);
}

static void count_block(struct node *node, struct transfer_neighbour *neighbour)
{
    struct fetch *fetch = &node->transfer->fetch;
    CHECK((neighbour->asked_blocks == 0) == (neighbour->asked_spans_count == 0));
    neighbour->gave_ns = node->now_ns;
    if (!fetch->came_ns)
        fetch->came_ns = node->now_ns;
    neighbour->asked_blocks -= neighbour->asked_blocks > 0;
    if (neighbour->asked_spans_count > 0 && --neighbour->asked_spans[0] == 0)
        memmove(neighbour->asked_spans, neighbour->asked_spans + 1,
                --neighbour->asked_spans_count * sizeof(uint32_t));
}

void fetch_on_block(struct node *node, const struct peer *from, const struct message *block)
{
    struct fetch *fetching = &node->transfer->fetch;
    struct transfer_neighbour *neighbour = transfer_neighbour(node, from);
    if (base_is_whole(node))
        return;
    fetching->bytes += block->entries.count + block->bulk.count;
    if (block->bulk.count == 0) {
        give_up(node, from);
        return;
    }
    count_block(node, neighbour);
    if (block->block >= node->transfer->blocks || !may_give(node, from) ||
        fetching->from[block->block] == BLOCK_PENDING ||
        fetching->from[block->block] == BLOCK_WRITTEN)
        return;
    if (neighbour->asked_blocks % READ_BLOCKS == 0 && neighbour->spans_max < FETCHES_MAX)
        neighbour->spans_max++;
    const enum error error = pending_put(node, from, block);
    fetching->from[block->block] = error == OK ? BLOCK_PENDING : BLOCK_MISSING;
    neighbour->has_given |= error == OK;
    if (error == MALFORMED)
        connection_hang_up(node, from, BYE_BROKEN, "sent an invalid block");
    if (error == MISMATCH)
        neighbour->refused_ns = node->now_ns;
    if (error != OK && block->block < fetching->cursor)
        fetching->cursor = (uint32_t)block->block;
    fetch(node);
}

void fetch_on_lost(struct node *node, uint64_t conn)
{
    struct history_request *request = &node->transfer->request;
    if (!base_is_whole(node))
        release(node, conn);
    if (request->is_asked && request->donor == conn)
        request->is_asked = false;
}

static void finish(struct node *node)
{
    struct fetch *fetch = &node->transfer->fetch;
    CHECK(fetch->blocks_written == node->transfer->blocks && fetch->began_ns <= node->now_ns);
    const uint64_t took_ns = node->now_ns - fetch->began_ns;
    base_move(node, BASE_WHOLE);
    node->transfer->blame.from_donor = false;
    fetch->is_unannounced = true;
    fetch->rest_ns = node->now_ns + u64_max(RESTS * took_ns, REST_NS);
    serve_save_soon(node);
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_INFO,
                    "has the base of the swarm: %u blocks, %.3f MB, in %.1f s",
                    (unsigned)node->transfer->blocks, (double)fetch->bytes * 1e-6,
                    (double)took_ns * 1e-9);
    joining_join(node, "has all rumors of the swarm");
}

/* If the complete base is false, the node fetches another one (is_stuck). */
static void end_fetching(struct node *node)
{
    struct fetch *fetch = &node->transfer->fetch;
    CHECK(base_state(node) == BASE_FETCHING && !fetch->is_false);
    if (base_digest_is_right(node)) {
        finish(node);
        return;
    }
    fetch->is_false = true;
    blame_givers(node);
}

bool fetch_next_write(struct node *node, struct action *action)
{
    struct fetch *fetch = &node->transfer->fetch;
    if (base_is_whole(node) || !pending_next_write(node, action))
        return false;
    broadcast_on_block_given(node, action->entries);
    fetch->moved_ns = fetch->wrote_ns = node->now_ns;
    fetch->came_ns = 0;
    CHECK(fetch->blocks_written < node->transfer->blocks);
    fetch->blocks_written++;
    if (base_state(node) == BASE_ROLLING)
        return true;
    base_digest_on_write(node, action);
    if (fetch->blocks_written == node->transfer->blocks)
        end_fetching(node);
    return true;
}

bool fetch_take_announcement(struct node *node)
{
    const bool is_unannounced = node->transfer->fetch.is_unannounced;
    node->transfer->fetch.is_unannounced = false;
    return is_unannounced;
}

uint64_t fetch_wrote_ns(const struct node *node)
{
    return node->transfer->fetch.wrote_ns;
}

void fetch_restart_wait(struct node *node)
{
    node->transfer->fetch.wrote_ns = node->now_ns;
}

static void note_progress(struct node *node)
{
    struct fetch *fetch = &node->transfer->fetch;
    const uint32_t blocks = node->transfer->blocks;
    const double seconds = (double)(node->now_ns - fetch->began_ns) * 1e-9;
    const double part = (double)fetch->blocks_written / (double)blocks;
    if (node->now_ns - fetch->noted_ns < PROGRESS_NS)
        return;
    fetch->noted_ns = node->now_ns;
    char left[32] = "unknown";
    if (part > 0)
        (void)snprintf(left, sizeof left, "%.0f s", seconds / part - seconds);
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_INFO,
                    "catching up: %u of %u blocks, %.3f MB, %.3f MB/s, time left %s",
                    (unsigned)fetch->blocks_written, (unsigned)blocks, (double)fetch->bytes * 1e-6,
                    (double)fetch->bytes * 1e-6 / seconds, left);
}

/* Stops waiting for a history that has not arrived within ANSWER_NS. */
static void give_up_asking(struct node *node)
{
    struct history_request *request = &node->transfer->request;
    if (!request->is_asked || node->now_ns - request->asked_ns <= ANSWER_NS)
        return;
    const struct peer *donor = connection_at(node, (uint32_t)request->donor);
    if (donor->conn == request->donor)
        transfer_neighbour(node, donor)->refused_ns = node->now_ns;
    request->is_asked = false;
}

/* A node whose training has ended keeps its base, unless no other member could ever hold it. */
bool fetch_may_begin(const struct node *node)
{
    return leaving_stage(node) == STAGE_RUNNING || !base_is_whole(node) ||
           retract_needs_base(node) || lost_rumors_refute(node);
}

void fetch_consider(struct node *node)
{
    if (!fetch_may_begin(node))
        return;
    give_up_asking(node);
    if (!fetch_is_asking(node) &&
        (base_state(node) != BASE_ROLLING || node->transfer->rolling.wants_whole))
        ask(node);
    if (base_is_whole(node) || broadcast_lacks_first(node))
        return;
    pending_drop_old(node);
    fetch(node);
    if (base_state(node) != BASE_ROLLING && !node->transfer->fetch.is_false)
        note_progress(node);
}
