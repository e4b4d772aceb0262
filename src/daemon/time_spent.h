/* Use of a learner's time: steps, exchange, and the rest waiting; and a histogram of the durations
 * of steps.
 *
 *   thread that steps: time_spent_step, time_spent_exchange ─ STEPPED (learner_link.h) ─►
 *   loop thread: time_spent_add ─► hearsay status, metrics, the node's page
 *
 * Held by tests/unit/daemon/test_training_watch.c.
 */
#ifndef HEARSAY_DAEMON_TIME_SPENT_H
#define HEARSAY_DAEMON_TIME_SPENT_H

#include <stdint.h>

#define TIME_SPENT_BINS 14

struct time_spent {
    uint64_t steps_ns; /* nanoseconds in steps, by wall-clock time */
    /* Nanoseconds in orders of the node: publish, apply, read, write. */
    uint64_t exchange_ns;
    uint32_t steps[TIME_SPENT_BINS]; /* steps whose time is in each bin of the histogram */
};

/* Upper bounds of the bins in seconds; infinity for the last one. */
extern const double TIME_SPENT_BOUNDS_S[TIME_SPENT_BINS];

void time_spent_step(struct time_spent *spent, uint64_t took_ns);
void time_spent_exchange(struct time_spent *spent, uint64_t took_ns);
void time_spent_add(struct time_spent *total, const struct time_spent *more);

#endif
