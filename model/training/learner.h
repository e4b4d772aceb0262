/* The learner: trains a replica on this node's data, between publications and hearings.
 *
 *   dataset ─► batch ─► forward, backward ─► optimizer ─► weights ─┐
 *                                                                  ├─ replica: tell ─► update
 *                                           update ─► replica: hear┘
 *
 * Single-threaded; no sockets, no clock, no files. All it does between two calls is nothing:
 * whoever owns it decides when a step is made, when it tells and when it hears.
 *
 * Weights, base, gradients, momentum and samples are the learner's own; model and backend are
 * lent. So many learners in one thread may share one model and one backend, each used between the
 * others' calls, and each learns, bit for bit, as it would with its own
 * (tests/unit/model/test_evaluator.c).
 */
#ifndef HEARSAY_MODEL_TRAINING_LEARNER_H
#define HEARSAY_MODEL_TRAINING_LEARNER_H

#include <stdint.h>

#include "base/arena.h"
#include "data/batch.h"
#include "data/dataset.h"
#include "training/evaluator.h"
#include "layers/model.h"
#include "training/optimizer.h"
#include "exchange/replica.h"

struct learner_options {
    struct optimizer optimizer;
    uint32_t batch;      /* samples per step, <= the model's batch_max ... */
    uint32_t batch_max;  /* ... to begin with: learner_set_batch may go up to here; 0: it stays */
    uint64_t model_seed; /* draws b0 ... */
    const float *start;  /* ... unless it is given: [P], for learner_new; or NULL */
    uint64_t data_seed;  /* the order of the samples ... */
    uint64_t data_node;  /* ... on this node */
    uint32_t test_from;  /* which of the test samples evaluate looks at */
    uint32_t test_to;
    uint32_t density_max; /* entries per telling at most */
};

struct learner;

/* train and test may be NULL: no steps, no evaluation (a swarm in one thread has one exam for
 * all). Their bytes are copied to the backend; the datasets can be freed afterwards. */
struct learner *learner_new(struct arena *arena, struct backend *backend, struct model *model,
                            const struct dataset *train, const struct dataset *test,
                            const struct learner_options *options);

bool learner_can_step(const struct learner *learner);
/* Returns how many samples it had. On a GPU it may still be at work on the last few. */
uint32_t learner_step(struct learner *learner);

/* What the steps since the last call have lost in all, each sample added. It waits for them. */
double learner_losses(struct learner *learner);

/* Samples per step from now on: only where the options have a batch_max, and up to that. */
void learner_set_batch(struct learner *learner, uint32_t batch);
uint32_t learner_batch(const struct learner *learner);

/* The swarm has learned so many samples in all: the schedule of the learning rate counts those, so
 * that all nodes slow down together, and who joins begins where the others are. Each telling says
 * this, too. In between it goes on with this learner's own samples, and it never goes back; so it
 * lags by what all learn between two publications and while rumors travel
 * (tests/world/test_rate_schedule.c). Alone, it is the learner's own samples. */
void learner_follow(struct learner *learner, uint64_t swarm_samples);
uint64_t learner_swarm_samples(const struct learner *learner);

/* The update is the learner's, valid until the next telling. */
const struct update *learner_publish(struct learner *learner, const struct publish_terms *terms);
void learner_apply(struct learner *learner, const struct update *update);
/* What an earlier life of this node told after the state it was restored from (replica.h). */
void learner_apply_own(struct learner *learner, const struct update *update);

/* How good the base is (not the weights): over the test samples chosen in the options, or all. */
struct evaluation learner_evaluate(struct learner *learner, bool all);

/* The samples that it trains on are too many for its device, and are fetched from the host. */
bool learner_reads_far(const struct learner *learner);

uint64_t learner_digest(const struct learner *learner);
size_t learner_parameters(const struct learner *learner);
uint64_t learner_samples(const struct learner *learner);

/* host[P]: QUANTUM·base; the base in units; the weights. Writing the weights leaves the base as it
 * is, so the residual follows; the optimizer's momentum stays too.
 *
 * An account of a learner can be kept from outside, per entry and in doubles, to rounding:
 *     produced = told + (weights - QUANTUM·units)
 * where produced grows by what each step (or write) did to the weights, and at each telling by
 * beta·QUANTUM·(units now - units at the telling before), both as read just before the telling;
 * told grows by tau·level; hearing adds to neither (tests/unit/model/test_random_walk_learner.c;
 * wander.h has a bound). Hearing its own earlier life adds what it charges to the residual to told;
 * a block written with keep_weights, the change of the residual to produced. */
void learner_read_base(const struct learner *learner, float *host);
void learner_read_units(const struct learner *learner, int32_t *host);
void learner_read_weights(const struct learner *learner, float *host);
void learner_write_weights(struct learner *learner, const float *host);

/* A part of the base, in units, and a part that becomes host[count] (replica.h). */
void learner_read_block(const struct learner *learner, size_t first, size_t count, int32_t *host);
void learner_write_block(struct learner *learner, size_t first, size_t count, const int32_t *host,
                         bool keep_weights);

/* All that it is now, and back: what is restored goes on bit for bit as what was saved would have
 * (tests/unit/model/test_comeback.c). The state has learner_moments. Saving takes as long as
 * copying its vectors (tests/bench/bench_checkpoint.c). */
uint32_t learner_moments(const struct learner *learner); /* of its optimizer; 0: it cannot step */
void learner_save(const struct learner *learner, struct learner_state *state);
void learner_restore(struct learner *learner, const struct learner_state *state);

void learner_free(struct learner *learner);

#endif
