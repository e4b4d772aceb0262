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

size_t catchup_arena_bytes(const struct node_options *options)
{
    const size_t lives = options->lives_max;
    return lives * (HISTORY_ENTRY_BYTES + sizeof(uint32_t)) +
           block_count(options->parameters, options->block_entries) * sizeof(uint64_t) +
           HELD_MAX * (options->block_entries * sizeof(int32_t) + lives * sizeof(uint32_t) + 128) +
           256;
}

void catchup_init(struct node *node, struct arena *arena)
{
    struct catchup *catchup = &node->catchup;
    const uint32_t lives = node->options.lives_max;
    node->blocks = block_count(node->options.parameters, node->options.block_entries);
    catchup->history = arena_take(arena, lives, HISTORY_ENTRY_BYTES);
    catchup->next = arena_take(arena, lives, sizeof *catchup->next);
    catchup->from = arena_take(arena, node->blocks, sizeof *catchup->from);
    for (uint32_t i = 0; i < HELD_MAX; i++) {
        catchup->held[i].units = arena_take(arena, node->options.block_entries, sizeof(int32_t));
        catchup->held[i].version = arena_take(arena, lives, sizeof(uint32_t));
    }
}

bool node_is_catching_up(const struct node *node)
{
    return node->catchup.is_fetching;
}

uint32_t node_bases(const struct node *node)
{
    return node->catchup.bases;
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
    const struct catchup *catchup = &node->catchup;
    if (!catchup->is_fetching || node->now_ns - catchup->moved_ns <= STUCK_NS)
        return false;
    if (catchup->came_ns)
        return node->now_ns - catchup->came_ns > STUCK_NS;
    return !is_waiting(node);
}

/* Among three sides, of which one wins because it has learned more and the others by the order of
 * origins, that may go round in a circle. So who has just taken over a base, or is about to, yields
 * to more learning only, until the sides have become fewer. */
static bool may_yield(const struct node *node, const struct rapport *rapport)
{
    const struct catchup *catchup = &node->catchup;
    return rapport->clearly || (!catchup->is_fetching && node->now_ns >= catchup->rest_ns);
}

/* Whose base is better than ours: who knows much more, or wins. When we are stuck it is anybody's.
 */
static bool is_better(const struct node *node, const struct rapport *rapport)
{
    if (!rapport->compared || has_refused(node, rapport))
        return false;
    if (is_stuck(node) || (node->catchup.is_patching && !rapport->apart))
        return true;
    if (!may_yield(node, rapport))
        return false;
    if (rapport->apart)
        return !rapport->yields;
    return rapport->ahead && !rapport->wins && !node->catchup.is_fetching;
}

/* Who has blocks of the base that we take over: as far as one can tell, all that is in it. */
bool catchup_may_ask(const struct node *node, const struct peer *peer)
{
    const struct rapport *rapport = node_rapport(node, peer);
    return rapport->compared && !rapport->apart && peer->knows >= node->catchup.rumors &&
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
    const bool gives = node->gave_ns && node->now_ns - node->gave_ns < GIVING_NS;
    if ((gives && !node->catchup.is_fetching) || (node->joined && rng_below(&node->rng, 2) == 0))
        return;
    struct peer *donor = choose_donor(node);
    if (log_is_waiting(&node->log))
        return; /* the learner is what we wait for */
    if (!donor || !node_say(node, donor, &(struct message){.kind = TAKE}))
        return;
    struct catchup *catchup = &node->catchup;
    catchup->is_asked = true;
    catchup->donor = donor->conn;
    catchup->asked_ns = node->now_ns;
    catchup->parts = 0;
    catchup->history_entries = 0;
}

/* Fetching. */

void catchup_begin(struct node *node, uint64_t rumors)
{
    struct catchup *catchup = &node->catchup;
    if (!catchup->is_fetching)
        catchup->wrote_ns = node->now_ns;
    catchup->is_fetching = true;
    catchup->is_patching = false;
    catchup->bases++;
    catchup->rumors = rumors;
    catchup->began_ns = catchup->noted_ns = catchup->moved_ns = node->now_ns;
    catchup->came_ns = 0;
    catchup->cursor = catchup->blocks_written = 0;
    catchup->bytes = 0;
    memset(catchup->from, 0, node->blocks * sizeof *catchup->from);
    held_clear(node);
}

