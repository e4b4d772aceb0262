/* A partition that ends: have two neighbours learned for so long without each other that simply
 * adding it up would be wrong? Within each half the shares summed to one; both halves' progress
 * together would be counted twice. So where both have learned alone for longer than `partition_s`
 * no rumor passes between the two, until one of them has taken over the other's base (fetch.c).
 *
 * For how long a side has learned alone its members say: the samples of each that the other side
 * does not know of, over its samples per second, and of these times the longest. How many members
 * either side has or had does not matter: neither one machine's hour nor a thousand machines' can
 * be added to the other. Both find the same, from the same two versions, if what differs is among
 * the latest entries, of which some 2,700 are shown. Held by tests/world/test_partition.c.
 */
#include <math.h>

#include "node/orders/admitted.h"
#include "node/transfer/partition_private.h"
#include "node/transfer/transfer_private.h"

#define DECISIVE 1.25 /* times as much learned alone wins by itself */

/* All sides that meet must keep the same base, in whatever order and however long it takes: so if
 * neither side has clearly learned more, it is that of the smallest origin. */
void partition_count(struct contest *contest, uint64_t tag, uint64_t ours, uint64_t theirs)
{
    if (ours > theirs)
        contest->ours += (double)(ours - theirs);
    else
        contest->theirs += (double)(theirs - ours);
    if (ours != theirs && tag < contest->first_tag) {
        contest->first_tag = tag;
        contest->first_is_ours = ours > theirs;
    }
}

bool partition_is_decisive(const struct contest *contest)
{
    return fmax(contest->ours, contest->theirs) > DECISIVE * fmin(contest->ours, contest->theirs);
}

bool partition_ours_preferred(const struct contest *contest)
{
    return partition_is_decisive(contest) ? contest->ours > contest->theirs
                                          : contest->first_is_ours;
}

/* For how long either side has learned what the other does not know of, in seconds. */
struct alone_s {
    double ours;
    double theirs;
};

/* How fast it learns is what the side says that knows more of it: the other may not know, or
 * know better, and both must find the same. */
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

/* What an expelled member learned, or one that may not be here, counts on neither side. */
static bool counts(const struct node *node, const struct origin *origin)
{
    return origin->keep == KEEP_ALL && admitted_may_be(node, origin->id);
}

/* Of every origin that either side knows: those it lists, and those of ours that it does not
 * know; of all others it knows as much as we. */
static void compare_all(struct node *node, const struct message *version, struct alone_s *alone,
                        struct contest *contest)
{
    const struct versions *versions = broadcast_versions(node);
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    CHECK(version->text.count == entries * LEARNED_BYTES);
    (void)versions_known(versions, version->bulk.at, entries, version->hash, node->transfer->seen);
    for (size_t i = 0; i < entries; i++) {
        const uint64_t tag = version_entry_at(version->bulk.at, i).tag;
        const struct learned learned = learned_at(version->text.at, i);
        const struct origin *origin = versions_find(versions, tag);
        if (origin ? !counts(node, origin) : admitted_is_strangers(node, tag))
            continue;
        count_time(alone, origin, &learned);
        partition_count(contest, tag, origin ? origin->samples : 0, learned.samples);
    }
    for (uint32_t place = 0; place < versions->count; place++) {
        const struct origin *origin = &versions->origins[place];
        if (bit_get(node->transfer->seen, place) || origin->next == 0 || !counts(node, origin))
            continue;
        count_time(alone, origin, NULL);
        partition_count(contest, origin->tag, origin->samples, 0);
    }
}

void partition_judge(struct node *node, const struct peer *from, const struct message *version)
{
    struct transfer_neighbour *neighbour = transfer_neighbour(node, from);
    struct alone_s alone = {0};
    struct contest contest = CONTEST;
    compare_all(node, version, &alone, &contest);
    broadcast_set_partitioned(node, from,
                              fmin(alone.ours, alone.theirs) > node->options.partition_s);
    neighbour->ours_preferred = partition_ours_preferred(&contest);
    neighbour->is_decisive = partition_is_decisive(&contest);
    neighbour->peer_yields =
        neighbour->ours_preferred || !version->base; /* there is nothing to take over yet */
    CHECK(alone.ours >= 0 && alone.theirs >= 0);
}

bool partition_peer_yields(const struct node *node, const struct peer *peer)
{
    return transfer_neighbour(node, peer)->peer_yields;
}
