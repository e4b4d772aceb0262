/* The learner of a simulated node: the real learner, or a random walk.
 *
 * Both hold a real replica and cut real updates from its residual. Progress comes from gradients of
 * a model, or from a random generator (training/random_walk_learner.h) if only the exchange is of
 * interest.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_LEARNER_H
#define HEARSAY_SIM_WORLD_SIM_LEARNER_H

#include "executor/executor.h"
#include "training/learner.h"
#include "training/random_walk_learner.h"

struct sim_learner {
    struct learner *learner;         /* NULL = a random walk */
    struct random_walk *random_walk; /* NULL = a real learner */
    uint64_t swarm_samples; /* random walk: highest reported number of samples of the whole swarm */
    size_t parameters;
    bool is_accounted;     /* the random walk keeps account of its progress and publications */
    struct arena arena;    /* memory of the learner, freed with it */
    bool has_changed;      /* the base may have changed since `digest` was computed */
    uint64_t digest;       /* last computed digest of the base; 0 = none */
    double gradient_cpu_s; /* processor time spent in a real learner's steps */
};

/* make: creates node i's learner with the swarm's first weights, as at the start of a process. */
struct sim_learner_maker {
    void *self;
    void (*make)(void *self, uint32_t i, struct sim_learner *sim_learner);
};

static inline bool sim_learner_exists(const struct sim_learner *sim_learner)
{
    return sim_learner->learner || sim_learner->random_walk;
}

/* Makes one step of the learner. The caller must count the step's samples. */
void sim_learner_step(struct sim_learner *sim_learner);
/* Returns the samples per step; 0 for a random walk. */
uint32_t sim_learner_batch(const struct sim_learner *sim_learner);
void sim_learner_set_batch(struct sim_learner *sim_learner, uint32_t batch);
/* Returns the executor that performs the node's orders on this learner. units: buffer for a READ
 * order; NULL = no READ follows. */
struct executor sim_learner_executor(struct sim_learner *sim_learner, int32_t *units);
/* Save and restore the state, whole or in parts (learner.h). A random walk has 0 moments. */
uint32_t sim_learner_moments(const struct sim_learner *sim_learner);
void sim_learner_save(const struct sim_learner *sim_learner, struct learner_state *state);
void sim_learner_restore(struct sim_learner *sim_learner, const struct learner_state *state);
void sim_learner_replay(struct sim_learner *sim_learner, const struct snapshot_record *record);

size_t sim_learner_parameters(const struct sim_learner *sim_learner);
/* Return the digest of the base. sim_learner_digest computes it only if the base has changed;
 * sim_learner_digest_now always computes it. */
uint64_t sim_learner_digest(struct sim_learner *sim_learner);
uint64_t sim_learner_digest_now(struct sim_learner *sim_learner);
bool sim_learner_digest_is_cheap(const struct sim_learner *sim_learner);

/* Copy the base to host[P], as integers, or as floats, which only a real learner does. */
void sim_learner_read_units(const struct sim_learner *sim_learner, int32_t *host);
void sim_learner_read_base(const struct sim_learner *sim_learner, float *host);
/* Copy the weights to and from host[P]. */
void sim_learner_read_weights(const struct sim_learner *sim_learner, float *host);
void sim_learner_write_weights(struct sim_learner *sim_learner, const float *host);

/* Returns 0 if a random walk's account is balanced (published + residual = progress) or not kept.
 * Otherwise returns the error divided by the error that rounding may cause. */
double sim_learner_account_error(const struct sim_learner *sim_learner);

void sim_learner_free(struct sim_learner *sim_learner);

/* Returns the processor time of this process. */
double sim_learner_cpu_s(void);

#endif