/* The next blocks that nobody was asked for. */
static struct span next_span(struct catchup *catchup, uint32_t blocks)
{
    const uint32_t most = catchup->is_patching ? 1 : READ_BLOCKS;
    struct span span = {0};
    while (catchup->cursor < blocks && catchup->from[catchup->cursor] != BLOCK_MISSING)
        catchup->cursor++;
    span.block = catchup->cursor;
    while (span.count < most && span.block + span.count < blocks &&
           catchup->from[span.block + span.count] == BLOCK_MISSING)
        span.count++;
    return span;
}

static void set_from(struct catchup *catchup, struct span span, uint64_t from)
{
    for (uint32_t i = 0; i < span.count; i++)
        catchup->from[span.block + i] = from;
}

/* Its blocks must come from somebody else. */
static void release(struct node *node, uint64_t conn)
{
    for (uint32_t i = 0; i < node->blocks; i++)
        if (node->catchup.from[i] == conn)
            node->catchup.from[i] = BLOCK_MISSING;
    node->catchup.cursor = 0;
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
            node->now_ns - rapport->gave_ns < SLOW_NS)
            continue;
        release(node, peer->conn);
        return;
    }
}

/* What is asked for must have a place when it comes. */
static bool has_room_for_span(const struct node *node)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < HELD_MAX; i++)
        taken += node->catchup.held[i].entries > 0;
    for (uint32_t i = 0; node_neighbour(node, &i); i++)
        taken += node->rapports[i].asked_blocks;
    return taken + READ_BLOCKS <= HELD_MAX;
}

static void fetch_from(struct node *node, struct peer *donor)
{
    struct rapport *rapport = node_rapport(node, donor);
    while (rapport->asked_spans < rapport->spans_max && has_room_for_span(node)) {
        const struct span span = next_span(&node->catchup, node->blocks);
        if (span.count == 0) {
            if (rapport->asked_blocks == 0)
                take_from_slow(node, donor);
            return;
        }
        const struct message fetch = {.kind = FETCH, .block = span.block, .count = span.count};
        if (!node_say(node, donor, &fetch))
            return;
        set_from(&node->catchup, span, donor->conn);
        if (rapport->asked_blocks == 0)
            rapport->gave_ns = node->now_ns;
        rapport->asked_blocks += span.count;
        rapport->asked[rapport->asked_spans++] = span.count;
    }
}

static void consider_fetching_from(struct node *node, struct peer *peer)
{
    struct rapport *rapport = node_rapport(node, peer);
    if (rapport->asked_blocks > 0 && node->now_ns - rapport->gave_ns > STALL_NS)
        give_up(node, peer);
    if (rapport->spans_max == 0)
        rapport->spans_max = SPANS_MIN;
    if (catchup_may_ask(node, peer) &&
        (!node->catchup.is_patching || peer->conn == node->catchup.from_conn))
        fetch_from(node, peer);
}

/* First from whose version we took over: others may know as many rumors, and not the same ones. */
static void fetch(struct node *node)
{
    struct peer *peer = node_open_peer(node, node->catchup.donor);
    if (peer)
        consider_fetching_from(node, peer);
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        consider_fetching_from(node, peer);
}

