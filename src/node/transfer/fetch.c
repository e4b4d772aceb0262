/* Taking over a base: for who lacks more than rumors will bring, or was apart for long.
 *
 *   too much is missing, or another base wins ──► TAKE to one neighbour
 *   HISTORY ──► our version is that of the base to be (adopt.c) ──► FETCH to all who have it
 *   BLOCK by BLOCK (held.c) ──► all are here
 *
 * From the moment of HISTORY on, rumors are heard as by any other node: they go into the log, to
 * the neighbours and to the learner. Where a block is still missing that is of no use; the block,
 * when it comes, is made as new as the base is then. So blocks may come from anybody who is not
 * behind our version, in any order, any donor may go at any time, and what is there stays.
 */
#include <stdio.h>
#include <string.h>

#include "node/inside.h"

#define ANSWER_NS   (5 * SECOND_NS)  /* who says nothing of its base for so long has none to give */
#define STALL_NS    (30 * SECOND_NS) /* nor who gives no block for so long ... */
#define REFUSED_NS  (10 * SECOND_NS) /* ... and is not asked again before */
#define SLOW_NS     (5 * SECOND_NS)  /* others, who have nothing to do, are asked too */
#define STUCK_NS    (15 * SECOND_NS) /* nothing is of use for so long: begin anew */
#define GIVING_NS   (10 * SECOND_NS) /* who has given something within this may be asked for more */
#define REST_NS     (20 * SECOND_NS) /* a base just taken over is kept for so long at least, or ... */
#define RESTS       3                /* ... for so many times as long as that took */
#define PROGRESS_NS (10 * SECOND_NS)
#define SPANS_MIN   2 /* asked for at once, of somebody new; who gives gets more to do */

size_t fetch_arena_bytes(const struct node_options *options)
{
    const size_t incarnations = options->incarnations_max;
    return incarnations * (HISTORY_ENTRY_BYTES + sizeof(uint32_t)) +
           block_count(options->parameters, options->block_entries) * sizeof(uint64_t) +
           PENDING_MAX *
               (options->block_entries * sizeof(int32_t) + incarnations * sizeof(uint32_t) + 128) +
           256;
}

void fetch_init(struct node *node, struct arena *arena)
{
    struct transfer *transfer = &node->transfer;
    const uint32_t incarnations = node->options.incarnations_max;
    node->blocks = block_count(node->options.parameters, node->options.block_entries);
    transfer->history = arena_take(arena, incarnations, HISTORY_ENTRY_BYTES);
    transfer->next = arena_take(arena, incarnations, sizeof *transfer->next);
    transfer->from = arena_take(arena, node->blocks, sizeof *transfer->from);
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        transfer->pending[i].units =
            arena_take(arena, node->options.block_entries, sizeof(int32_t));
        transfer->pending[i].version = arena_take(arena, incarnations, sizeof(uint32_t));
    }
}

bool node_is_catching_up(const struct node *node)
{
    return node->transfer.is_fetching;
}

uint32_t node_bases(const struct node *node)
{
    return node->transfer.bases;
}

/* Whom to ask. */

static bool has_refused(const struct node *node, const struct rapport *rapport)
{
    return rapport->refused_ns && node->now_ns - rapport->refused_ns < REFUSED_NS;
}

static bool is_waiting(const struct node *node)
{
    for (uint32_t i = 0; node_neighbour(node, &i); i++)
        if (node->rapports[i].asked_blocks > 0)
            return true;
    return false;
}

/* Perhaps nobody else has the version that we took over: for long there has been nobody to ask for
 * blocks, or what came was of no use. To wait for somebody slow is another thing. */
static bool is_stuck(const struct node *node)
{
    const struct transfer *transfer = &node->transfer;
    if (!transfer->is_fetching || node->now_ns - transfer->moved_ns <= STUCK_NS)
        return false;
    if (transfer->received_ns)
        return node->now_ns - transfer->received_ns > STUCK_NS;
    return !is_waiting(node);
}

