/* What learns in a simulated node: the real learner, or one that only wanders.
 *
 * Both hold a real replica and cut real updates from its residual; they differ in where progress
 * comes from: gradients of a model, or numbers from a generator (wander.h), where only the
 * exchange is of interest. A wandering mind keeps account of what it produced and told.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_LEARNER_H
#define HEARSAY_SIM_WORLD_SIM_LEARNER_H

#include "training/learner.h"
#include "training/random_walk_learner.h"

struct sim_learner {
    struct learner *learner; /* one of the two */
    struct random_walk *random_walk;
    size_t parameters;
    bool is_accounted;  /* the wanderer keeps its account */
    struct arena arena; /* its own: given back with it */
    bool has_changed;   /* since the digest was computed */
    uint64_t digest;
    double gradient_cpu_s; /* time of this process spent in steps of the learner */
};

/* Makes the mind of node i, as at the birth of a process: from b0. */
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
/* Of a learner; nothing to a wanderer, which has no batch and no schedule. */
uint32_t sim_learner_batch(const struct sim_learner *sim_learner); /* 0: it has none */
void sim_learner_set_batch(struct sim_learner *sim_learner, uint32_t batch);
void sim_learner_follow(struct sim_learner *sim_learner, uint64_t swarm_samples);
const struct update *sim_learner_publish(struct sim_learner *sim_learner,
                                         const struct publish_terms *terms);
void sim_learner_apply(struct sim_learner *sim_learner, const struct update *update);
void sim_learner_apply_own(struct sim_learner *sim_learner, const struct update *update);
void sim_learner_read_block(const struct sim_learner *sim_learner, size_t first, size_t count,
                            int32_t *host);
void sim_learner_write_block(struct sim_learner *sim_learner, size_t first, size_t count,
                             const int32_t *host, bool keep_weights);

/* All that it is, and back. A learner has moments, a wanderer has none. */
uint32_t sim_learner_moments(const struct sim_learner *sim_learner);
void sim_learner_save(const struct sim_learner *sim_learner, struct learner_state *state);
void sim_learner_restore(struct sim_learner *sim_learner, const struct learner_state *state);

size_t sim_learner_parameters(const struct sim_learner *sim_learner);
/* Of the base as it was after the last telling or hearing; _now: as it lies in memory. */
uint64_t sim_learner_digest(struct sim_learner *sim_learner);
uint64_t sim_learner_digest_now(struct sim_learner *sim_learner);
bool sim_learner_digest_is_cheap(const struct sim_learner *sim_learner);

/* host[P]: the base as integers, and as numbers. */
void sim_learner_read_units(const struct sim_learner *sim_learner, int32_t *host);
void sim_learner_read_base(const struct sim_learner *sim_learner, float *host);

/* 0 while "told + residual = produced" holds, and where that is not kept; else how far it is from
 * true, over its bound. */
double sim_learner_account_error(const struct sim_learner *sim_learner);

void sim_learner_free(struct sim_learner *sim_learner);

/* Processor time of this process. */
double sim_learner_cpu_s(void);

#endif
