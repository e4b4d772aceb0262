/* An experiment: what every strategy needs to play a scenario. Data cut into shards, one model and
 * one evaluator for all nodes, learners on demand, and the watcher.
 *
 *   scenario ─► experiment_open ─┬► experiment_learner(i): the learner of node i, as its daemon has
 * it └► experiment_mark(weights): accuracy and loss
 *
 * Everything runs in one thread, so the learners share model, evaluator and backend (learner.h).
 */
#ifndef HEARSAY_SIM_SCENARIO_EXPERIMENT_H
#define HEARSAY_SIM_SCENARIO_EXPERIMENT_H

#include <stdio.h>

#include "config/setup.h"
#include "data/shards.h"
#include "scenario/outcome.h"
#include "training/guard.h"
#include "world/sim_learner.h"

struct experiment {
    const struct scenario *scenario;
    struct arena arena;
    struct backend *backend;
    struct dataset train;        /* the training set; empty when updates are made up */
    struct shards shards;        /* of the training set, one for each node */
    struct setup_model made;     /* the model */
    uint32_t batch;              /* the model's: of a node, or of all nodes together (ideal) */
    struct evaluator *evaluator; /* of the test set; NULL when updates are made up */
    float *weights;              /* [P], scratch memory for evaluations */
    struct guard guard;          /* of the base that is evaluated */
    double evaluate_cpu_s;       /* processor time of evaluations so far */
    double begin_cpu_s;          /* processor time of the process at the start */
    FILE *trace;                 /* NULL: none */
    void *watcher;
    /* Called after each moment; progress counts from 0 to 1. NULL: nobody watches. */
    void (*on_moment)(void *watcher, const struct outcome *outcome, double progress);
    /* Asked between events; true ends the play early. NULL: it is played to its end. */
    bool (*is_stopped)(void *watcher);
};

enum error experiment_open(struct experiment *experiment, const struct scenario *scenario,
                           struct problem *problem) MUST_USE;
void experiment_close(struct experiment *experiment);

/* Parameters of the model, learned or made up. */
size_t experiment_parameters(const struct experiment *experiment);

/* The learner of node i with its shard; a relay has no data. Memory from the arena. */
struct learner *experiment_learner(struct experiment *experiment, uint32_t i, struct arena *arena);

/* Samples of a step of node i, where its speed is known from the start; 0: it does not train. */
uint32_t experiment_batch(const struct experiment *experiment, uint32_t i);

/* The learner of node i, or a random walk where updates are made up. `self` is the experiment. */
void experiment_make_learner(void *self, uint32_t i, struct sim_learner *learner);

/* host_weights[P] over the first `samples` of the test set; 0: all. */
struct evaluation experiment_mark(struct experiment *experiment, const float *host_weights,
                                  uint32_t samples);

/* Is this second one to evaluate at? Not once the play was interrupted. */
bool experiment_is_evaluation(const struct experiment *experiment, uint64_t at_ns);

/* Evaluate host_weights[P] into the last moment, if this second is one to evaluate at: at the end
 * of training on the whole test set. */
void experiment_evaluate(struct experiment *experiment, struct outcome *outcome, uint64_t at_ns,
                         const float *host_weights);

/* Show the last moment, at virtual time at_ns, to the watcher. */
void experiment_show(const struct experiment *experiment, const struct outcome *outcome,
                     uint64_t at_ns);

/* The watcher wants the play to end now. */
bool experiment_is_stopped(const struct experiment *experiment);

/* Evaluates the averaged base of the first node on the whole test set; NULL: the node is down. */
void experiment_finish_average(struct experiment *experiment, struct outcome *outcome,
                               const struct learner *first);
/* The end of every strategy: evaluation on the whole test set, processor time, verdicts. */
void experiment_finish(struct experiment *experiment, struct outcome *outcome,
                       const float *host_weights);

#endif
