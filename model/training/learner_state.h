/* Everything that a learner is at one moment, or some entries of it, in host memory: enough to go
 * on bit for bit.
 *
 *   learner ── save: copies only ──► learner_state ──► snapshot.h, checkpoint.h
 *   learner ◄─────── restore ─────── learner_state ◄──
 *
 * The averaged base travels with it, and is kept in a file of its own (base_average.h).
 *
 * What it was made with (model, data, options) is not in it: that must be the same again. A random
 * walk (random_walk_learner.h) has a state of the same kind, without moments and batches. Held by
 * tests/unit/model/test_comeback.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_LEARNER_STATE_H
#define HEARSAY_MODEL_TRAINING_LEARNER_STATE_H

#include <stddef.h>
#include <stdint.h>

#define LEARNER_MOMENTS_MAX 2

struct learner_state {
    size_t first;                       /* index of its first entry in the learner; 0 if whole */
    size_t parameters;                  /* P: number of entries from there on */
    int32_t *base;                      /* [P], in units of QUANTUM */
    float *weights;                     /* [P] */
    uint32_t moments;                   /* vectors of the optimizer; 0 = it does not train */
    float *moment[LEARNER_MOMENTS_MAX]; /* [moments][P] */
    uint64_t steps;                     /* number of steps in the moments */
    uint64_t samples;                   /* learned by this node */
    uint64_t swarm_samples;             /* learned by all nodes, as far as this one knows */
    uint64_t epoch;                     /* epoch of the next sample (batch.h) */
    uint32_t at;                        /* index of the next sample in its epoch */
    uint32_t batch;                     /* samples per step; 0 = unknown */
    uint64_t random_walk;               /* generator of a random walk; 0 for a learner */
    float *average;           /* [P] averaged base, in its own memory; NULL = not wanted */
    uint64_t average_samples; /* the swarm's samples at the last addition; 0 = no average */
};

/* Bytes of the two vectors and the moments, for one allocation. */
size_t learner_state_bytes(size_t parameters, uint32_t moments);

/* The vectors lie in memory (of learner_state_bytes, aligned for floats), which stays the caller's
 * and is not written to. The numbers are 0. moments <= LEARNER_MOMENTS_MAX. Later `parameters` may
 * be made less. */
void learner_state_init(struct learner_state *state, void *memory, size_t parameters,
                        uint32_t moments);

#endif
