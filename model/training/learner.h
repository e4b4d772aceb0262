/* The learner: trains a replica on this node's data, and publishes and applies updates in between.
 *
 *   dataset ─► batch ─► forward, backward ─► optimizer ─► weights ─┐
 *                                                                  ├─ replica: publish ─► update
 *                                        update ─► replica: apply ─┘
 *
 * Single-threaded, except for learner_read_block; no sockets, no clock, no files. The caller
 * decides when to step, publish and apply, and owns model and backend. Learners in one thread may
 * share a model and a backend: each learns, bit for bit, as with its own
 * (tests/unit/model/test_evaluator.c).
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
    uint32_t batch; /* samples per step at the start */
    /* number of parts of a step, each at most the model's batch_max; 0 = 1 */
    uint32_t micro_batches;
    struct team *team;     /* devices of the learner, not owned; NULL = one device */
    float label_smoothing; /* part of each label that is spread over all classes, 0 .. 1 */
    uint32_t batch_max;    /* upper bound for learner_set_batch; 0 = fixed batch */
    uint64_t model_seed;   /* seed of the initial weights if `start` is NULL */
    const float *start;    /* [P] initial weights, read only by learner_new; NULL = drawn */
    bool companded;        /* the base is companded (companding.h) */
    size_t parameters;     /* P if there is no model, otherwise ignored */
    /* [statistics_count] entries that are running statistics if there is no model, otherwise
     * ignored; read only by learner_new */
    const struct entry_range *statistics;
    uint32_t statistics_count;
    uint64_t data_seed; /* seed of the order of samples, together with data_node */
    uint64_t data_node; /* differs between nodes, so that they visit samples in different orders */
    struct augment_options augment;
    uint32_t test_from;   /* first test sample of learner_evaluate(learner, false) */
    uint32_t test_to;     /* index after the last test sample of learner_evaluate(learner, false) */
    uint32_t density_max; /* largest number of entries in a publication */
    bool holds;           /* publications may withhold progress (replica.h) */
    bool averages;        /* the learner keeps an average of the base (base_average.h) */
};

struct learner;

#define LEARNER_TENSOR 96 /* bytes of a tensor's name */

/* Copies train and test to the backend. Without `train` the learner makes no steps; without `test`
 * it makes no evaluations. model may be NULL if train and test are NULL and the options have
 * `start` and `parameters`; then the caller moves the weights (learner_weights). */
struct learner *learner_new(struct arena *arena, struct backend *backend, struct model *model,
                            const struct dataset *train, const struct dataset *test,
                            const struct learner_options *options);

/* Allocates the scratch buffers that the largest step, evaluation and publication need on the first
 * device. So that device, if its memory is too small, fails at the start, not hours later. Call it
 * before the first step. Does nothing on the CPU. */
void learner_reserve(struct learner *learner);

const struct model *learner_model(const struct learner *learner);
bool learner_can_step(const struct learner *learner);

/* Makes one step and returns its number of samples. A GPU may still be computing the last few steps
 * (step_time.h). */
uint32_t learner_step(struct learner *learner);

/* The next three functions are only for learners without a model. learner_weights returns the
 * weights, which the caller moves. learner_place_weights moves them into the caller's memory
 * (replica_place_weights). learner_count counts the samples of a step that the caller made. */
float *learner_weights(struct learner *learner);
void learner_place_weights(struct learner *learner, struct weights places);
void learner_count(struct learner *learner, uint64_t samples);

/* First half of a step: computes the step's gradient into host[P]. Until the second half
 * (learner_descend or learner_descend_plainly), call only functions that do not change the
 * learner. */
void learner_gradient(struct learner *learner, float *host);

/* Second half of a step: the optimizer moves the weights by the gradient host[P]. Returns the
 * number of samples. Both halves with the same host[P] equal learner_step, bit for bit
 * (tests/unit/model/test_learner.c). */
uint32_t learner_descend(struct learner *learner, const float *host);

/* Second half of a step by plain SGD: weights −= scheduled rate · host[P]. Overwrites the
 * optimizer's first moment. Running statistics of normalisation layers move as in learner_step.
 * Returns the number of samples. */
uint32_t learner_descend_plainly(struct learner *learner, const float *host);

/* Returns the free and total memory of the device; its total is 0 on the CPU. */
struct device_memory learner_memory(const struct learner *learner);

/* Waits for all steps. Returns the sum of the losses of all samples learned since the last call.
 * The loss of a sequence is the mean over its positions. */
double learner_losses(struct learner *learner);

/* Sets the factor on the scheduled learning rate of all later steps. It is 1 in a new learner and
 * is not saved. */
void learner_scale_rate(struct learner *learner, double factor);

/* Sets the samples per step: 1 .. options.batch_max, which must not be 0. */
void learner_set_batch(struct learner *learner, uint32_t batch);
uint32_t learner_batch(const struct learner *learner);

/* Raises the number of samples that the swarm has learned, which learning-rate schedules use. A
 * smaller number has no effect. Publications also raise it, and this learner's steps add to it. */
void learner_follow(struct learner *learner, uint64_t swarm_samples);

