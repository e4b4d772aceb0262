/* Takeover: replaces our version by the version of the base being fetched (fetch.c).
 *
 * What happens to this node's earlier progress while it is:
 *   joining      the residual of its checkpoint, if any, stays
 *   lagging      the rumors that the base lacks are in the log and are added to it; the residual
 *                stays. If the log lacks some of these rumors and this node published some of them:
 *                as for partitioned
 *   partitioned  the weights stay, and the difference becomes residual. It is published again, at
 *                our share and under a new incarnation, since no base contains the last rumors
 *                of the old incarnation
 */
#include <stdio.h>
#include <string.h>

#include "node/broadcast/equivocation.h"
#include "node/broadcast/identity_clash.h"
#include "node/broadcast/replace_version.h"
#include "node/broadcast/retract.h"
#include "node/transfer/partition_private.h"
#include "node/transfer/transfer_private.h"

/* Rumors that spread reach a node within this time. So a node that then still lacks rumors of an
 * earlier history lags. */
#define LAG_NS (5 * SECOND_NS)
/* An earlier history counts for this time. */
#define EARLIER_NS (60 * SECOND_NS)

/* Compares our version with the requested history, whose heads their members have signed. Returns
 * true if the history lacks some of our rumors. */
static bool compare(const struct node *node, const uint32_t *next, struct contest *contest)
{
    const struct history_request *request = &node->transfer->request;
    const struct versions *versions = broadcast_versions(node);
    *contest = partition_contest(node);
    for (uint32_t i = 0; i < request->entries; i++) {
        const struct history_entry entry =
            history_entry_at(request->history + (size_t)i * HISTORY_ENTRY_BYTES);
        const uint64_t tag = origin_tag(entry.id, entry.incarnation);
        const struct origin *origin = versions_find(versions, tag);
        CHECK(origin); /* replace_version_read has added all origins of the history */
        partition_count(contest, origin, tag, entry.samples);
    }
    bool loses = false;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        loses |= origin->next > next[origin_index];
        if (next[origin_index] == 0)
            partition_count(contest, origin, origin->tag, 0);
    }
    return loses;
}

/* Returns true if this node's side wins (partition.c) and a takeover would lose some of its rumors.
 * Two nodes may each know a few rumors that no log has any more. Then the rumors of one node are
 * lost, and both nodes must decide for the same side. */
static bool would_lose_more(const struct node *node, const uint32_t *next)
{
    struct contest contest;
    const bool loses = compare(node, next, &contest);
    /* If no origin decides, the two sides differ only where no samples were reported. */
    const bool is_open = contest.first_tag == UINT64_MAX;
    return loses && (is_open ? broadcast_versions(node)->digest > node->transfer->request.digest
                             : partition_ours_preferred(&contest));
}

/* Returns true if most members have published at least `least` rumors that this node lacks and the
 * requested history contains. If `also` is not NULL, these rumors must also be in the history
 * `also`. */
static bool are_most_ahead(const struct node *node, const uint32_t *also, uint64_t least)
{
    struct supporters *supporters = &node->transfer->sides[0];
    const struct versions *versions = broadcast_versions(node);
    CHECK(least > 0);
    supporters_clear(supporters, node);
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        const uint32_t claimed = node->transfer->request.next[origin_index];
        const uint32_t next = also ? u32_min(claimed, also[origin_index]) : claimed;
        if (next > origin->next)
            supporters_add(supporters, node, origin->id, next - origin->next);
    }
    return supporters_are_most(supporters, node, least);
}

/* Returns true if this node lags: most members have published many rumors that this node lacks, or
 * any such rumors that an earlier history also has, or most neighbours are far ahead. The claims of
 * one member do not suffice, because it may claim rumors that do not exist. */
