/* Another version becomes ours: that of the base which is taken over from now on (catchup.c).
 *
 * What becomes of what we learned ourselves?
 *   joining    nothing was learned
 *   lagging    what was told is in our log and stays in our base; the residual stays
 *   apart      weights stay, and all of it is residual again: it is told once more, at our share,
 *              under a new incarnation, since the old one's last rumors are in nobody's base now
 */
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "node/inside.h"

#define TOLD_MAX (1u << 28) /* by one life: no more is believed */

static struct origin *origin_of(struct node *node, const struct history_entry *told)
{
    struct origin *origin = versions_find(&node->versions, origin_tag(told->id, told->incarnation));
    return origin ? origin : versions_add(&node->versions, told->id, told->incarnation);
}

/* Nothing is kept of a history that there is no room for, or that says more than there can be. */
static bool has_room_for(const struct node *node)
{
    const struct transfer *transfer = &node->transfer;
    uint32_t origins = node->versions.count;
    for (uint32_t i = 0; i < transfer->history_entries; i++) {
        const struct history_entry told =
            history_entry_at(transfer->history + (size_t)i * HISTORY_ENTRY_BYTES);
        origins += !versions_find(&node->versions, origin_tag(told.id, told.incarnation));
        if (told.next > TOLD_MAX)
            return false;
    }
    return origins <= node->versions.max;
}

/* How many rumors of each origin the history has, into next[]. */
static bool read_history(struct node *node, uint32_t *next)
{
    const struct transfer *transfer = &node->transfer;
    if (!has_room_for(node))
        return false;
    memset(next, 0, node->versions.max * sizeof *next);
    for (uint32_t i = 0; i < transfer->history_entries; i++) {
        const struct history_entry told =
            history_entry_at(transfer->history + (size_t)i * HISTORY_ENTRY_BYTES);
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
            if (!rumor_log_find(&node->log, place, seq, &bytes))
                return false;
    }
    return true;
}

/* Two may each know a little that is in no log any more. Then what one of them knows is lost, and
 * for all who are in that case it must be the same. */
static bool would_lose_more(const struct node *node, const uint32_t *next)
{
    const struct transfer *transfer = &node->transfer;
    const struct versions *versions = &node->versions;
    struct contest contest = CONTEST;
    for (uint32_t i = 0; i < transfer->history_entries; i++) {
        const struct history_entry told =
            history_entry_at(transfer->history + (size_t)i * HISTORY_ENTRY_BYTES);
        const uint64_t tag = origin_tag(told.id, told.incarnation);
        partition_count(&contest, tag, versions_find(versions, tag)->samples, told.samples);
    }
    bool loses = false;
    for (uint32_t place = 0; place < versions->count; place++) {
        const struct origin *origin = &versions->origins[place];
        loses |= origin->next > next[place];
        if (next[place] == 0)
            partition_count(&contest, origin->tag, origin->samples, 0);
    }
    const bool is_open = contest.first_tag == UINT64_MAX; /* told, but not learned */
    return loses &&
           (is_open ? versions->digest > transfer->digest : partition_ours_preferred(&contest));
}

static uint64_t digest_of_logged(struct node *node, uint32_t place, uint32_t seq)
{
    uint32_t bytes;
    const uint8_t *rumor = rumor_log_find(&node->log, place, seq, &bytes);
    return digest_of_update(broadcast_logged(node, rumor, bytes));
}

/* A life of its own for what is told from now on. */
static bool begin_incarnation(struct node *node)
{
    if (node->options.incarnation + 1 == node->first_incarnation + NODE_INCARNATIONS)
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
        origin->missing = false;
        origin->behind_ns = 0;
        origin->asked_ns = origin->changed_ns = 0;
    }
    node->missing = node->behind = 0;
}

/* Who told later: as the history says, and then whoever is not in it. */
static void set_order(struct node *node)
{
    struct versions *versions = &node->versions;
    uint32_t others = versions->count;
    memset(node->seen, 0, bit_words(versions->count) * sizeof *node->seen);
    for (uint32_t i = 0; i < node->transfer.history_entries; i++) {
        const struct history_entry told =
            history_entry_at(node->transfer.history + (size_t)i * HISTORY_ENTRY_BYTES);
        struct origin *origin = origin_of(node, &told);
        others -= !bit_get(node->seen, versions_place(versions, origin));
        bit_set(node->seen, versions_place(versions, origin), true);
        versions_touch(versions, origin);
    }
    for (; others > 0; others--)
        versions_touch(versions, versions_newer(versions, NULL));
}

