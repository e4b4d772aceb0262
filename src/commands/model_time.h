/* Measures how long one sample takes through a model, and through each of its layers.
 *
 *   warm-up passes, then timed passes ─► mean, deviation, median
 *
 * A layer's time ends when the device is done, and the next layer's time begins there. So the
 * layers' times add up to the sample's. Weights are initial and samples random: neither changes the
 * amount of work. Tests: tests/unit/commands/test_model_time.c.
 */
#ifndef HEARSAY_COMMANDS_MODEL_TIME_H
#define HEARSAY_COMMANDS_MODEL_TIME_H

#include "base/arena.h"
#include "layers/model_layers.h"

/* Statistics of measured times, in nanoseconds. */
struct timing {
    double mean;
    double deviation; /* sample standard deviation, with divisor n - 1 */
    double median;
};

/* Returns the statistics of count >= 1 times. Sorts the array. */
struct timing timing_of(uint64_t *ns, int count);

struct model_times {
    int passes;           /* number of timed passes, and of warm-up passes before them */
    struct timing sample; /* times of whole passes */
    /* [model_layers] times of each layer; zeros for a layer that computes nothing. */
    struct timing *layer;
};

/* Times the model, which must have been made with this backend and a batch of at least 1. */
void model_time(struct model *model, struct backend *backend, int passes, struct arena *arena,
                struct model_times *times);

#endif