static bool is_lagging(struct node *node)
{
    struct history_request *request = &node->transfer->request;
    const uint64_t age_ns = node->now_ns - request->earlier_ns;
    const bool has_earlier = request->earlier_ns > 0 && age_ns <= EARLIER_NS;
    if (are_most_ahead(node, NULL, FAR_EACH) || fetch_most_are_ahead(node) ||
        (has_earlier && age_ns >= LAG_NS && are_most_ahead(node, request->earlier, 1)))
        return true;
    if (has_earlier)
        return false;
    memcpy(request->earlier, request->next,
           broadcast_versions(node)->max * sizeof *request->earlier);
    request->earlier_ns = node->now_ns;
    return false;
}

/* Returns the reason why our base must be replaced; NULL if it can stay. */
static const char *reason_to_replace(const struct node *node)
{
    if (broadcast_lacks_first(node))
        return "other initial weights";
    if (digest_votes_refute(node))
        return "this node's base differs from the swarm's";
    if (lost_rumors_refute(node))
        return "most neighbours lack rumors that only this node's base contains";
    if (retract_needs_base(node))
        return "rumors of an expelled member are too old for the log and cannot be removed from "
               "this node's base";
    return NULL;
}

/* Returns true if the donor's base may replace ours: ours is incomplete, must be replaced, or loses
 * after a partition; or this node has not joined, or lags. */
static bool yields(struct node *node, const struct peer *donor, const uint32_t *next)
{
    struct contest contest;
    if (!base_is_whole(node) || !joining_has_joined(node) || reason_to_replace(node))
        return true;
    if (broadcast_is_partitioned(node, donor)) {
        (void)compare(node, next, &contest);
        partition_count_neighbours(&contest, donor);
        return !partition_ours_preferred(&contest);
    }
    if (is_lagging(node))
        return true;
    (void)are_most_ahead(node, NULL, 1);
    fetch_on_claims(node, donor, supporters_most(&node->transfer->sides[0], node));
    return false;
}

static void note_beginning(struct node *node, const struct peer *donor, const char *why)
{
    char text[192];
    (void)snprintf(text, sizeof text, "%s: the takeover of its base begins, %u blocks",
                   node->transfer->fetch.keep_weights
                       ? "both sides trained apart for long, and its base is kept; this node will "
                         "publish its progress again"
                   : why ? why
                         : "this node lags far behind",
                   (unsigned)node->transfer->blocks);
    (void)connection_note(node, donor, NOTE_CATCHING_UP, LEVEL_INFO, text);
}

/* Requests the versions of the other neighbours again: the last ones were compared with our old
 * version. */
static void ask_all_again(struct node *node, const struct peer *donor)
{
    for (uint32_t i = 0; connection_neighbour(node, &i); i++)
        node->transfer->neighbours[i].is_ahead = false;
    anti_entropy_ask_again(node, donor);
}

static uint64_t sum_of(const uint32_t *next, uint32_t count)
{
    uint64_t rumors = 0;
    for (uint32_t origin_index = 0; origin_index < count; origin_index++)
        rumors += next[origin_index];
    return rumors;
}

enum takeover {
    TAKEOVER_DONE,   /* the donor's version has replaced our version */
    TAKEOVER_NOT,    /* our version and our base stay */
    TAKEOVER_NO_ROOM /* no entry or reserved incarnation is left, or the history is invalid */
};

