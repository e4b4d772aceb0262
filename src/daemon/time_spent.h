/* Counts a learner's wall-clock time in steps and in the exchange with the swarm, and keeps a
 * histogram of the durations of steps.
 *
 *   stepping thread: time_spent_step, time_spent_exchange ─ STEPPED (learner_link.h) ─►
 *   loop thread: time_spent_add ─► hearsay status, metrics, the node's page
 *
 * Tests: tests/unit/daemon/test_training_watch.c.
 */
#ifndef HEARSAY_DAEMON_TIME_SPENT_H
#define HEARSAY_DAEMON_TIME_SPENT_H

#include <stdint.h>

#define TIME_SPENT_BINS 14

struct time_spent {
    uint64_t steps_ns;
    /* time for the node's orders, except PREDICT */
    uint64_t exchange_ns;
    uint32_t steps[TIME_SPENT_BINS];
};

/* Upper bounds of the histogram's bins, in seconds; the last one is infinite. */
extern const double TIME_SPENT_BOUNDS_S[TIME_SPENT_BINS];

void time_spent_step(struct time_spent *spent, uint64_t took_ns);
void time_spent_exchange(struct time_spent *spent, uint64_t took_ns);
void time_spent_add(struct time_spent *total, const struct time_spent *more);

#endif
