/* Overlap of publications, and the novelty weight that follows from it.
 *
 * If each node can publish only few entries, one node publishes an entry while the other nodes,
 * which have learned much the same, publish different ones. Weighted only by the node's share (1/n
 * with n equal nodes), the entry would move the base by 1/n of that common progress. So the more
 * rarely other nodes publish the entries of a node, the more weight the node gives its entries:
 *
 *   others    = mean number of other nodes that also publish an entry of this node's publication
 *   at_once   = number of publications that a node makes in sixteen of its steps, at least 1: until
 *               updates of other nodes arrive, all publish the same progress
 *   in_full   = 1 / ((1 + OVERLAP_OTHERS · others) · at_once · counts), at most OVERLAP_DENSITY /
 *               (part of all entries that a publication has), but at least 1
 *   alike     = of the entries that both this node and another publish: the part with equal signs
 *               minus the part with opposite signs, at least 0
 *   novelty   = 1 + (in_full - 1) · alike
 *
 * A node's entry can count for other nodes only as far as they have learned the same. `alike`
 * estimates that, as a correlation of two nodes' progress. It is near 1 for a language model in its
 * first few hundred steps, and 0.2 for images. It is 0 for eight nodes that train on different
 * images with Adam. There, a novelty of in_full cost seven percentage points of accuracy.
 *
 * counts = share · gain, the weight without this rule. A node's first publication has few entries,
 * whose overlap does not predict that of the next publication. So novelty is 1 until a second
 * publication has followed. All measurements are reset when a publication has more than
 * OVERLAP_GROWN times as many entries as the previous one.
 *
 * An entry with more weight also counts for the other nodes. So each receiver drops a part of
 * its own withheld progress in that entry (replica.h),
 *
 *   spoken_for = (weight of the entry - share) / (1 - share)      of tau · level, in 0 .. 1
 *
 * where `share` is the receiver's, because the origin's share is unknown. Without this rule, all
 * nodes would publish the same progress in full, one after the other, and the base would overshoot.
 * Measured by tests/bench/bench_language_exchange.py
 * (tests/decisions/009-count-rare-entries-for-more.md). Tests: tests/unit/model/test_overlap.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_OVERLAP_H
#define HEARSAY_MODEL_EXCHANGE_OVERLAP_H

#include <stddef.h>

#include "base/update.h"

/* Bench: bench_language_exchange.py (tests/decisions/011-the-second-publication.md). Half: not
 * measured. Double: a test loss of 2.030 and 2.135 nats on 8 and 16 nodes, against 2.021 and 2.096
 * with 0.5. */
#define OVERLAP_OTHERS 0.5 /* weight of `others` in in_full; nodes tend to choose alike entries */
/* Bench: bench_language_exchange.py (tests/decisions/011-the-second-publication.md). Half: a
 * test loss of 2.054 and 2.132 nats on 8 and 16 nodes, against 2.021 and 2.096 with 0.3. Double:
 * not measured; 0.5: 2.024 and 2.093. */
#define OVERLAP_DENSITY 0.3 /* published entries / all entries; novelty is 1 above it */
/* A publication with more than this many times the entries of the previous one resets `overlap`. */
#define OVERLAP_GROWN 8

/* How often other nodes publish the same entries as this node. Starts as zeros. */
struct overlap {
    double share;   /* this node's share at its last publication; 0 = no publication yet */
    double density; /* moving average of (entries of a publication / all entries); 0 = unknown */
    /* Moving average of the number of other nodes that also publish an entry of this node. */
    double others;
    uint32_t count; /* entries of this node's last publication */
    /* Number of times that other nodes published an entry of this node's last publication. */
    uint64_t matched;
    uint64_t against;      /* number of `matched` entries with the opposite sign */
    double all_matched;    /* decaying sum of `matched` over earlier publications */
    double all_against;    /* decaying sum of `against` over earlier publications */
    uint32_t publications; /* number of publications averaged in `others` */
};

/* Returns the novelty weight of this node's next publication. counts: share · gain, above 0.
 * at_once: number of publications that this node makes in sixteen steps, at least 1. */
double overlap_novelty(const struct overlap *overlap, double counts, double at_once);

/* Records this node's publication. share: this node's share in it, above 0. parameters: number of
 * entries of the model. */
void overlap_on_published(struct overlap *overlap, const struct update *own, double share,
                          size_t parameters);
/* Records another node's update. own: this node's last publication. */
void overlap_on_applied(struct overlap *overlap, const struct update *own,
                        const struct update *theirs);

/* Returns the part of tau · level, 0 .. 1, by which another node's update also counts for this
 * node, which drops that much withheld progress. */
double overlap_spoken_for(const struct overlap *overlap, const struct update *theirs);

#endif
