/* Taking over a base: for who lacks more than rumors will bring, or was apart for long.
 *
 *   too much is missing, or another base wins ──► TAKE to one neighbour
 *   HISTORY ──► our version is that of the base to be ──► FETCH to all who have it
 *   BLOCK by BLOCK (held.c) ──► all are here
 *
 * From the moment of HISTORY on, rumors are heard as by any other node: they go into the log, to
 * the neighbours and to the learner. Where a block is still missing that is of no use; the block,
 * when it comes, is made as new as the base is then. So blocks may come from anybody who is not
 * behind our version, in any order, any donor may go at any time, and what is there stays.
 *
 * What becomes of what we learned ourselves?
 *   joining    nothing was learned
 *   lagging    what was told is in our log and stays in our base; the residual stays
 *   apart      weights stay, and all of it is residual again: it is told once more, at our share,
 *              under a new incarnation, since the old one's last rumors are in nobody's base now
 */
#include <stdio.h>
#include <string.h>

#include "digest.h"
#include "inside.h"

#define ANSWER_NS   (5 * SECOND_NS)  /* who says nothing of its base for so long has none to give */
#define STALL_NS    (30 * SECOND_NS) /* nor who gives no block for so long ... */
#define REFUSED_NS  (10 * SECOND_NS) /* ... and is not asked again before */
#define SLOW_NS     (5 * SECOND_NS)  /* others, who have nothing to do, are asked too */
#define STUCK_NS    (15 * SECOND_NS) /* no block was of use for so long: begin anew */
#define GIVING_NS   (10 * SECOND_NS) /* who has given something within this may be asked for more */
#define PROGRESS_NS (10 * SECOND_NS)
#define SPANS_MIN   2          /* asked for at once, of somebody new; who gives gets more to do */
#define TOLD_MAX    (1u << 28) /* by one life: to believe more would take too long */

static uint32_t origins_max(const struct node_options *options)
{
    return LIVES_PER_MEMBER * options->members_max;
}

size_t catchup_arena_bytes(const struct node_options *options)
{
    const size_t origins = origins_max(options);
    return origins * (HISTORY_ENTRY_BYTES + sizeof(uint32_t)) +
           block_count(options->parameters, options->block_entries) * sizeof(uint64_t) +
           HELD_MAX *
               (options->block_entries * sizeof(int32_t) + origins * sizeof(uint32_t) + 128) +
           256;
}