/* Among three sides, of which one wins because it has learned more and the others by the order of
 * origins, that may go round in a circle. So who has just taken over a base, or is about to, yields
 * to more learning only, until the sides have become fewer. */
static bool may_yield(const struct node *node, const struct rapport *rapport)
{
    const struct transfer *transfer = &node->transfer;
    return rapport->decisive || (!transfer->is_fetching && node->now_ns >= transfer->rest_ns);
}

/* Whose base is better than ours: who knows much more, or wins. When we are stuck it is anybody's.
 */
static bool is_better(const struct node *node, const struct rapport *rapport)
{
    if (!rapport->compared || has_refused(node, rapport))
        return false;
    if (is_stuck(node) || (node->transfer.is_rolling && !rapport->partitioned))
        return true;
    if (!may_yield(node, rapport))
        return false;
    if (rapport->partitioned)
        return !rapport->peer_yields;
    return rapport->ahead && !rapport->ours_preferred && !node->transfer.is_fetching;
}

/* Who has blocks of the base that we take over: as far as one can tell, all that is in it. */
bool fetch_may_ask(const struct node *node, const struct peer *peer)
{
    const struct rapport *rapport = node_rapport(node, peer);
    return rapport->compared && !rapport->partitioned && peer->knows >= node->transfer.rumors &&
           !has_refused(node, rapport);
}

static struct peer *choose_donor(struct node *node)
{
    struct peer *peer, *chosen = NULL;
    uint32_t donors = 0;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (is_better(node, &node->rapports[i]) && rng_below(&node->rng, ++donors) == 0)
            chosen = peer;
    return chosen;
}

/* Who gives its base does not give it up: if two took over each other's, there would be none. For
 * the same reason who has asked gives nothing, and not both ask all the time. */
static void ask(struct node *node)
{
    const bool gives = node->served_ns && node->now_ns - node->served_ns < GIVING_NS;
    if ((gives && !node->transfer.is_fetching) || (node->joined && rng_below(&node->rng, 2) == 0))
        return;
    struct peer *donor = choose_donor(node);
    if (rumor_log_is_waiting(&node->log))
        return; /* the learner is what we wait for */
    if (!donor || !node_say(node, donor, &(struct message){.kind = TAKE}))
        return;
    struct transfer *transfer = &node->transfer;
    transfer->is_asked = true;
    transfer->donor = donor->conn;
    transfer->asked_ns = node->now_ns;
    transfer->parts = 0;
    transfer->history_entries = 0;
}

/* Fetching. */

void fetch_begin(struct node *node, uint64_t rumors)
{
    struct transfer *transfer = &node->transfer;
    if (!transfer->is_fetching)
        transfer->wrote_ns = node->now_ns;
    transfer->is_fetching = true;
    transfer->is_rolling = false;
    transfer->bases++;
    transfer->rumors = rumors;
    transfer->began_ns = transfer->noted_ns = transfer->moved_ns = node->now_ns;
    transfer->received_ns = 0;
    transfer->cursor = transfer->blocks_written = 0;
    transfer->bytes = 0;
    memset(transfer->from, 0, node->blocks * sizeof *transfer->from);
    pending_clear(node);
}

/* The next blocks that nobody was asked for. */
static struct span next_span(struct transfer *transfer, uint32_t blocks)
{
    const uint32_t most = transfer->is_rolling ? 1 : READ_BLOCKS;
    struct span span = {0};
    while (transfer->cursor < blocks && transfer->from[transfer->cursor] != BLOCK_MISSING)
        transfer->cursor++;
    span.block = transfer->cursor;
    while (span.count < most && span.block + span.count < blocks &&
           transfer->from[span.block + span.count] == BLOCK_MISSING)
        span.count++;
    return span;
}

