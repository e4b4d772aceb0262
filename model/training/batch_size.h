/* The batch size for the speed of the machine (batch = auto): a fast machine makes larger steps
 * instead of more steps (as in DLion: Hong, Chandra 2021).
 *
 *   learner_step ─► samples and duration ─► batch_size_on_step ─► learner_set_batch
 *
 * The learner's owner measures the durations; this file reads no clock. Tests:
 * tests/unit/model/test_batch_size.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_BATCH_SIZE_H
#define HEARSAY_MODEL_TRAINING_BATCH_SIZE_H

#include <stddef.h>
#include <stdint.h>

#define BATCH_SIZE_MIN       8
#define BATCH_SIZE_START     32
#define BATCH_SIZE_MAX       256 /* larger batches improve a step little, but can be configured */
#define BATCH_SIZE_WINDOW_NS 2000000000u
#define BATCH_SIZE_STEPS     3 /* minimum number of steps between two decisions */

struct batch_size {
    uint64_t step_ns;   /* target duration of a step; 0 = the batch size is fixed */
    uint32_t batch_max; /* a power of two >= BATCH_SIZE_MIN */
    uint64_t window_ns; /* computing time between decisions, at least BATCH_SIZE_WINDOW_NS */
    /* samples learned since the last decision; `ns` and `steps` also count from there */
    uint64_t samples;
    uint64_t ns;
    uint32_t steps;
};

/* Returns the largest batch whose samples, of sample_bytes each, fit into batch_bytes: a power of
 * two from BATCH_SIZE_MIN, which is returned even if it does not fit, to BATCH_SIZE_MAX. */
uint32_t batch_size_max(size_t sample_bytes, uint64_t batch_bytes);

/* Returns the next batch size of a machine that learns samples_per_s samples per second with
 * batches of `batch`. The size stays if it is in BATCH_SIZE_MIN .. batch_max and a step takes half
 * to twice step_ns. Otherwise it becomes the power of two nearest, by ratio, to samples_per_s ·
 * step_ns, bounded to that range. After a change that was not bounded, the speed must fall by at
 * least 29 % or rise by at least 41 % before the size changes again. */
uint32_t batch_size_fit(const struct batch_size *batch_size, uint32_t batch, double samples_per_s);

/* Records a step of `batch` samples; returns the size of the next batch. */
uint32_t batch_size_on_step(struct batch_size *batch_size, uint32_t batch, uint64_t took_ns);

#endif
