/* Times one sample through a model, and through each of its layers.
 *
 *   warm-up passes, then timed passes ─► mean, deviation, median
 *
 * A layer's time ends when the device is done, and the next one's starts there, so they add up to
 * the sample's. Weights are initial and samples random: neither changes the work. Held by
 * tests/unit/commands/test_model_time.c.
 */
#ifndef HEARSAY_COMMANDS_MODEL_TIME_H
#define HEARSAY_COMMANDS_MODEL_TIME_H

#include "base/arena.h"
#include "layers/model_layers.h"

/* Of times measured, in nanoseconds. */
struct timing {
    double mean;
    double deviation; /* of a sample of them: over n - 1 */
    double median;
};

/* Of count >= 1 times, which it sorts. */
struct timing timing_of(uint64_t *ns, int count);

struct model_times {
    int passes;           /* to warm up, and that were timed */
    struct timing sample; /* a whole pass */
    struct timing *layer; /* [model_layers]; of one that computes nothing, zeros */
};

/* The model has the backend and is for one sample at least. */
void model_time(struct model *model, struct backend *backend, int passes, struct arena *arena,
                struct model_times *times);

#endif