/* Sets the effective number of nodes that train, at least 1, which learning-rate schedules use.
 * Publications also set it. It is 1 in a new learner and is not saved. */
void learner_count_learners(struct learner *learner, double learners);
uint64_t learner_swarm_samples(const struct learner *learner);

/* Publishes as replica_publish does; the update is valid until the next publication. If a residual
 * is NaN or infinite, the learner has diverged: it publishes nothing, resets the weights to the
 * base, and clears the optimizer's moments. Unpublished progress is then lost. */
const struct update *learner_publish(struct learner *learner, const struct publish_terms *terms);

/* Resets of a diverged learner to the base, and the entry that caused the last one. */
struct learner_resets {
    uint32_t count;
    size_t entry;                /* index of the weight that was NaN or infinite */
    char tensor[LEARNER_TENSOR]; /* tensor of that weight; "entry N" without a model; "" = none */
};
const struct learner_resets *learner_resets(const struct learner *learner);

/* Sets the weights to the base. Unpublished progress is lost. */
void learner_revert(struct learner *learner);

/* Returns the number of running statistics among the weights (exchange/statistics.h). */
size_t learner_statistics(const struct learner *learner);
/* Sets the trained statistics to base + residual (replica_reset_statistics). */
void learner_reset_statistics(struct learner *learner);

/* Entries that were saturated at the last publication: their values are too large to publish, so
 * their progress stays in this learner's weights (error_feedback.h). */
struct learner_saturation {
    uint64_t entries;            /* number of saturated entries */
    uint64_t first;              /* index of the first saturated entry at the first saturation */
    char tensor[LEARNER_TENSOR]; /* tensor of `first`; "entry N" without a model; "" = none yet */
};
const struct learner_saturation *learner_saturation(const struct learner *learner);

void learner_apply(struct learner *learner, const struct update *update, float beta);
double learner_agreement(const struct learner *learner, const struct update *update);
void learner_apply_own(struct learner *learner, const struct update *update, float beta);

/* Returns the number of test samples that learner_evaluate uses with the same `all`; 0 = the
 * learner makes no evaluations. */
uint32_t learner_tests(const struct learner *learner, bool all);
/* Evaluates the base (not the weights): on all test samples if `all`, otherwise on samples
 * options->test_from .. test_to-1. Returns zeros if the learner makes no evaluations. */
struct evaluation learner_evaluate(struct learner *learner, bool all);

/* Evaluates the base with all these updates but the first `tried` ones, and then with all, on
 * samples options->test_from .. test_to-1. Changes neither base nor weights. */
struct base_trial learner_trial(struct learner *learner, const struct update *updates,
                                uint32_t count, uint32_t tried);

/* Evaluates the averaged base as learner_evaluate does. Returns zeros if there is none. */
struct evaluation learner_evaluate_average(struct learner *learner, bool all);

/* Adds the base to the averaged base (base_average_add). Publications also do. No effect if the
 * learner keeps none. */
void learner_add_to_average(struct learner *learner, uint64_t swarm_samples);

/* Returns the averaged base [P]; NULL if it is empty or not kept. */
const float *learner_average(const struct learner *learner);

/* Restores a saved averaged base (base_average_set). No effect if the learner keeps none. */
void learner_set_average(struct learner *learner, const float *mean, uint64_t samples);

/* Returns true if a device reads the training samples from the host for lack of memory. */
bool learner_reads_far(const struct learner *learner);

uint64_t learner_digest(const struct learner *learner);
size_t learner_parameters(const struct learner *learner);
uint64_t learner_samples(const struct learner *learner);

/* These functions work like replica_read_base, replica_read_units and so on (replica.h).
 * learner_read_block may be called on another thread, even while learner_step or learner_evaluate
 * runs. Writing weights does not change the optimizer's momentum. learner_write_block also empties
 * the averaged base. random_walk_learner.h gives the equation that error feedback keeps for each
 * entry: produced = published + (weights - QUANTUM·units) + withheld. */
void learner_read_base(const struct learner *learner, float *host);
void learner_read_units(const struct learner *learner, int32_t *host);
void learner_read_weights(const struct learner *learner, float *host);
void learner_write_weights(struct learner *learner, const float *host);
void learner_read_block(const struct learner *learner, size_t first, size_t count, int32_t *host);
void learner_write_block(struct learner *learner, size_t first, size_t count, const int32_t *host,
                         bool keep_weights);

/* Returns the optimizer's number of moment vectors; 0 if the learner makes no steps. */
uint32_t learner_moments(const struct learner *learner);

/* learner_save copies the learner, or the entries that the state names, to the state;
 * learner_restore copies them back, except the averaged base (learner_set_average). A restored
 * learner continues bit for bit (tests/unit/model/test_comeback.c), except for learner_scale_rate,
 * learner_count_learners and what replica_restore drops. To restore a learner that was saved in
 * parts, pass each record to learner_replay, then a state without entries to learner_restore. */
void learner_save(const struct learner *learner, struct learner_state *state);
void learner_restore(struct learner *learner, const struct learner_state *state);
void learner_replay(struct learner *learner, const struct snapshot_record *record);

void learner_free(struct learner *learner);

#endif
