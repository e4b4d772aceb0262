/* An experiment: the parts that every strategy needs to play a scenario. It has the data, cut into
 * shards, one model and one evaluator for all nodes, learners on demand, and a watcher of the play.
 *
 *   scenario ─► experiment_open ─┬► experiment_learner(i): the learner of node i, like a daemon's
 *                                └► experiment_mark(weights): accuracy and loss
 *
 * Everything runs in one thread, so the learners share model, evaluator and backend (learner.h).
 */
#ifndef HEARSAY_SIM_EXPERIMENT_EXPERIMENT_H
#define HEARSAY_SIM_EXPERIMENT_EXPERIMENT_H

#include <stdio.h>

#include "config/setup.h"
#include "data/shards.h"
#include "experiment/outcome.h"
#include "training/guard.h"
#include "world/sim_learner.h"

struct experiment {
    const struct scenario *scenario;
    struct arena arena;
    struct backend *backend;
    struct dataset train;    /* training set; empty with made up updates */
    struct dataset test;     /* test set; empty with made up updates */
    struct shards shards;    /* one shard of the training set for each node */
    struct setup_model made; /* model that all nodes share */
    uint32_t batch; /* largest possible batch of a node; ideal: sum of all nodes' batches */
    struct evaluator *evaluator; /* evaluates on the test set; NULL with made up updates */
    float *weights;              /* [P] scratch buffer for evaluations; NULL with made up updates */
    struct guard guard;          /* watches the evaluated base */
    double evaluate_cpu_s;       /* processor time of evaluations so far */
    double begin_cpu_s;          /* processor time of the process when the experiment was opened */
    FILE *trace;                 /* gets the trace of the play; NULL = none */
    void *watcher;
    /* Called after each moment. progress: the played part of training; above 1 afterwards. NULL =
     * no watcher. */
    void (*on_moment)(void *watcher, const struct outcome *outcome, double progress);
    /* Called often. Returns true to end the play early. NULL = the play always runs to its end. */
    bool (*is_stopped)(void *watcher);
};

/* experiment_close must also be called after an error. */
enum error experiment_open(struct experiment *experiment, const struct scenario *scenario,
                           struct problem *problem) MUST_USE;
void experiment_close(struct experiment *experiment);

size_t experiment_parameters(const struct experiment *experiment);

/* Creates node i's learner with its shard of the data. A node that does not train has no data. */
struct learner *experiment_learner(struct experiment *experiment, uint32_t i, struct arena *arena);

/* Returns the samples per step of node i; 0 = it does not train. An automatic batch follows from
 * the node's speed in the scenario. */
uint32_t experiment_batch(const struct experiment *experiment, uint32_t i);

/* Creates node i's learner, or its random walk if updates are made up. self: the experiment. */
void experiment_make_learner(void *self, uint32_t i, struct sim_learner *learner);

/* Evaluates host_weights[P] on the first `samples` samples of the test set; 0 = all. */
struct evaluation experiment_mark(struct experiment *experiment, const float *host_weights,
                                  uint32_t samples);

/* Returns true if the moment at at_ns has an evaluation; always false after an interruption. */
bool experiment_is_evaluation(const struct experiment *experiment, uint64_t at_ns);

/* If the moment at at_ns has an evaluation, evaluates host_weights[P] and stores the result in the
 * last moment of the outcome. All evaluations use the same samples. At the end of training, also
 * evaluates on the whole test set. */
void experiment_evaluate(struct experiment *experiment, struct outcome *outcome, uint64_t at_ns,
                         const float *host_weights);

/* Shows the outcome's last moment, at virtual time at_ns, to the watcher. */
void experiment_show(const struct experiment *experiment, const struct outcome *outcome,
                     uint64_t at_ns);

/* Returns true if the watcher wants to end the play early. */
bool experiment_is_stopped(const struct experiment *experiment);

/* Evaluates the first node's averaged base on the whole test set. first: this node's learner; NULL
 * = the node has none. */
void experiment_finish_average(struct experiment *experiment, struct outcome *outcome,
                               const struct learner *first);
/* Evaluates on the whole test set, adds processor time and judges the expectations.
 * host_weights[P]: result of the strategy; NULL = none to evaluate. */
void experiment_finish(struct experiment *experiment, struct outcome *outcome,
                       const float *host_weights);

#endif
