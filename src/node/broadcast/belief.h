/* What is believed of what members claim to have learned.
 *
 * Each rumor may claim 2^24 samples, so a count of all claims is as large as one member likes. It
 * must not be cut to what most have learned either: one machine often learns more than all others,
 * as its rumors show. So
 *
 *   claims of a quarter that claimed most (of one, where fewer than eight learn) are believed as
 *   far as all others together have claimed as many, or as far as its rumors bear them out
 *
 * and everybody else's in full. One member among many thus doubles the count at most, as long as
 * its rumors move the base no further than others' do.
 * Held by tests/unit/node/test_belief.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_BELIEF_H
#define HEARSAY_NODE_BROADCAST_BELIEF_H

#include <stdint.h>

struct claim {
    double samples;   /* that one member claims to have learned; >= 0 */
    double borne_out; /* as many its rumors bear out (membership/shares.h) */
};

/* Samples of all together. The first claim is this node's own, which it knows to be true; the
 * others come back in another order. learners: how many train, this node included. */
double belief_sum(struct claim *claims, uint32_t count, uint32_t learners);

/* Samples at which a node begins to count that has not counted before. all: claimed by all, ever;
 * counted: by belief_sum, of these; said[count]: where others say that they are, which
 * come back in another order. Of what they say the middle one is taken, or the lower one of the two
 * in the middle: a single one of three or more moves it no further than another is, and one of two
 * not forward. What all claim together is exact, so that is taken where others say about as much,
 * or where there are no others. */
double belief_begin(double all, double counted, uint64_t *said, uint32_t count);

/* A node that has counted so many goes on from there: from what others say, where that is far more
 * and has been claimed, too. */
double belief_go_on(double all, double counted, uint64_t *said, uint32_t count);

#endif
