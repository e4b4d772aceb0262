/* Credited samples: how much of the members' reported samples counts.
 *
 * A rumor may report 2^24 samples, so one member could make the plain sum as large as it likes. A
 * cap at the median would also be wrong, because one machine often learns more than all others, as
 * its rumors show. The rule:
 *
 *   Each learner of the quarter that reported most (one learner if fewer than eight) is credited
 *   with at most an equal part of the sum of the reports outside that quarter, or with what its
 *   rumors support if that is more.
 *
 * All other reports, and this node's own, count in full. So one member among many at most doubles
 * the count, unless its rumors move the base further than others' do. Tests:
 * tests/unit/node/test_credited_samples.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_CREDITED_SAMPLES_H
#define HEARSAY_NODE_BROADCAST_CREDITED_SAMPLES_H

#include <stdint.h>

struct reported_samples {
    double samples;   /* samples that the member reports; >= 0 */
    double borne_out; /* reported samples that the member's rumors support (membership/members.h) */
};

/* Returns the sum of the credited samples of all reports. reported[0] is this node's own report,
 * which counts in full; the call reorders the other reports. learners: training members, this node
 * included. */
double credited_samples_sum(struct reported_samples *reported, uint32_t count, uint32_t learners);

/* Returns the number of learned samples from which a node starts to count. all: samples ever
 * reported by all members; counted: credited samples (credited_samples_sum); said[count]: counts of
 * the other members, which the call reorders. If `said` has three or more counts, one liar can move
 * their lower median only between the others' values. If it has two, a liar can never raise it.
 * `all` is exact, so it is the result unless it is clearly above that median. Then the result is
 * the larger of `counted` and the median. With count = 0 the result is `all`. */
double credited_samples_begin(double all, double counted, uint64_t *said, uint32_t count);

/* Returns the number of learned samples from which a node continues to count: `counted`, unless the
 * lower median of `said` (at most `all`) is clearly larger; then that median. */
double credited_samples_continue(double all, double counted, uint64_t *said, uint32_t count);

#endif
