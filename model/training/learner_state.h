/* Everything that a learner is at one moment, in host memory: enough to go on bit for bit.
 *
 *   learner ── save: copies only ──► learner_state ──► checkpoint.h
 *   learner ◄─────── restore ─────── learner_state ◄──
 *
 * What it was made with (model, data, options) is not in it: that must be the same again. A
 * wanderer (wander.h) has a state of the same kind, without moments and batches.
 */
#ifndef HEARSAY_MODEL_TRAINING_LEARNER_STATE_H
#define HEARSAY_MODEL_TRAINING_LEARNER_STATE_H

#include <stddef.h>
#include <stdint.h>

#define LEARNER_MOMENTS_MAX 2

struct learner_state {
    size_t parameters;             /* P */
    int32_t *base;                 /* [P], in units */
    int32_t *base_at_last_publish; /* [P], the base at the last telling */
    float *weights;                /* [P] */
    uint32_t moments; /* that its optimizer keeps (optimizer.h); 0: it does not train */
    float *moment[LEARNER_MOMENTS_MAX]; /* [moments][P] */
    uint64_t steps;                     /* that the moments have been through */
    uint64_t samples;                   /* learned so far */
    uint64_t swarm_samples;             /* ... by all, as far as it knows */
    uint64_t epoch;                     /* batch.h: this and the next say which samples follow */
    uint32_t at;
    uint32_t batch;       /* samples of a step; 0: of old, when that was not kept */
    uint64_t random_walk; /* the generator of a wanderer; 0 for a learner */
};

/* What the three vectors and the moments take, for one allocation. */
size_t learner_state_bytes(size_t parameters, uint32_t moments);

/* The vectors lie in memory (of learner_state_bytes, aligned for floats), which stays the
 * caller's and is not written to; the numbers are 0. */
void learner_state_init(struct learner_state *state, void *memory, size_t parameters,
                        uint32_t moments);

/* Of the base (digest.h). */
uint64_t learner_state_digest(const struct learner_state *state);

#endif
