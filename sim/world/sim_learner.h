/* What learns in a simulated node: the real learner, or one that only wanders.
 *
 * Both hold a real replica and cut real updates from its residual; they differ in where progress
 * comes from: gradients of a model, or numbers from a generator (wander.h), where only the
 * exchange is of interest. A wandering mind keeps account of what it produced and told.
 */
#ifndef HEARSAY_MIND_H
#define HEARSAY_MIND_H

#include "training/learner.h"
#include "training/random_walk_learner.h"

struct mind {
    struct learner *learner; /* one of the two */
    struct wander *wander;
    size_t parameters;
    bool is_accounted;  /* the wanderer keeps its account */
    struct arena arena; /* its own: given back with it */
    bool has_changed;   /* since the digest was computed */
    uint64_t digest;
    double gradient_cpu_s; /* time of this process spent in steps of the learner */
};

/* Makes the mind of node i, as at the birth of a process: from b0. */
struct mind_maker {
    void *self;
    void (*make)(void *self, uint32_t i, struct mind *mind);
};

static inline bool mind_exists(const struct mind *mind)
{
    return mind->learner || mind->wander;
}

/* One local step. Its samples are the caller's to count: of a learner, mind_batch at this time. */
void mind_step(struct mind *mind);
/* Of a learner; nothing to a wanderer, which has no batch and no schedule. */
uint32_t mind_batch(const struct mind *mind); /* 0: it has none */
void mind_set_batch(struct mind *mind, uint32_t batch);
void mind_follow(struct mind *mind, uint64_t swarm_samples);
const struct update *mind_tell(struct mind *mind, const struct tell *tell);
void mind_hear(struct mind *mind, const struct update *update);
void mind_hear_own(struct mind *mind, const struct update *update);
void mind_read_block(const struct mind *mind, size_t first, size_t count, int32_t *host);
void mind_write_block(struct mind *mind, size_t first, size_t count, const int32_t *host,
                      bool keep_weights);

/* All that it is, and back. A learner has moments, a wanderer has none. */
uint32_t mind_moments(const struct mind *mind);
void mind_save(const struct mind *mind, struct learner_state *state);
void mind_restore(struct mind *mind, const struct learner_state *state);

size_t mind_parameters(const struct mind *mind);
/* Of the base as it was after the last telling or hearing; _now: as it lies in memory. */
uint64_t mind_digest(struct mind *mind);
uint64_t mind_digest_now(struct mind *mind);
bool mind_digest_is_cheap(const struct mind *mind);

/* host[P]: the base as integers, and as numbers. */
void mind_read_units(const struct mind *mind, int32_t *host);
void mind_read_base(const struct mind *mind, float *host);

/* 0 while "told + residual = produced" holds, and where that is not kept; else how far it is from
 * true, over its bound. */
double mind_account_error(const struct mind *mind);

void mind_free(struct mind *mind);

/* Processor time of this process. */
double mind_cpu_s(void);

#endif
