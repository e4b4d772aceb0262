/* The state of a learner at one moment, or some entries of it, in host memory: enough to continue
 * training bit for bit, except for withheld progress and the residuals of statistics (replica.h).
 *
 *   learner ── save: copies only ──► learner_state ──► snapshot.h, checkpoint.h
 *   learner ◄─────── restore ─────── learner_state ◄──
 *
 * The struct also carries the averaged base (base_average.h), which is saved to another file.
 *
 * Restore a state only into a learner with the same model, data and options. A random walk
 * (random_walk_learner.h) also saves to this struct, without moments and batches. Tests:
 * tests/unit/model/test_comeback.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_LEARNER_STATE_H
#define HEARSAY_MODEL_EXCHANGE_LEARNER_STATE_H

#include <stddef.h>
#include <stdint.h>

#define LEARNER_MOMENTS_MAX 2

struct learner_state {
    size_t first;      /* index of the first entry in this state; 0 for a complete learner */
    size_t parameters; /* P: number of entries in this state */
    int32_t *base;     /* [P] base, in units of QUANTUM */
    float *weights;    /* [P] */
    uint32_t moments; /* number of the optimizer's moment vectors; 0 = the learner makes no steps */
    float *moment[LEARNER_MOMENTS_MAX]; /* [moments][P] */
    uint64_t steps;                     /* steps since the moments were zero */
    uint64_t samples;                   /* samples learned by this node */
    uint64_t swarm_samples;   /* samples learned by all nodes, as far as this node knows */
    uint64_t epoch;           /* epoch of the next sample (batch.h) */
    uint32_t at;              /* index of the next sample in its epoch */
    uint32_t batch;           /* samples per step; 0 = unknown */
    uint64_t random_walk;     /* state of a random walk's generator; 0 for a learner */
    float *average;           /* [P] averaged base, in a buffer of its own; NULL = not saved */
    uint64_t average_samples; /* swarm_samples at the last addition to `average`; 0 = none */
};

/* Returns the bytes that learner_state_init needs for base, weights and moments. */
size_t learner_state_bytes(size_t parameters, uint32_t moments);

/* Sets the counters to zero and points the vectors into `memory`, without writing to it. The memory
 * has learner_state_bytes, is aligned for floats and still belongs to the caller. moments <=
 * LEARNER_MOMENTS_MAX. The caller may lower state->parameters later. */
void learner_state_init(struct learner_state *state, void *memory, size_t parameters,
                        uint32_t moments);

#endif
