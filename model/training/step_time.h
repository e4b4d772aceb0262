/* Durations of steps on a GPU, which computes while the host goes on.
 *
 *   learner_step ─► device ─► step_time_take: samples, ns
 *
 * The host only queues the steps of a GPU, so the host's clock cannot measure them. On the CPU the
 * host's clock is right, and step_time_take returns nothing. Tests:
 * tests/unit/model/test_step_time.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_STEP_TIME_H
#define HEARSAY_MODEL_TRAINING_STEP_TIME_H

#include "training/learner.h"

struct step_time {
    uint32_t samples;
    uint64_t ns; /* duration by the device's clock; with several GPUs, by the first GPU's */
};

/* Returns true if the host's clock cannot measure the steps of this learner. */
bool step_time_is_needed(const struct learner *learner);

/* Removes the oldest completed step and sets *time. Returns false if there is none. Only the last
 * WATCH_MAX steps are kept. */
bool step_time_take(struct learner *learner, struct step_time *time);

#endif