static void set_from(struct transfer *transfer, struct span span, uint64_t from)
{
    for (uint32_t i = 0; i < span.count; i++)
        transfer->from[span.block + i] = from;
}

/* Its blocks must come from somebody else. */
static void release(struct node *node, uint64_t conn)
{
    for (uint32_t i = 0; i < node->blocks; i++)
        if (node->transfer.from[i] == conn)
            node->transfer.from[i] = BLOCK_MISSING;
    node->transfer.cursor = 0;
}

static void give_up(struct node *node, struct peer *donor)
{
    struct rapport *rapport = node_rapport(node, donor);
    release(node, donor->conn);
    rapport->asked_blocks = rapport->asked_spans = 0;
    rapport->refused_ns = node->now_ns;
}

/* Somebody is free, and nothing is left but what another was asked for and has not given for a
 * while. Whoever is quicker: what comes is taken. */
static void take_from_slow(struct node *node, const struct peer *free_one)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        const struct rapport *rapport = &node->rapports[i];
        if (peer == free_one || rapport->asked_blocks == 0 ||
            node->now_ns - rapport->served_ns < SLOW_NS)
            continue;
        release(node, peer->conn);
        return;
    }
}

/* What is asked for must have a place when it comes. */
static bool has_room_for_span(const struct node *node)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < PENDING_MAX; i++)
        taken += node->transfer.pending[i].entries > 0;
    for (uint32_t i = 0; node_neighbour(node, &i); i++)
        taken += node->rapports[i].asked_blocks;
    return taken + READ_BLOCKS <= PENDING_MAX;
}

static void fetch_from(struct node *node, struct peer *donor)
{
    struct rapport *rapport = node_rapport(node, donor);
    while (rapport->asked_spans < rapport->spans_max && has_room_for_span(node)) {
        const struct span span = next_span(&node->transfer, node->blocks);
        if (span.count == 0) {
            if (rapport->asked_blocks == 0)
                take_from_slow(node, donor);
            return;
        }
        const struct message fetch = {.kind = FETCH, .block = span.block, .count = span.count};
        if (!node_say(node, donor, &fetch))
            return;
        set_from(&node->transfer, span, donor->conn);
        if (rapport->asked_blocks == 0)
            rapport->served_ns = node->now_ns;
        rapport->asked_blocks += span.count;
        rapport->asked[rapport->asked_spans++] = span.count;
    }
}

static void consider_fetching_from(struct node *node, struct peer *peer)
{
    struct rapport *rapport = node_rapport(node, peer);
    if (rapport->asked_blocks > 0 && node->now_ns - rapport->served_ns > STALL_NS)
        give_up(node, peer);
    if (rapport->spans_max == 0)
        rapport->spans_max = SPANS_MIN;
    if (fetch_may_ask(node, peer) &&
        (!node->transfer.is_rolling || peer->conn == node->transfer.from_conn))
        fetch_from(node, peer);
}

/* First from whose version we took over: others may know as many rumors, and not the same ones. */
static void fetch(struct node *node)
{
    struct peer *peer = node_open_peer(node, node->transfer.donor);
    if (peer)
        consider_fetching_from(node, peer);
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        consider_fetching_from(node, peer);
}

