/* Overlap of publications, and the novelty weight that follows from it.
 *
 * If each node can publish only a small part, one node publishes an entry and the others, which
 * have learned much the same, do not. Weighted only by the node's share, the entry would move the
 * base by 1/n of what all nodes have learned. So a node gives an entry more weight, the more rarely
 * others publish the same entries in the same interval, which it measures:
 *
 *   others    = how many others publish an entry that this node does
 *   at_once   = publications of one node in sixteen of its steps, but 1 at least: before that
 *               others have not answered, and all publish the same again (publish_terms)
 *   in_full   = 1 / ((1 + OVERLAP_OTHERS · others) · at_once · counts), but 1 at least, and at most
 *               OVERLAP_DENSITY over the part of all entries that a publication has
 *   alike     = of the entries that both publish, the part that moves the same way less the part
 *               that moves the other way, but 0 at least
 *   novelty  = 1 + (in_full - 1) · alike
 *
 * A node can stand for others only where they have learned the same. So `alike` estimates how far
 * one node's progress predicts another's, a correlation: near 1 for a language model in its first
 * hundreds of steps, 0.2 for images, and below 0 for eight nodes with unlike images and Adam, where
 * counting in full took seven points of accuracy.
 *
 * counts is share · gain, the weight without this rule. A node's first publication has few entries,
 * and at first all nodes learn the same. That other nodes rarely publish those few entries says
 * nothing about the next publication. So novelty is 1 until the answers to a publication are
 * known, and everything is reset when a publication has more than OVERLAP_GROWN times as many
 * entries as the one before.
 *
 * An entry with more weight also stands for the other nodes: each receiver releases the same amount
 * of its own withheld progress in that entry (replica.h),
 *
 *   spoken_for = (what it counts - share) / (1 - share)      of tau · level, in 0 .. 1
 *
 * as if its origin had our share. Otherwise all nodes would publish the same progress in full, one
 * after the other, and the base would overshoot. Measured by tests/bench/bench_language_exchange.py
 * (tests/decisions/009-count-rare-entries-for-more.md). Held by tests/unit/model/test_overlap.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_OVERLAP_H
#define HEARSAY_MODEL_EXCHANGE_OVERLAP_H

#include <stddef.h>

#include "base/update.h"

/* Bench: bench_language_exchange.py (tests/decisions/011-the-second-publication.md). Half: not
 * measured. Double: 2.030 and 2.135 nats on 8 and 16 nodes (0.5: 2.021 and 2.096). */
#define OVERLAP_OTHERS                                                                             \
    0.5 /* factor on others: they do not choose exactly this node's entries by chance */
/* Bench: bench_language_exchange.py (tests/decisions/011-the-second-publication.md). Half: 2.054
 * and 2.132 nats on 8 and 16 nodes (0.3: 2.021 and 2.096). Double: 0.5 has 2.024 and 2.093. */
#define OVERLAP_DENSITY 0.3 /* part of all entries in a publication above which none is rare */
#define OVERLAP_GROWN   8   /* growth factor of entries that marks another kind of publication */

/* Measurements of the overlap. Starts as zeros. */
struct overlap {
    /* This node's share at the last publication; 0 = no publication counts. */
    double share;
    double density;        /* recent part of all entries in a publication; 0 = unknown */
    double others;         /* recent number of other nodes that publish an entry of ours */
    uint32_t count;        /* entries of the last publication; 0 = none */
    uint64_t matched;      /* number of times that others have published these entries since */
    uint64_t against;      /* number of those times with the opposite sign */
    double all_matched;    /* decaying sum of matched */
    double all_against;    /* decaying sum of against */
    uint32_t publications; /* number of publications with a known `others` */
};

/* Returns the novelty weight of the next publication. counts: share · gain, in (0, 1]; at_once >=
 * 1. */
double overlap_novelty(const struct overlap *overlap, double counts, double at_once);

/* Records an own publication with this share, of a model with `parameters` parameters. */
void overlap_on_published(struct overlap *overlap, const struct update *own, double share,
                          size_t parameters);
/* Records another node's update that arrived after this node's last publication. */
void overlap_on_applied(struct overlap *overlap, const struct update *own,
                        const struct update *theirs);

/* Returns the part of tau · level, 0 .. 1, by which such an update also stands for this node. */
double overlap_spoken_for(const struct overlap *overlap, const struct update *theirs);

#endif
