/* The learner of a simulated node: the real learner, or a random walk.
 *
 * Both hold a real replica and cut real updates from its residual. Progress comes from gradients of
 * a model, or from a random generator (training/random_walk_learner.h) if only the exchange is of
 * interest. A random walk keeps account of what it produced and published.
 */
#ifndef HEARSAY_SIM_WORLD_SIM_LEARNER_H
#define HEARSAY_SIM_WORLD_SIM_LEARNER_H

#include "executor/executor.h"
#include "training/learner.h"
#include "training/random_walk_learner.h"

struct sim_learner {
    struct learner *learner;         /* the real learner; NULL = a random walk */
    struct random_walk *random_walk; /* the random walk; NULL = a real learner */
    uint64_t swarm_samples; /* random walk: last reported number of samples of the whole swarm */
    size_t parameters;      /* number of parameters of the base */
    bool is_accounted;      /* the random walk keeps account of what it produced and published */
    struct arena arena;     /* memory of the learner, freed with it */
    bool has_changed;       /* the base has changed since the digest was computed */
    uint64_t digest;        /* digest of the base when it was last computed */
    double gradient_cpu_s;  /* processor time spent in the learner's steps */
};

/* Makes learners. make: creates the learner of node i with the first weights b0, as at the start of
 * a process. */
struct sim_learner_maker {
    void *self;
    void (*make)(void *self, uint32_t i, struct sim_learner *sim_learner);
};

static inline bool sim_learner_exists(const struct sim_learner *sim_learner)
{
    return sim_learner->learner || sim_learner->random_walk;
}

/* Makes one local step of sim_learner_batch samples, which the caller counts. */
void sim_learner_step(struct sim_learner *sim_learner);
/* Returns the batch of the learner; 0 for a random walk, which has none. */
uint32_t sim_learner_batch(const struct sim_learner *sim_learner);
void sim_learner_set_batch(struct sim_learner *sim_learner, uint32_t batch);
/* Returns the executor that performs the node's orders on this learner. units: buffer that a
 * READ order fills. */
struct executor sim_learner_executor(struct sim_learner *sim_learner, int32_t *units);
/* Save and restore the learner's state, whole or in parts (learner.h). sim_learner_moments returns
 * the number of moments; 0 for a random walk. */
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

/* Copy the base to host[P], as integers or as floats. */
void sim_learner_read_units(const struct sim_learner *sim_learner, int32_t *host);
void sim_learner_read_base(const struct sim_learner *sim_learner, float *host);
/* Copy the weights to and from host[P]. */
void sim_learner_read_weights(const struct sim_learner *sim_learner, float *host);
void sim_learner_write_weights(struct sim_learner *sim_learner, const float *host);

/* Returns 0 if the random walk's account is balanced (published + residual = produced) or not kept.
 * Otherwise returns the error relative to its bound. */
double sim_learner_account_error(const struct sim_learner *sim_learner);

void sim_learner_free(struct sim_learner *sim_learner);

/* Returns the processor time that this process has used, in seconds. */
double sim_learner_cpu_s(void);

#endif
