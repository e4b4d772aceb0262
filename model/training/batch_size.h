/* How many samples a step should have, so that it takes about as long as is wanted: a fast machine
 * makes larger steps, not more of them (as DLion sizes its batches: Hong, Chandra 2021).
 *
 *   learner_step ─► samples, and how long it took ─► batch_size_on_step ─► learner_set_batch
 *
 * The clock is the owner's of the learner; here are only numbers. Held by
 * tests/unit/model/test_batch_size.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_BATCH_SIZE_H
#define HEARSAY_MODEL_TRAINING_BATCH_SIZE_H

#include <stddef.h>
#include <stdint.h>

#define PACE_BATCH_MIN   8
#define PACE_BATCH_START 32
#define PACE_BATCH_MAX   256 /* more make a step hardly better: who wants them says so */
#define PACE_WINDOW_NS   2000000000u
#define PACE_STEPS       3 /* a decision is made over so many steps at least ... */

struct batch_size {
    uint64_t step_ns;   /* wanted; 0: the batch stays as it is */
    uint32_t batch_max; /* a power of two >= PACE_BATCH_MIN */
    uint64_t window_ns; /* ... and over so much computing: PACE_WINDOW_NS */

    uint64_t samples, ns; /* since the last decision */
    uint32_t steps;
};

/* The largest batch whose samples, which take so much memory each, fit; at least PACE_BATCH_MIN. */
uint32_t batch_size_batch_max(size_t sample_bytes, uint64_t batch_bytes);

/* For a machine of that speed whose batch is this: it stays while a step takes half to twice as
 * long as is wanted; else it is the power of two that comes nearest, from PACE_BATCH_MIN to
 * batch_max. What has just been changed is 29 % or more from both ends, so a speed that varies less
 * than that changes nothing. */
uint32_t batch_size_fit(const struct batch_size *batch_size, uint32_t batch, double samples_per_s);

/* A step of so many samples took so long: how many the next is to have. */
uint32_t batch_size_on_step(struct batch_size *batch_size, uint32_t batch, uint64_t took_ns);

#endif