static enum takeover take_over(struct node *node, const struct peer *donor)
{
    struct transfer *transfer = node->transfer;
    const struct history_request *request = &transfer->request;
    uint32_t *next = request->next;
    CHECK(donor->state == PEER_OPEN && !request->is_asked);
    const bool is_partitioned = broadcast_is_partitioned(node, donor);
    if (retract_is_under_way(node) ||
        !replace_version_is_allowed(node, request->history, request->entries) ||
        equivocation_in_history(node, request->history, request->entries))
        return TAKEOVER_NOT;
    if (!replace_version_read(node, request->history, request->entries, next))
        return TAKEOVER_NO_ROOM;
    const struct versions *versions = broadcast_versions(node);
    const struct origin *own = broadcast_own(node);
    const uint64_t rumors = sum_of(next, versions->count);
    const bool keep_ours = !is_partitioned && replace_version_can_keep(node, next);
    const char *why = reason_to_replace(node);
    if (!is_partitioned && !keep_ours && base_is_whole(node) && !why && would_lose_more(node, next))
        return TAKEOVER_NOT;
    if (!yields(node, donor, next))
        return TAKEOVER_NOT;
    const bool is_published_lost = !keep_ours && next[versions_index(versions, own)] < own->next;
    if (is_published_lost && !replace_version_begin_incarnation(node))
        return TAKEOVER_NO_ROOM;
    transfer->fetch.keep_weights = is_published_lost ||
                                   (is_partitioned && joining_state(node) == JOINING_TRAINING) ||
                                   (!base_is_whole(node) && transfer->fetch.keep_weights);
    const uint64_t given =
        replace_version(node, request->history, request->entries, request->digest, next, keep_ours);
    broadcast_set_knows(node, donor, rumors);
    memcpy(transfer->blame.donor_id, donor->id, ID_BYTES);
    fetch_begin(node, BASE_FETCHING, rumors);
    base_digest_begin(node, given);
    digest_votes_begin(node);
    lost_rumors_forget(node);
    transfer->request.earlier_ns = 0;
    ask_all_again(node, donor);
    broadcast_lean_on(node, donor);
    note_beginning(node, donor, why);
    CHECK(base_state(node) == BASE_FETCHING);
    return TAKEOVER_DONE;
}

static void note_no_room(struct node *node, const struct peer *donor)
{
    char id[ID_TEXT_BYTES];
    identity_text(id, donor->id);
    if (notes_allow_once(&node->notes, node->now_ns, NOTE_FULL, id, "base"))
        (void)connection_note(node, donor, NOTE_FULL, LEVEL_WARNING,
                              "its base cannot be taken over: it has more incarnations than "
                              "limits.incarnations (raise it), or its history is invalid");
}

/* Appends a part of the requested history. Returns TOO_BIG if the history has too many entries, and
 * MISMATCH if this part does not follow the last one. */
static enum error put_part(struct node *node, const struct message *part)
{
    struct history_request *request = &node->transfer->request;
    const size_t entries = part->bulk.count / HISTORY_ENTRY_BYTES;
    if (request->entries + entries > broadcast_versions(node)->max)
        return TOO_BIG;
    if (part->parts == 0 || part->part != request->parts ||
        part->bulk.count % HISTORY_ENTRY_BYTES != 0)
        return MISMATCH;
    memcpy(request->history + request->entries * (size_t)HISTORY_ENTRY_BYTES, part->bulk.at,
           part->bulk.count);
    request->entries += (uint32_t)entries;
    request->digest = part->digest;
    /* the wait starts again with each part: a slow link needs long for all parts */
    request->asked_ns = node->now_ns;
    request->parts++;
    return OK;
}

static void give_up(struct node *node, const struct peer *donor, bool has_no_room)
{
    CHECK(donor->conn == node->transfer->request.donor);
    node->transfer->request.is_asked = false;
    transfer_neighbour(node, donor)->refused_ns = node->now_ns;
    if (has_no_room)
        note_no_room(node, donor);
}

bool takeover_on_history(struct node *node, const struct peer *from, const struct message *history)
{
    struct history_request *request = &node->transfer->request;
    if (!request->is_asked || request->donor != from->conn || !fetch_may_begin(node))
        return false;
    const enum error error = put_part(node, history);
    if (error != OK) {
        give_up(node, from, error == TOO_BIG);
        return false;
    }
    if (request->parts < history->parts)
        return false;
    request->is_asked = false;
    if (!equivocation_is_honest_history(node, request->history, request->entries)) {
        connection_hang_up(node, from, BYE_BROKEN, "sent an invalid history");
        return false;
    }
    const uint64_t later = replace_version_own_future(node, request->history, request->entries);
    if (later > 0) { /* another process, earlier or a copy of this one, had that incarnation */
        identity_clash_on_head(node, later);
        give_up(node, from, false);
        return false;
    }
    const enum takeover taken = take_over(node, from);
    if (taken != TAKEOVER_DONE)
        give_up(node, from, taken == TAKEOVER_NO_ROOM);
    return taken == TAKEOVER_DONE;
}
