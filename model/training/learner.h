/* The learner: trains a replica on this node's data, and publishes and applies updates in between.
 *
 *   dataset ─► batch ─► forward, backward ─► optimizer ─► weights ─┐
 *                                                                  ├─ replica: publish ─► update
 *                                        update ─► replica: apply ─┘
 *
 * Single-threaded; no sockets, no clock, no files. Its owner decides when to step, publish, apply.
 * Weights, base, gradients, momentum and samples are the learner's own; model and backend are lent.
 * Many learners in one thread may share a model and a backend, each used between the others' calls,
 * and each learns, bit for bit, as it would with its own (tests/unit/model/test_evaluator.c).
 */
#ifndef HEARSAY_MODEL_TRAINING_LEARNER_H
#define HEARSAY_MODEL_TRAINING_LEARNER_H

#include <stdint.h>

#include "base/arena.h"
#include "data/augment.h"
#include "data/batch.h"
#include "data/dataset.h"
#include "exchange/replica.h"
#include "layers/model.h"
#include "training/evaluator.h"
#include "training/optimizer.h"
#include "training/snapshot.h"

struct learner_options {
    struct optimizer optimizer;
    uint32_t batch;                 /* samples per step at first */
    uint32_t micro_batches;         /* parts of a step, <= the model's batch_max each; 0: one */
    struct team *team;              /* lent; its other devices compute some parts; or NULL */
    float label_smoothing;          /* label smoothing (backend.h) */
    uint32_t batch_max;             /* upper bound for learner_set_batch; 0 = fixed batch */
    uint64_t model_seed;            /* seed of b0 if start is NULL */
    const float *start;             /* [P] b0, read by learner_new only; or NULL */
    bool companded;                 /* the base is companded (companding.h) */
    size_t parameters;              /* P if there is no model */
    uint64_t data_seed;             /* seed of the order of samples, with data_node */
    uint64_t data_node;             /* differs from node to node */
    struct augment_options augment; /* augmentation of training images */
    uint32_t test_from;             /* first test sample of learner_evaluate */
    uint32_t test_to;               /* end of those test samples */
    uint32_t density_max;           /* largest number of entries in a publication */
    bool holds;                     /* publications may withhold (replica.h) */
    bool averages;                  /* an average of the base is kept (base_average.h) */
};

struct learner;

#define LEARNER_TENSOR 96 /* bytes of a tensor's name */

/* Copies train and test to the backend; each may be NULL: no steps, no evaluation. model may be
 * NULL with a start and neither of them: then the caller moves the weights (learner_weights). */
struct learner *learner_new(struct arena *arena, struct backend *backend, struct model *model,
                            const struct dataset *train, const struct dataset *test,
                            const struct learner_options *options);

/* Takes the scratch buffers of the largest step, evaluation and publication now, by computing one
 * of each whose results are dropped: a device that is too small fails at the start, and not hours
 * later. Before the first step. Does nothing on the CPU. */
void learner_reserve(struct learner *learner);

const struct model *learner_model(const struct learner *learner);
bool learner_can_step(const struct learner *learner);
/* Makes one step and returns its samples. A GPU may still compute the last few: step_time.h. */
uint32_t learner_step(struct learner *learner);

/* Without a model: the weights, which the caller moves, here or in memory of the caller's
 * (replica.h), and the samples of a step that the caller made. */
float *learner_weights(struct learner *learner);
void learner_place_weights(struct learner *learner, struct weights places);
void learner_count(struct learner *learner, uint64_t samples);

/* A step in two halves: the gradient of the next step into host[P], and the optimizer's step along
 * host[P], together bit for bit a whole step (tests/unit/model/test_learner.c). Between the two
 * only functions that read may be called. learner_descend_plainly ignores the optimizer and its
 * moments: weights −= scheduled rate · host[P]; the statistics of norms follow as in a step. */
void learner_gradient(struct learner *learner, float *host);
uint32_t learner_descend(struct learner *learner, const float *host);
uint32_t learner_descend_plainly(struct learner *learner, const float *host);

/* Memory of the device; total 0 on the CPU. */
struct device_memory learner_memory(const struct learner *learner);

/* Waits for the steps, and returns the sum of the losses of all samples since the last call; a
 * sequence counts its positions' mean. */
double learner_losses(struct learner *learner);

/* Multiplies the scheduled rate from now on; 1 in a new or restored learner. */
void learner_scale_rate(struct learner *learner, double factor);