void fetch_on_block(struct node *node, struct peer *from, const struct message *block)
{
    struct transfer *transfer = &node->transfer;
    struct rapport *rapport = node_rapport(node, from);
    if (!transfer->is_fetching)
        return;
    transfer->bytes += block->text.count + block->bulk.count;
    if (block->bulk.count == 0) {
        give_up(node, from);
        return;
    }
    rapport->served_ns = node->now_ns;
    if (!transfer->received_ns)
        transfer->received_ns = node->now_ns;
    rapport->asked_blocks -= rapport->asked_blocks > 0;
    if (rapport->asked_spans > 0 && --rapport->asked[0] == 0)
        memmove(rapport->asked, rapport->asked + 1, --rapport->asked_spans * sizeof(uint32_t));
    if (block->block >= node->blocks || transfer->from[block->block] == BLOCK_PENDING ||
        transfer->from[block->block] == BLOCK_WRITTEN)
        return;
    if (rapport->asked_blocks % READ_BLOCKS == 0 && rapport->spans_max < FETCHES_MAX)
        rapport->spans_max++;
    const enum error error = pending_put(node, from, block);
    transfer->from[block->block] = error == OK ? BLOCK_PENDING : BLOCK_MISSING;
    if (error == MALFORMED)
        node_hang_up(node, from, BYE_BROKEN, "sent a block that is not valid");
    if (error == MISMATCH)
        rapport->refused_ns = node->now_ns;
    if (error != OK && block->block < transfer->cursor)
        transfer->cursor = (uint32_t)block->block;
    fetch(node);
}

void fetch_on_lost(struct node *node, uint64_t conn)
{
    if (node->transfer.is_fetching)
        release(node, conn);
    if (node->transfer.is_asked && node->transfer.donor == conn)
        node->transfer.is_asked = false;
}

static void finish(struct node *node)
{
    struct transfer *transfer = &node->transfer;
    const uint64_t took_ns = node->now_ns - transfer->began_ns;
    transfer->is_fetching = false;
    transfer->is_news = true;
    transfer->rest_ns = node->now_ns + (RESTS * took_ns > REST_NS ? RESTS * took_ns : REST_NS);
    node->save_ns = node->now_ns; /* soon */
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_INFO,
                    "holds the base of the swarm: %u blocks, %.3f MB, in %.1f s",
                    (unsigned)node->blocks, (double)transfer->bytes * 1e-6,
                    (double)(node->now_ns - transfer->began_ns) * 1e-9);
    node_join(node, "holds what the swarm knows");
}

bool fetch_next_write(struct node *node, struct action *action)
{
    struct transfer *transfer = &node->transfer;
    if (!transfer->is_fetching)
        return false;
    if (!pending_next_write(node, action))
        return false;
    node->applying += action->entries;
    node->applying_rumors++;
    transfer->moved_ns = transfer->wrote_ns = node->now_ns;
    transfer->received_ns = 0;
    if (++transfer->blocks_written == node->blocks && !transfer->is_rolling)
        finish(node);
    return true;
}

static void note_progress(struct node *node)
{
    struct transfer *transfer = &node->transfer;
    const double seconds = (double)(node->now_ns - transfer->began_ns) * 1e-9;
    const double part = (double)transfer->blocks_written / (double)node->blocks;
    if (node->now_ns - transfer->noted_ns < PROGRESS_NS)
        return;
    transfer->noted_ns = node->now_ns;
    char left[32] = "unknown";
    if (part > 0)
        (void)snprintf(left, sizeof left, "%.0f s", seconds / part - seconds);
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_INFO,
                    "catching up: %u of %u blocks, %.3f MB, %.3f MB/s, time left %s",
                    (unsigned)transfer->blocks_written, (unsigned)node->blocks,
                    (double)transfer->bytes * 1e-6, (double)transfer->bytes * 1e-6 / seconds, left);
}

void fetch_consider(struct node *node)
{
    struct transfer *transfer = &node->transfer;
    if (node->stage != STAGE_RUNNING && !transfer->is_fetching)
        return;
    if (transfer->is_asked && node->now_ns - transfer->asked_ns > ANSWER_NS) {
        struct peer *donor = &node->peers[(uint32_t)transfer->donor];
        if (donor->conn == transfer->donor)
            node_rapport(node, donor)->refused_ns = node->now_ns;
        transfer->is_asked = false;
    }
    if (!transfer->is_asked && (!transfer->is_rolling || transfer->wants_whole))
        ask(node);
    if (transfer->is_fetching) {
        pending_drop_old(node);
        fetch(node);
        if (!transfer->is_rolling)
            note_progress(node);
    }
}
