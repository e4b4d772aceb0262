/* The lab: what every strategy needs to play a scenario. The data cut into shards, one model and
 * one exam for all, learners on demand, and who watches.
 *
 *   scenario ─► lab_open ─► lab_learner(i): the learner of node i, as its daemon would make it
 *                        └► lab_mark(weights): how good they are
 *
 * One thread, one after the other, so model, exam and backend are shared (learner.h).
 */
#ifndef HEARSAY_LAB_H
#define HEARSAY_LAB_H

#include <stdio.h>

#include "world/sim_learner.h"
#include "scenario/outcome.h"
#include "config/setup.h"
#include "data/shards.h"

struct lab {
    const struct scenario *scenario;
    struct arena arena;
    struct backend *backend;
    struct dataset train; /* all of it; empty when updates are made up */
    struct shards shards;
    struct setup_model made;
    uint32_t batch; /* the model's: of a node, or of all nodes together (ideal) */
    struct exam *exam;
    float *weights;  /* [P], scratch of whoever marks */
    uint32_t births; /* so far: no two wanderers go the same way */
    double evaluate_cpu_s;
    double begin_cpu_s;
    FILE *trace; /* NULL: none */
    void *watcher;
    /* After each moment; progress counts from 0 to 1. */
    void (*on_moment)(void *watcher, const struct outcome *outcome, double progress);
};

enum status lab_open(struct lab *lab, const struct scenario *scenario,
                     struct problem *problem) MUST_USE;
void lab_close(struct lab *lab);

/* Parameters of the model, or of what wanders. */
size_t lab_parameters(const struct lab *lab);

/* The learner of node i with its shard; one that only passes on has no data. From arena. */
struct learner *lab_learner(struct lab *lab, uint32_t i, struct arena *arena);

/* Samples of a step of node i, where its speed is known from the start; 0: it does not train. */
uint32_t lab_batch(const struct lab *lab, uint32_t i);

/* What node i has in its head: that learner, or a wanderer. */
void lab_mind(void *lab, uint32_t i, struct mind *mind); /* a mind_maker's make */

/* host_weights[P] over the first `samples` of the test set; 0: all. */
struct evaluation lab_mark(struct lab *lab, const float *host_weights, uint32_t samples);

/* Is this second one to evaluate at? */
bool lab_is_evaluation(const struct lab *lab, uint64_t at_ns);

/* Enter an evaluation into a moment. */
void lab_enter(struct moment *moment, const struct evaluation *evaluation);

/* The end of every strategy: the whole test set, the processor's time, verdicts. */
void lab_finish(struct lab *lab, struct outcome *outcome, const float *host_weights);

#endif
