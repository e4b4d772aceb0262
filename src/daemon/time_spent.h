/* Where a learner's time goes: in steps, in the exchange, and the rest in waiting; and how long its
 * steps were, as a histogram.
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
    uint64_t steps_ns;               /* in steps, by the clock on the wall */
    uint64_t exchange_ns;            /* in orders of the node: publish, apply, read, write */
    uint32_t steps[TIME_SPENT_BINS]; /* that took longer than one bound and up to the next */
};

/* The bounds in seconds; of the last bin it is infinite. */
extern const double TIME_SPENT_BOUNDS_S[TIME_SPENT_BINS];

void time_spent_step(struct time_spent *spent, uint64_t took_ns);
void time_spent_exchange(struct time_spent *spent, uint64_t took_ns);
void time_spent_add(struct time_spent *total, const struct time_spent *more);

#endif
