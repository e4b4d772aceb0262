/* Consensus ADMM with inexact local solutions (Boyd, Parikh, Chu, Peleato, Eckstein 2011,
 * "Distributed optimization and statistical learning via the alternating direction method of
 * multipliers", section 7.1, in scaled form). Node i has weights x_i, data with loss f_i, and a
 * dual vector u_i; z is the consensus.
 *
 *   x_i: `local_steps` steps of the optimizer on f_i(x) + ρ/2·‖x − z + u_i‖²
 *   z = mean(x_i + u_i)
 *   u_i = u_i + x_i − z
 *
 * The u_i add up to 0. At a fixed point all x_i equal z, and ρ·u_i is minus the gradient of f_i. So
 * z is a minimum of the sum for any distribution of the data, which the mean of local steps is not.
 * Each round is a ring all-reduce of 4·P bytes for P parameters. The book leaves `local_steps` and
 * `rho` open. Steps use mini-batches, and start from the node's previous weights and optimizer
 * state. Statistics of batch norms are averaged in z but not pulled. z is evaluated. Tests:
 * tests/unit/sim/test_admm.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/rounds.h"
#include "strategies/strategy.h"

struct admm {
    float rho;
    uint32_t local_steps;
    uint32_t count;
    size_t parameters;
    size_t trained; /* trained parameters, which precede the batch-norm statistics */
    float *locals;  /* [count][P] weights x_i of each node */
    float *duals;   /* [count][P] dual vector u_i of each node */
    float *common;  /* [P] consensus z of the last exchange */
    float *sum;     /* [P] sum for the next consensus z, filled while nodes send */
    float *own;     /* [P] gradient of one node */
};

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const size_t parameters = experiment_parameters(experiment);
    struct admm *admm = memory_new(1, sizeof *admm);
    CHECK(!settings);
    *admm = (struct admm){
        .rho = (float)experiment->scenario->settings.rho,
        .local_steps = experiment->scenario->settings.local_steps,
        .count = count,
        .parameters = parameters,
        .trained = model_trained(experiment->made.model),
        .locals = memory_new(count * parameters, sizeof *admm->locals),
        .duals = memory_new(count * parameters, sizeof *admm->duals),
        .common = memory_new(parameters, sizeof *admm->common),
        .sum = memory_new(parameters, sizeof *admm->sum),
        .own = memory_new(parameters, sizeof *admm->own),
    };
    memcpy(admm->common, start, parameters * sizeof *start);
    return admm;
}

static void end(void *self)
{
    struct admm *admm = self;
    free(admm->locals);
    free(admm->duals);
    free(admm->common);
    free(admm->sum);
    free(admm->own);
    free(admm);
}

static struct round next(void *self)
{
    struct admm *admm = self;
    struct round round = {.steps = admm->local_steps};
    round_is_ring_reduce(&round, admm->count, admm->parameters * sizeof(float));
    memset(admm->sum, 0, admm->parameters * sizeof *admm->sum);
    return round;
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct admm *admm = self;
    float *x = admm->locals + i * admm->parameters, *u = admm->duals + i * admm->parameters;
    for (uint32_t step = 0; step < admm->local_steps; step++) {
        learner_gradient(learner, admm->own);
        learner_read_weights(learner, x);
        for (size_t c = 0; c < admm->trained; c++)
            admm->own[c] += admm->rho * (x[c] - admm->common[c] + u[c]);
        (void)learner_descend(learner, admm->own);
    }
    learner_read_weights(learner, x);
    for (size_t c = 0; c < admm->parameters; c++)
        admm->sum[c] += (x[c] + u[c]) / (float)admm->count;
}

static void exchange(void *self)
{
    struct admm *admm = self;
    memcpy(admm->common, admm->sum, admm->parameters * sizeof *admm->sum);
    for (uint32_t i = 0; i < admm->count; i++)
        for (size_t c = 0; c < admm->trained; c++) {
            const size_t entry = i * admm->parameters + c;
            admm->duals[entry] += admm->locals[entry] - admm->common[c];
        }
}

/* Does nothing, because a node continues from its own weights x_i. */
static void receive(void *self, uint32_t i, struct learner *learner)
{
    (void)self;
    (void)i;
    (void)learner;
}

static const float *weights(const void *self)
{
    const struct admm *admm = self;
    return admm->common;
}

const float *admm_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct rounds_method METHOD = {.begin = begin,
                                                .next = next,
                                                .send = send,
                                                .exchange = exchange,
                                                .receive = receive,
                                                .weights = weights,
                                                .end = end};
    return rounds_play(&METHOD, NULL, experiment, outcome);
}