void catchup_on_block(struct node *node, struct peer *from, const struct message *block)
{
    struct catchup *catchup = &node->catchup;
    struct rapport *rapport = node_rapport(node, from);
    if (!catchup->is_fetching)
        return;
    catchup->bytes += block->text.count + block->bulk.count;
    if (block->bulk.count == 0) {
        give_up(node, from);
        return;
    }
    rapport->gave_ns = node->now_ns;
    if (!catchup->came_ns)
        catchup->came_ns = node->now_ns;
    rapport->asked_blocks -= rapport->asked_blocks > 0;
    if (rapport->asked_spans > 0 && --rapport->asked[0] == 0)
        memmove(rapport->asked, rapport->asked + 1, --rapport->asked_spans * sizeof(uint32_t));
    if (block->block >= node->blocks || catchup->from[block->block] == BLOCK_HELD ||
        catchup->from[block->block] == BLOCK_WRITTEN)
        return;
    if (rapport->asked_blocks % READ_BLOCKS == 0 && rapport->spans_max < FETCHES_MAX)
        rapport->spans_max++;
    const enum status status = held_put(node, from, block);
    catchup->from[block->block] = status == OK ? BLOCK_HELD : BLOCK_MISSING;
    if (status == MALFORMED)
        node_hang_up(node, from, BYE_BROKEN, "sent a block that is not valid");
    if (status == MISMATCH)
        rapport->refused_ns = node->now_ns;
    if (status != OK && block->block < catchup->cursor)
        catchup->cursor = (uint32_t)block->block;
    fetch(node);
}

void catchup_on_lost(struct node *node, uint64_t conn)
{
    if (node->catchup.is_fetching)
        release(node, conn);
    if (node->catchup.is_asked && node->catchup.donor == conn)
        node->catchup.is_asked = false;
}

static void finish(struct node *node)
{
    struct catchup *catchup = &node->catchup;
    const uint64_t took_ns = node->now_ns - catchup->began_ns;
    catchup->is_fetching = false;
    catchup->is_news = true;
    catchup->rest_ns = node->now_ns + (RESTS * took_ns > REST_NS ? RESTS * took_ns : REST_NS);
    node->save_ns = node->now_ns; /* soon */
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_INFO,
                    "holds the base of the swarm: %u blocks, %.3f MB, in %.1f s",
                    (unsigned)node->blocks, (double)catchup->bytes * 1e-6,
                    (double)(node->now_ns - catchup->began_ns) * 1e-9);
    node_join(node, "holds what the swarm knows");
}

bool catchup_next_write(struct node *node, struct action *action)
{
    struct catchup *catchup = &node->catchup;
    if (!catchup->is_fetching)
        return false;
    if (!held_next_write(node, action))
        return false;
    node->applying += action->entries;
    node->applying_rumors++;
    catchup->moved_ns = catchup->wrote_ns = node->now_ns;
    catchup->came_ns = 0;
    if (++catchup->blocks_written == node->blocks && !catchup->is_patching)
        finish(node);
    return true;
}

static void note_progress(struct node *node)
{
    struct catchup *catchup = &node->catchup;
    const double seconds = (double)(node->now_ns - catchup->began_ns) * 1e-9;
    const double part = (double)catchup->blocks_written / (double)node->blocks;
    if (node->now_ns - catchup->noted_ns < PROGRESS_NS)
        return;
    catchup->noted_ns = node->now_ns;
    char left[32] = "unknown";
    if (part > 0)
        (void)snprintf(left, sizeof left, "%.0f s", seconds / part - seconds);
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_INFO,
                    "catching up: %u of %u blocks, %.3f MB, %.3f MB/s, time left %s",
                    (unsigned)catchup->blocks_written, (unsigned)node->blocks,
                    (double)catchup->bytes * 1e-6, (double)catchup->bytes * 1e-6 / seconds, left);
}

void catchup_consider(struct node *node)
{
    struct catchup *catchup = &node->catchup;
    if (node->stage != STAGE_RUNNING && !catchup->is_fetching)
        return;
    if (catchup->is_asked && node->now_ns - catchup->asked_ns > ANSWER_NS) {
        struct peer *donor = &node->peers[(uint32_t)catchup->donor];
        if (donor->conn == catchup->donor)
            node_rapport(node, donor)->refused_ns = node->now_ns;
        catchup->is_asked = false;
    }
    if (!catchup->is_asked && (!catchup->is_patching || catchup->wants_whole))
        ask(node);
    if (catchup->is_fetching) {
        held_drop_old(node);
        fetch(node);
        if (!catchup->is_patching)
            note_progress(node);
    }
}
