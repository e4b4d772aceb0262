/* The end of a partition: two neighbours meet after each side has learned on its own for long. The
 * sum of both sides' rumors would count progress twice, because the shares of each side add up to
 * one. So if both sides have learned alone for longer than `partition_s`, no rumor passes between
 * the two neighbours until one has taken over the base of the other (fetch.c).
 *
 * The time that a side has learned alone is the maximum over its members of (samples that the other
 * side does not know) / (samples per second). The number of members does not matter for this time:
 * neither one machine's hour nor a thousand machines' hours can be added to the other side.
 *
 * The side with more members wins, since a single member may claim any number of samples. It may
 * also claim a partition from one other member only, so neighbours count for the side that they are
 * on. Between equally many members, DECISIVE times the other's samples win, and else the smallest
 * tag decides (partition_count). Both sides compute the same result from the same two versions, if
 * these differ only in their latest entries, of which about 1,600 fit a message, and if their
 * neighbours show the same versions. Model: tests/spin/takeover.pml. Tests:
 * tests/world/test_partition.c, test_claimed_base.c.
 */
#include <math.h>

#include "node/orders/admitted.h"
#include "node/transfer/partition_private.h"
#include "node/transfer/transfer_private.h"

/* Ratio of the two sides' members, or else of their samples, above which the larger side wins
 * decisively. */
#define DECISIVE 1.25

enum { OURS, THEIRS };

static void find_tags(struct contest *contest)
{
    const struct node *node = contest->node;
    const struct members *members = membership_members(node);
    for (uint32_t i = 0; i < members->count && !contest->has_tags; i++)
        node->transfer->tags[i] =
            origin_tag(members->members[i].record.id, members->members[i].record.incarnation);
    contest->has_tags = true;
}

/* Returns the id of the member whose current incarnation has this tag; NULL = none. Earlier
 * incarnations do not count, since a side may not know whose they were. origin: ours with this tag;
 * NULL = this node does not know the origin. */
static const uint8_t *id_of(struct contest *contest, const struct origin *origin, uint64_t tag)
{
    const struct members *members = membership_members(contest->node);
    if (origin) {
        const struct member *member = membership_find(contest->node, origin->id);
        return member && member->record.incarnation == origin->incarnation ? origin->id : NULL;
    }
    find_tags(contest);
    for (uint32_t i = 0; i < members->count; i++)
        if (contest->node->transfer->tags[i] == tag)
            return members->members[i].record.id;
    return NULL;
}

struct contest partition_contest(const struct node *node)
{
    struct contest contest = {
        .node = node, .sides = node->transfer->sides, .first_tag = UINT64_MAX};
    for (int side = OURS; side <= THEIRS; side++)
        supporters_clear(&contest.sides[side], node);
    return contest;
}

/* Several sides may meet in any order, and must all end with the same base. So between equally many
 * members, unless one side has clearly learned more, the smallest tag decides: the side that knows
 * more samples of that origin wins. */
void partition_count(struct contest *contest, const struct origin *origin, uint64_t tag,
                     uint64_t theirs)
{
    const uint64_t ours = origin ? origin->samples : 0;
    CHECK(contest->node && contest->sides);
    const uint8_t *id = ours != theirs ? id_of(contest, origin, tag) : NULL;
    if (id)
        supporters_add(&contest->sides[ours > theirs ? OURS : THEIRS], contest->node, id, 1);
    if (ours > theirs)
        contest->ours += (double)(ours - theirs);
    else
        contest->theirs += (double)(theirs - ours);
    if (ours != theirs && tag < contest->first_tag) {
        contest->first_tag = tag;
        contest->first_is_ours = ours > theirs;
    }
}

void partition_count_neighbours(struct contest *contest, const struct peer *other)
{
    const struct node *node = contest->node;
    const struct peer *peer;
    CHECK(broadcast_is_partitioned(node, other));
    if (membership_at(node, 0)->record.trains)
        supporters_add(&contest->sides[OURS], node, node->options.identity->id, 1);
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const struct member *member = membership_find(node, peer->id);
        if (!member || !member->record.trains)
            continue;
        if (broadcast_is_together(node, peer))
            supporters_add(&contest->sides[OURS], node, peer->id, 1);
        else if (broadcast_is_partitioned(node, peer) && broadcast_show_same(node, peer, other))
            supporters_add(&contest->sides[THEIRS], node, peer->id, 1);
    }
}

