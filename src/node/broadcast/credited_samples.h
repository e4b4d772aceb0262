/* Credited samples: how much of the members' reported samples counts.
 *
 * A rumor may report 2^24 samples, so one member could make the plain sum as large as it likes. A
 * cap at the median would be wrong as well, because one machine often learns more than all others,
 * as its rumors show. The rule:
 *
 *   the quarter of the learners that reported most (one learner if fewer than eight) is credited
 *   with at most what all others reported together, or with what its rumors support if that is more
 *
 * All other reports count in full. So one member among many at most doubles the count, unless its
 * rumors move the base further than others' do. Tests: tests/unit/node/test_credited_samples.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_CREDITED_SAMPLES_H
#define HEARSAY_NODE_BROADCAST_CREDITED_SAMPLES_H

#include <stdint.h>

struct reported_samples {
    double samples;   /* samples that the member reports; >= 0 */
    double borne_out; /* samples that the member's rumors support (membership/shares.h) */
};

/* Returns the sum of all credited samples. reported[0] is this node's own report, which counts in
 * full; the call reorders all other reports. learners: training members, this node included. */
double credited_samples_sum(struct reported_samples *reported, uint32_t count, uint32_t learners);

/* Returns the count from which a node starts. all: samples ever reported by all members; counted:
 * credited samples (credited_samples_sum); said[count]: the counts of other members, which the call
 * reorders. Takes the lower median of these counts. One liar among three or more members can move
 * it only between the others' values; one liar of two can never raise it. The sum of all reports is
 * exact, so it is the result unless it is clearly above the median. It is also the result if there
 * are no other counts. */
double credited_samples_begin(double all, double counted, uint64_t *said, uint32_t count);

/* Returns the count from which a node continues: `counted`, or the lower median of other members'
 * counts if that is far ahead and the sum of all reports supports it. */
double credited_samples_continue(double all, double counted, uint64_t *said, uint32_t count);

#endif