void catchup_init(struct node *node, struct arena *arena)
{
    struct catchup *catchup = &node->catchup;
    const uint32_t origins = origins_max(&node->options);
    node->blocks = block_count(node->options.parameters, node->options.block_entries);
    catchup->history = arena_take(arena, origins, HISTORY_ENTRY_BYTES);
    catchup->next = arena_take(arena, origins, sizeof *catchup->next);
    catchup->from = arena_take(arena, node->blocks, sizeof *catchup->from);
    for (uint32_t i = 0; i < HELD_MAX; i++) {
        catchup->held[i].units = arena_take(arena, node->options.block_entries, sizeof(int32_t));
        catchup->held[i].version = arena_take(arena, origins, sizeof(uint32_t));
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

/* Whose base is better than ours: who knows much more, or wins. While we have none it is anybody's,
 * when what we fetch no longer moves: perhaps nobody else has the version that we took over. */
static bool is_better(const struct node *node, const struct rapport *rapport)
{
    if (!rapport->compared || has_refused(node, rapport))
        return false;
    if (node->catchup.is_fetching && node->now_ns - node->catchup.moved_ns > STUCK_NS)
        return true;
    if (rapport->apart)
        return !rapport->yields;
    return rapport->ahead && !rapport->lesser && !node->catchup.is_fetching;
}

/* Who has blocks of the base that we take over: as far as one can tell, all that is in it. */
static bool has_blocks(const struct node *node, const struct peer *peer)
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

/* Taking over the version. */

static struct origin *origin_of(struct node *node, const struct history_entry *told)
{
    struct origin *origin = versions_find(&node->versions, origin_tag(told->id, told->incarnation));
    return origin ? origin : versions_add(&node->versions, told->id, told->incarnation);
}

/* Nothing is kept of a history that there is no room for, or that says more than there can be. */
static bool has_room_for(const struct node *node)
{
    const struct catchup *catchup = &node->catchup;
    uint32_t origins = node->versions.count;
    for (uint32_t i = 0; i < catchup->history_entries; i++) {
        const struct history_entry told =
            history_entry_at(catchup->history + (size_t)i * HISTORY_ENTRY_BYTES);
        origins += !versions_find(&node->versions, origin_tag(told.id, told.incarnation));
        if (told.next > TOLD_MAX)
            return false;
    }
    return origins <= node->versions.max;
}

/* How many rumors of each origin the history has, into next[]. */
static bool read_history(struct node *node, uint32_t *next)
{
    const struct catchup *catchup = &node->catchup;
    if (!has_room_for(node))
        return false;
    memset(next, 0, node->versions.max * sizeof *next);
    for (uint32_t i = 0; i < catchup->history_entries; i++) {
        const struct history_entry told =
            history_entry_at(catchup->history + (size_t)i * HISTORY_ENTRY_BYTES);
        next[versions_place(&node->versions, origin_of(node, &told))] = told.next;
    }
    return true;
}

/* Is all that we know beyond the history in our log? Then its digest is known too. */
static bool can_keep_ours(const struct node *node, const uint32_t *next)
{
    for (uint32_t place = 0; place < node->versions.count; place++) {
        uint32_t bytes;
        for (uint32_t seq = next[place]; seq < node->versions.origins[place].next; seq++)
            if (!log_find(&node->log, place, seq, &bytes))
                return false;
    }
    return true;
}

/* Two may each know a little that is in no log any more. Then what one of them knows is lost, and
 * for all who are in that case it must be the same: who has learned more in all keeps its base. */
static bool would_lose_more(const struct node *node, const uint32_t *next)
{
    const struct catchup *catchup = &node->catchup;
    uint64_t theirs = 0;
    for (uint32_t i = 0; i < catchup->history_entries; i++)
        theirs += history_entry_at(catchup->history + (size_t)i * HISTORY_ENTRY_BYTES).samples;
    bool loses = false;
    for (uint32_t place = 0; place < node->versions.count; place++)
        loses |= node->versions.origins[place].next > next[place];
    const uint64_t ours = node_swarm_samples(node);
    return loses && (ours > theirs || (ours == theirs && node->versions.digest > catchup->digest));
}

static uint64_t digest_of_logged(struct node *node, uint32_t place, uint32_t seq)
{
    uint32_t bytes;
    const uint8_t *rumor = log_find(&node->log, place, seq, &bytes);
    CHECK(rumor_decode(rumor, bytes, node->context, node->options.parameters, RUMOR_ENTRIES_MAX,
                       &node->decoded) == OK);
    node->decoded_at = 0;
    return spread_digest_of(&node->decoded);
}

/* A life of its own for what is told from now on. */
static bool begin_life(struct node *node)
{
    if (node->options.incarnation + 1 == node->first_incarnation + NODE_LIVES)
        return false;
    struct origin *own =
        versions_add(&node->versions, node->own->id, node->options.incarnation + 1);
    if (!own)
        return false;
    node->options.incarnation++;
    node->own = own;
    node->remembers = true;
    return true;
}

static void forget_gaps(struct node *node)
{
    for (uint32_t place = 0; place < node->versions.count; place++) {
        struct origin *origin = &node->versions.origins[place];
        origin->lacking = false;
        origin->behind_ns = 0;
    }
    node->lacking = node->behind = 0;
}

/* Our version becomes that of the history, and of what we keep beyond it. */
static void set_version(struct node *node, const uint32_t *next, bool keep_ours)
{
    struct versions *versions = &node->versions;
    versions->digest = node->catchup.digest;
    for (uint32_t place = 0; place < versions->count; place++) {
        struct origin *origin = &versions->origins[place];
        if (keep_ours && origin->next >= next[place]) {
            for (uint32_t seq = next[place]; seq < origin->next; seq++)
                versions->digest = digest_add(versions->digest, digest_of_logged(node, place, seq));
            if (origin->handed < next[place])
                origin->handed = next[place];
            continue;
        }
        versions_set(versions, origin, next[place], 0); /* samples follow */
    }
    for (uint32_t i = 0; i < node->catchup.history_entries; i++) {
        const struct history_entry told =
            history_entry_at(node->catchup.history + (size_t)i * HISTORY_ENTRY_BYTES);
        struct origin *origin = origin_of(node, &told);
        if (origin->next == told.next)
            origin->samples = told.samples;
        if (origin->handed == told.next)
            origin->handed_samples = told.samples;
    }
    node->advanced_ns = node->now_ns;
    forget_gaps(node);
}

static void note_beginning(struct node *node, struct peer *donor)
{
    char text[192];
    (void)snprintf(text, sizeof text,
                   "%s: taking over the base of the swarm, %u blocks, beginning here",
                   node->catchup.keep_weights
                       ? "it and we have learned apart for long, and its base wins; what was "
                         "learned here will be told again"
                       : "far behind",
                   (unsigned)node->blocks);
    (void)node_note(node, donor, NOTE_CATCHING_UP, LEVEL_INFO, text);
}

/* What neighbours have shown was to be compared with another version. */
static void ask_anew(struct node *node, const struct peer *donor)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        struct rapport *rapport = &node->rapports[i];
        rapport->ahead = rapport->apart = false;
        rapport->compared = peer == donor;
        if (peer != donor)
            (void)node_say(node, peer, &(struct message){.kind = WANT, .tag = TAG_ALL});
    }
}

