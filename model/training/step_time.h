/* How long steps took on a device that works on its own.
 *
 *   learner_step ─► device ─► step_time_take: samples, ns
 *
 * The host only queues the steps of a GPU, so its clock is wrong for them; on the CPU it is right,
 * and there is nothing to take. Held by tests/unit/model/test_step_time.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_STEP_TIME_H
#define HEARSAY_MODEL_TRAINING_STEP_TIME_H

#include "training/learner.h"

struct step_time {
    uint32_t samples;
    uint64_t ns; /* device time; with several GPUs, of the first */
};

/* Whether the caller's clock is wrong for steps of this learner. */
bool step_time_is_needed(const struct learner *learner);

/* Takes the time of the oldest step that is done; false: there is none. A caller that takes none
 * for WATCH_MAX steps loses the oldest. */
bool step_time_take(struct learner *learner, struct step_time *time);

#endif