static uint32_t members_of(const struct contest *contest, int side)
{
    return supporters_count(&contest->sides[side], contest->node, 1);
}

static bool is_decided(double a, double b)
{
    return fmax(a, b) > DECISIVE * fmin(a, b);
}

bool partition_is_decisive(const struct contest *contest)
{
    const uint32_t ours = members_of(contest, OURS), theirs = members_of(contest, THEIRS);
    return ours == theirs ? is_decided(contest->ours, contest->theirs) : is_decided(ours, theirs);
}

bool partition_ours_preferred(const struct contest *contest)
{
    const uint32_t ours = members_of(contest, OURS), theirs = members_of(contest, THEIRS);
    if (ours != theirs)
        return ours > theirs;
    return is_decided(contest->ours, contest->theirs) ? contest->ours > contest->theirs
                                                      : contest->first_is_ours;
}

/* Seconds for which each side of the partition has learned alone. */
struct alone_s {
    double ours;
    double theirs;
};

/* Returns the seconds in which an origin learned `samples` samples. rate: samples per second that
 * the side with more samples of the origin states, so that both sides use one rate. */
static double seconds_of(uint64_t samples, float rate)
{
    return rate > 0 && isfinite(rate) ? (double)samples / (double)rate : 0;
}

static void count_time(struct alone_s *alone, const struct origin *ours,
                       const struct learned *theirs)
{
    const uint64_t here = ours ? ours->samples : 0, there = theirs ? theirs->samples : 0;
    if (here > there)
        alone->ours = fmax(alone->ours, seconds_of(here - there, ours->rate));
    else if (there > here)
        alone->theirs = fmax(alone->theirs, seconds_of(there - here, theirs->rate));
}

/* Returns false if a verdict limits the origin's rumors, or if its member is not admitted. */
static bool counts(const struct node *node, const struct origin *origin)
{
    return origin->keep == KEEP_ALL && admitted_may_be(node, origin->id);
}

/* Compares the origins listed in the message, and our origins that the other side does not know. */
static void compare_all(struct node *node, const struct message *version, struct alone_s *alone,
                        struct contest *contest)
{
    const struct versions *versions = broadcast_versions(node);
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    CHECK(version->learned.count == entries * LEARNED_BYTES);
    (void)versions_known(versions, version->bulk.at, entries, version->hash, node->transfer->seen);
    for (size_t i = 0; i < entries; i++) {
        const uint64_t tag = version_entry_at(version->bulk.at, i).tag;
        const struct learned learned = learned_at(version->learned.at, i);
        const struct origin *origin = versions_find(versions, tag);
        if (origin ? !counts(node, origin) : admitted_is_strangers(node, tag))
            continue;
        count_time(alone, origin, &learned);
        partition_count(contest, origin, tag, learned.samples);
    }
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        const struct origin *origin = &versions->origins[origin_index];
        if (bit_get(node->transfer->seen, origin_index) || origin->next == 0 ||
            !counts(node, origin))
            continue;
        count_time(alone, origin, NULL);
        partition_count(contest, origin, origin->tag, 0);
    }
}

void partition_judge(struct node *node, const struct peer *from, const struct message *version)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, from);
    struct alone_s alone = {0};
    struct contest contest = partition_contest(node);
    compare_all(node, version, &alone, &contest);
    const bool is_partitioned = fmin(alone.ours, alone.theirs) > node->options.partition_s;
    broadcast_set_partitioned(node, from, is_partitioned);
    if (is_partitioned)
        partition_count_neighbours(&contest, from);
    neighbour->ours_preferred = partition_ours_preferred(&contest);
    neighbour->is_decisive = partition_is_decisive(&contest);
    /* a neighbour without a complete base has none to give */
    neighbour->peer_yields = neighbour->ours_preferred || !version->base;
    CHECK(alone.ours >= 0 && alone.theirs >= 0);
}

bool partition_peer_yields(const struct node *node, const struct peer *peer)
{
    return transfer_neighbour(node, peer)->peer_yields;
}