/* Our version becomes that of the history, and of what we keep beyond it. */
static void set_version(struct node *node, const uint32_t *next, bool keep_ours)
{
    struct versions *versions = &node->versions;
    versions->digest = node->transfer.digest;
    for (uint32_t place = 0; place < versions->count; place++) {
        struct origin *origin = &versions->origins[place];
        if (keep_ours && origin->next >= next[place]) {
            for (uint32_t seq = next[place]; seq < origin->next; seq++)
                versions->digest = digest_add(versions->digest, digest_of_logged(node, place, seq));
            if (origin->applied < next[place])
                origin->applied = next[place];
            continue;
        }
        versions_set(versions, origin, next[place], 0); /* samples follow */
    }
    for (uint32_t i = 0; i < node->transfer.history_entries; i++) {
        const struct history_entry told =
            history_entry_at(node->transfer.history + (size_t)i * HISTORY_ENTRY_BYTES);
        struct origin *origin = origin_of(node, &told);
        if (origin->next == told.next)
            origin->samples = told.samples;
        if (origin->applied == told.next)
            origin->applied_samples = told.samples;
    }
    node->advanced_ns = node->now_ns;
    set_order(node);
    forget_gaps(node);
}

static void note_beginning(struct node *node, struct peer *donor)
{
    char text[192];
    (void)snprintf(text, sizeof text,
                   "%s: taking over the base of the swarm, %u blocks, beginning here",
                   node->transfer.keep_weights
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
        rapport->ahead = rapport->partitioned = false;
        rapport->compared = peer == donor;
        if (peer != donor)
            (void)node_say(node, peer, &(struct message){.kind = WANT, .tag = TAG_ALL});
    }
}

enum takeover { TAKEOVER_DONE, TAKEOVER_NOT /* ours is to be kept */, TAKEOVER_NO_ROOM };

static enum takeover adopt(struct node *node, struct peer *donor)
{
    struct transfer *transfer = &node->transfer;
    struct rapport *rapport = node_rapport(node, donor);
    uint32_t *next = transfer->next;
    if (!read_history(node, next))
        return TAKEOVER_NO_ROOM;
    uint64_t rumors = 0;
    for (uint32_t place = 0; place < node->versions.count; place++)
        rumors += next[place];
    const uint32_t own_place = versions_place(&node->versions, node->own);
    const bool keep_ours = !rapport->partitioned && can_keep_ours(node, next);
    if (!rapport->partitioned && !keep_ours && !transfer->is_fetching &&
        would_lose_more(node, next))
        return TAKEOVER_NOT;
    const bool is_published_lost = !keep_ours && next[own_place] < node->own->next;
    if (is_published_lost && !begin_incarnation(node))
        return TAKEOVER_NO_ROOM;
    transfer->keep_weights = is_published_lost || (rapport->partitioned && node->training_asked) ||
                             (transfer->is_fetching && transfer->keep_weights);
    if (!keep_ours)
        rumor_log_clear(&node->log);
    set_version(node, next, keep_ours);
    donor->knows = rumors;
    fetch_begin(node, rumors);
    ask_anew(node, donor);
    broadcast_lean_on(node, donor);
    note_beginning(node, donor);
    return TAKEOVER_DONE;
}

static void note_no_room(struct node *node, const struct peer *donor)
{
    if (notes_allow(&node->notes, node->now_ns))
        (void)node_note(
            node, donor, NOTE_FULL, LEVEL_WARNING,
            "its base cannot be taken over: of more lives than limits.incarnations, which is to be "
            "raised, or more rumors than there can be");
}

/* True when our version has become another. */
bool takeover_on_history(struct node *node, struct peer *from, const struct message *history)
{
    struct transfer *transfer = &node->transfer;
    if (!transfer->is_asked || transfer->donor != from->conn ||
        (node->stage != STAGE_RUNNING && !transfer->is_fetching))
        return false;
    const size_t entries = history->bulk.count / HISTORY_ENTRY_BYTES;
    const bool fits = transfer->history_entries + entries <= node->versions.max;
    if (history->parts == 0 || history->part != transfer->parts || !fits ||
        history->bulk.count % HISTORY_ENTRY_BYTES != 0) {
        node_rapport(node, from)->refused_ns = node->now_ns;
        transfer->is_asked = false;
        if (!fits)
            note_no_room(node, from);
        return false;
    }
    memcpy(transfer->history + transfer->history_entries * (size_t)HISTORY_ENTRY_BYTES,
           history->bulk.at, history->bulk.count);
    transfer->history_entries += (uint32_t)entries;
    transfer->digest = history->digest;
    transfer->asked_ns = node->now_ns; /* what comes over a thin line takes its time */
    if (++transfer->parts < history->parts)
        return false;
    transfer->is_asked = false;
    const enum takeover adopted = adopt(node, from);
    if (adopted == TAKEOVER_DONE)
        return true;
    node_rapport(node, from)->refused_ns = node->now_ns;
    if (adopted == TAKEOVER_NO_ROOM)
        note_no_room(node, from);
    return false;
}
