/* What learns in a simulated node: the real learner, or a random walk.
 *
 * Both hold a real replica and cut real updates from its residual; they differ in where progress
 * comes from: gradients of a model, or numbers from a generator (training/random_walk_learner.h),
 * where only the exchange is of interest. A random walk keeps account of what it produced and
 * published.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_LEARNER_H
#define HEARSAY_SIM_WORLD_SIM_LEARNER_H

#include "executor/executor.h"
#include "training/learner.h"
#include "training/random_walk_learner.h"

struct sim_learner {
    struct learner *learner;         /* a real learner; or NULL */
    struct random_walk *random_walk; /* a random walk; or NULL */
    uint64_t swarm_samples;          /* of a random walk: learned by all, as it was last told */
    size_t parameters;               /* of the base */
    bool is_accounted;               /* the random walk keeps its account */
    struct arena arena;              /* its own: given back with it */
    bool has_changed;                /* since the digest was computed */
    uint64_t digest;                 /* of the base, as computed last */
    double gradient_cpu_s;           /* processor time spent in steps of the learner */
};

/* Makes the learner of node i, as at the birth of a process: from b0. */
struct sim_learner_maker {
    void *self;
    void (*make)(void *self, uint32_t i, struct sim_learner *sim_learner);
};

static inline bool sim_learner_exists(const struct sim_learner *sim_learner)
{
    return sim_learner->learner || sim_learner->random_walk;
}

/* One local step. Its samples are the caller's to count: of a learner, sim_learner_batch at this
 * time. */
void sim_learner_step(struct sim_learner *sim_learner);
/* Of a learner; a random walk has no batch. */
uint32_t sim_learner_batch(const struct sim_learner *sim_learner); /* 0: it has none */
void sim_learner_set_batch(struct sim_learner *sim_learner, uint32_t batch);
/* How an executor talks to it. */
struct executor sim_learner_executor(struct sim_learner *sim_learner, int32_t *units);
/* All that it is, and back, whole or in parts (learner.h). A learner has moments, a random walk has
 * none. */
uint32_t sim_learner_moments(const struct sim_learner *sim_learner);
void sim_learner_save(const struct sim_learner *sim_learner, struct learner_state *state);
void sim_learner_restore(struct sim_learner *sim_learner, const struct learner_state *state);
void sim_learner_replay(struct sim_learner *sim_learner, const struct snapshot_record *record);

size_t sim_learner_parameters(const struct sim_learner *sim_learner);
/* Of the base as it was after the last publication or application; _now: as it lies in memory. */
uint64_t sim_learner_digest(struct sim_learner *sim_learner);
uint64_t sim_learner_digest_now(struct sim_learner *sim_learner);
bool sim_learner_digest_is_cheap(const struct sim_learner *sim_learner);

/* host[P]: the base as integers, and as numbers. */
void sim_learner_read_units(const struct sim_learner *sim_learner, int32_t *host);
void sim_learner_read_base(const struct sim_learner *sim_learner, float *host);
/* host[P]: the weights, and back. */
void sim_learner_read_weights(const struct sim_learner *sim_learner, float *host);
void sim_learner_write_weights(struct sim_learner *sim_learner, const float *host);

/* 0 while "published + residual = produced" holds, and where that is not kept; else how far it is
 * from true, over its bound. */
double sim_learner_account_error(const struct sim_learner *sim_learner);

void sim_learner_free(struct sim_learner *sim_learner);

/* Processor time of this process. */
double sim_learner_cpu_s(void);

#endif