enum adopt { ADOPT_DONE, ADOPT_NOT /* ours is to be kept */, ADOPT_NO_ROOM };

static enum adopt adopt(struct node *node, struct peer *donor)
{
    struct catchup *catchup = &node->catchup;
    struct rapport *rapport = node_rapport(node, donor);
    uint32_t *next = catchup->next;
    if (!read_history(node, next))
        return ADOPT_NO_ROOM;
    uint64_t rumors = 0;
    for (uint32_t place = 0; place < node->versions.count; place++)
        rumors += next[place];
    const uint32_t own_place = versions_place(&node->versions, node->own);
    const bool keep_ours = !rapport->apart && can_keep_ours(node, next);
    if (!rapport->apart && !keep_ours && !catchup->is_fetching && would_lose_more(node, next))
        return ADOPT_NOT;
    const bool is_told_lost = !keep_ours && next[own_place] < node->own->next;
    if (is_told_lost && !begin_life(node))
        return ADOPT_NO_ROOM;
    catchup->keep_weights = is_told_lost || (rapport->apart && node->training_asked) ||
                            (catchup->is_fetching && catchup->keep_weights);
    if (!keep_ours)
        log_clear(&node->log);
    set_version(node, next, keep_ours);
    catchup->wrote_ns = catchup->is_fetching ? catchup->wrote_ns : node->now_ns;
    catchup->is_fetching = true;
    catchup->bases++;
    catchup->began_ns = catchup->noted_ns = catchup->moved_ns = node->now_ns;
    catchup->cursor = catchup->blocks_written = 0;
    catchup->bytes = 0;
    memset(catchup->from, 0, node->blocks * sizeof *catchup->from);
    held_clear(node);
    catchup->rumors = donor->knows = rumors;
    ask_anew(node, donor);
    note_beginning(node, donor);
    return ADOPT_DONE;
}

/* True when our version has become another. */
bool catchup_on_history(struct node *node, struct peer *from, const struct message *history)
{
    struct catchup *catchup = &node->catchup;
    if (!catchup->is_asked || catchup->donor != from->conn ||
        (node->stage != STAGE_RUNNING && !catchup->is_fetching))
        return false;
    const size_t entries = history->bulk.count / HISTORY_ENTRY_BYTES;
    const bool fits = catchup->history_entries + entries <= node->versions.max;
    if (history->parts == 0 || history->part != catchup->parts || !fits ||
        history->bulk.count % HISTORY_ENTRY_BYTES != 0) {
        node_rapport(node, from)->refused_ns = node->now_ns;
        catchup->is_asked = false;
        return false;
    }
    memcpy(catchup->history + catchup->history_entries * (size_t)HISTORY_ENTRY_BYTES,
           history->bulk.at, history->bulk.count);
    catchup->history_entries += (uint32_t)entries;
    catchup->digest = history->digest;
    if (++catchup->parts < history->parts)
        return false;
    catchup->is_asked = false;
    const enum adopt adopted = adopt(node, from);
    if (adopted == ADOPT_DONE)
        return true;
    node_rapport(node, from)->refused_ns = node->now_ns;
    if (adopted == ADOPT_NO_ROOM && notes_allow(&node->notes, node->now_ns))
        (void)node_note(
            node, from, NOTE_FULL, LEVEL_WARNING,
            "its base cannot be taken over: too many origins (raise limits.members), or "
            "more rumors than there can be");
    return false;
}

/* Fetching. */

/* The next blocks that nobody was asked for. */
static struct span next_span(struct catchup *catchup, uint32_t blocks)
{
    struct span span = {0};
    while (catchup->cursor < blocks && catchup->from[catchup->cursor] != BLOCK_MISSING)
        catchup->cursor++;
    span.block = catchup->cursor;
    while (span.count < READ_BLOCKS && span.block + span.count < blocks &&
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

static void fetch(struct node *node)
{
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        struct rapport *rapport = &node->rapports[i];
        if (rapport->asked_blocks > 0 && node->now_ns - rapport->gave_ns > STALL_NS)
            give_up(node, peer);
        if (rapport->spans_max == 0)
            rapport->spans_max = SPANS_MIN;
        if (has_blocks(node, peer))
            fetch_from(node, peer);
    }
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
    catchup->is_fetching = false;
    catchup->is_news = true;
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
    if (++catchup->blocks_written == node->blocks)
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
    if (!catchup->is_asked)
        ask(node);
    if (catchup->is_fetching) {
        held_drop_old(node);
        fetch(node);
        note_progress(node);
    }
}
