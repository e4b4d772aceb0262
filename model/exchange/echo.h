/* Overlap of publications, and the novelty weight that follows from it.
 *
 * Where each can publish only a small part, an entry is published by one node and not by the
 * others, who have learned much the same of it. Weighed by its share alone it would move the base
 * by an n-th of what all have learned. So a node counts it for more, the more rarely others publish
 * the same entries in the same interval, which it measures:
 *
 *   others    = how many others publish an entry that this node does
 *   at_once   = publications of one node in sixteen of its steps, but 1 at least: before that
 *               others have not answered, and all publish the same again (publish_terms)
 *   in_full   = 1 / ((1 + ECHO_OTHERS · others) · at_once · counts), but 1 at least, and at most
 *               ECHO_DENSITY over the part of all entries that a publication has
 *   alike     = of the entries that both publish, the part that moves the same way less the part
 *               that moves the other way, but 0 at least
 *   rareness  = 1 + (in_full - 1) · alike
 *
 * Only what others have learned, too, can be said for them. So `alike` is an estimate of how far
 * what one node learned tells what another did, a correlation: near 1 for a language model in its
 * first hundreds of steps, 0.2 for images, and below 0 for eight nodes with unlike images and Adam,
 * where counting in full took seven points of accuracy.
 *
 * counts is share · gain, what it counts otherwise. A node's first publication has few entries, and
 * in the beginning all learn the same: that hardly anybody publishes those few says nothing of the
 * next one. So rareness is 1 until the answers to a publication are known, and all is forgotten
 * when one has more than ECHO_GROWN times as many entries as the one before.
 *
 * What counts for more has been said for the others, too: whoever hears it lets go of as much of
 * what it holds back of that entry (replica.h),
 *
 *   spoken_for = (what it counts - share) / (1 - share)      of tau · level, in 0 .. 1
 *
 * as if its origin had our share. Without that all would publish the same thing in full, one after
 * the other, and the base would overshoot. Measured by
 * tests/bench/bench_language_exchange.py (tests/decisions/009-count-rare-entries-for-more.md).
 * Held by tests/unit/model/test_echo.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_ECHO_H
#define HEARSAY_MODEL_EXCHANGE_ECHO_H

#include <stddef.h>

#include "base/update.h"

/* Bench: bench_language_exchange.py (tests/decisions/011-the-second-publication.md). Half: not
 * measured. Double: 2.030 and 2.135 nats on 8 and 16 nodes (0.5: 2.021 and 2.096). */
#define ECHO_OTHERS 0.5 /* others do not choose just the entries that this node does by chance */
/* Bench: bench_language_exchange.py (tests/decisions/011-the-second-publication.md). Half: 2.054
 * and 2.132 nats on 8 and 16 nodes (0.3: 2.021 and 2.096). Double: 0.5 has 2.024 and 2.093. */
#define ECHO_DENSITY 0.3 /* of the entries in a publication: then nothing is rare */
#define ECHO_GROWN   8   /* factor of entries that marks another kind of publication */

/* Begins as zeros. */
struct echo {
    double share;       /* of this node, at the last publication; 0: there was none that counts */
    double density;     /* part of all entries in a publication, lately; 0: not known */
    double others;      /* others that publish an entry that this node does, lately */
    uint32_t count;     /* entries of the last publication; 0: there was none */
    uint64_t heard;     /* of these, entries published by others since; restarts each time */
    uint64_t against;   /* of those, the times that it was with the other sign */
    double all_heard;   /* heard since its begin, what is older counting less */
    double all_against; /* the same of against */
    uint32_t publications; /* of which `others` is known */
};

/* How much more the next publication counts. counts: share · gain, in (0, 1]; at_once >= 1. */
double echo_rareness(const struct echo *echo, double counts, double at_once);

/* Takes an own publication with this share, of a model with `parameters` parameters. */
void echo_on_published(struct echo *echo, const struct update *own, double share,
                       size_t parameters);
/* Somebody else published this, after what this node published last. */
void echo_on_applied(struct echo *echo, const struct update *own, const struct update *theirs);

/* The part of tau · level, 0 .. 1, that such an update has said for this node. */
double echo_spoken_for(const struct echo *echo, const struct update *theirs);

#endif