/* Sets the samples of a step: 1 .. batch_max, where the options have a batch_max. */
void learner_set_batch(struct learner *learner, uint32_t batch);
uint32_t learner_batch(const struct learner *learner);

/* Raises the samples that the swarm has learned, which learning-rate schedules count. The number
 * never falls; publications set it as well, and own steps add to it
 * (tests/world/test_rate_schedule.c). */
void learner_follow(struct learner *learner, uint64_t swarm_samples);
uint64_t learner_swarm_samples(const struct learner *learner);

/* As replica.h; the update is the learner's, valid until the next publication. A learner with a
 * weight that is no number has diverged: it publishes nothing and resets to the base, with a fresh
 * optimizer, and what it had not published is lost. */
const struct update *learner_publish(struct learner *learner, const struct publish_terms *terms);
/* Returns the number of resets to the base, and the entry that caused the last one. */
struct learner_resets {
    uint32_t count;
    size_t entry;                /* index of the weight that was NaN */
    char tensor[LEARNER_TENSOR]; /* its tensor; "entry N" without a model; "" if there is none */
};
const struct learner_resets *learner_resets(const struct learner *learner);

/* Sets the weights to the base: what was not published is dropped. */
void learner_revert(struct learner *learner);

/* Entries that were saturated at the last publication (error_feedback.h): what was learned of them
 * stays here. */
struct learner_saturation {
    uint64_t entries;            /* number of entries; 0 = none */
    uint64_t first;              /* index of the first one since the learner was made */
    char tensor[LEARNER_TENSOR]; /* its tensor; "entry N" without a model; "" if there is none */
};
const struct learner_saturation *learner_saturation(const struct learner *learner);

void learner_apply(struct learner *learner, const struct update *update, float beta);
double learner_agreement(const struct learner *learner, const struct update *update);
void learner_apply_own(struct learner *learner, const struct update *update, float beta);

uint32_t learner_tests(const struct learner *learner); /* test samples; 0 = no evaluation */
/* Evaluates the base (not the weights) on the test samples of the options, or on all. */
struct evaluation learner_evaluate(struct learner *learner, bool all);
/* The same of the averaged base; samples 0: there is none. */
struct evaluation learner_evaluate_average(struct learner *learner, bool all);
/* The averaged base [P], to which publications add; NULL: none is kept, or it is empty. A saved one
 * is set with the samples of the swarm at its last addition; without effect where none is kept. */
const float *learner_average(const struct learner *learner);
void learner_set_average(struct learner *learner, const float *mean, uint64_t samples);

/* A device has no room for the training samples, and reads them from the host. */
bool learner_reads_far(const struct learner *learner);

uint64_t learner_digest(const struct learner *learner);
size_t learner_parameters(const struct learner *learner);
uint64_t learner_samples(const struct learner *learner);

/* As replica.h: learner_read_block may be called on another thread, also while learner_step or
 * learner_evaluate runs. The optimizer's momentum stays when weights are written. Error feedback
 * conserves, per entry and to rounding:
 *     produced = published + (weights - QUANTUM·units) + held
 * (held: replica.h; 0 where no publication held anything back). produced grows by what each step
 * (or write) did to the weights, and with each update, published or applied, by beta of what it
 * does to the base: beta·QUANTUM·amount·level. published grows by tau·level of each publication,
 * and by what learner_apply_own takes from the residual. A block written with keep_weights adds the
 * change of the residual to produced.
 * (tests/unit/model/test_random_walk_learner.c; random_walk_learner.h has a bound.) */
void learner_read_base(const struct learner *learner, float *host);
void learner_read_units(const struct learner *learner, int32_t *host);
void learner_read_weights(const struct learner *learner, float *host);
void learner_write_weights(struct learner *learner, const float *host);
void learner_read_block(const struct learner *learner, size_t first, size_t count, int32_t *host);
void learner_write_block(struct learner *learner, size_t first, size_t count, const int32_t *host,
                         bool keep_weights);

/* Copies the whole learner, out and back, or the entries of the state: a restored one continues bit
 * for bit (tests/unit/model/test_comeback.c), except for learner_scale_rate. One that was saved in
 * parts is restored with learner_replay, record by record, and then with a state of no entries. */
uint32_t learner_moments(const struct learner *learner); /* moment vectors; 0 = it cannot step */
void learner_save(const struct learner *learner, struct learner_state *state);
void learner_restore(struct learner *learner, const struct learner_state *state);
void learner_replay(struct learner *learner, const struct snapshot_record *record);

void learner_free(struct learner *learner);

#endif
