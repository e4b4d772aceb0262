/* Deep Gradient Compression (Lin, Han, Mao, Wang, Dally 2018, arXiv 1712.01887): synchronous SGD in
 * which nodes send the largest entries of a gradient with momentum to all others.
 *
 *   g = clip(gradient, train.clip/√n) + train.weight_decay·w      local clipping
 *   u = μ·u + g,  v = v + u                                       momentum correction
 *   q = largest(v), a part of each matrix                         the message
 *   v = 0 and u = 0 where q is not 0                              momentum factor masking
 *   w = w − rate·mean(q)
 *
 * μ is train.momentum; with train.nesterov u = μ·(u + g), v = v + u + g. Of the scenario's
 * optimizer only rate and schedule are used. In epoch k = 0, 1, … of the first `warmup_epochs` the
 * part is the larger of 4^−(k+1) and `top_part`: sparsities of 75, 93.75, 98.4, 99.6 and then 99.9
 * % with the paper's `top_part` of 0.001. Of a matrix of c entries ⌈part·c⌉ are sent, 32 bits each
 * and 16 for the number of zeros before it. As in the published code, vectors are sent whole and
 * keep their u. Each node sends to each other node
 *
 *   B = 6·entries sent + 4·(entries of vectors + statistics) bytes
 *
 * In this method's favour, runs of more than 65,535 zeros cost nothing extra, and the threshold is
 * exact, where the paper's is sampled. Statistics of batch norms are averaged. The decay is part of
 * messages; in the published code each node computes it. Tests: tests/unit/sim/test_dgc.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/largest.h"
#include "strategies/matrix.h"
#include "strategies/rounds.h"
#include "strategies/strategy.h"

#define ENTRY_BYTES 6
/* Each warm-up epoch multiplies the fraction of entries that are sent by this factor. */
#define WARMUP_FACTOR 0.25

struct dgc {
    const struct model *model;
    const struct config_train *train;
    const struct strategy_settings *settings;
    uint64_t epoch_samples;
    uint64_t step_samples; /* samples of a step, over all nodes */
    uint64_t samples;      /* samples so far, over all nodes */
    double part;           /* fraction of each matrix's entries in this step's messages */
    uint32_t count;
    size_t parameters;
    float *velocity; /* [count][P] momentum u of each node */
    float *kept;     /* [count][P] sum v of each node's unsent gradients with momentum */
    float *mean;     /* [P] mean of the messages */
    float *own;      /* [P] gradient g of one node, then its message q */
    float *shown;    /* [P] weights for evaluation */
    uint64_t *keys;  /* [P] scratch buffer of largest_keep */
};

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const struct scenario *scenario = experiment->scenario;
    const size_t parameters = experiment_parameters(experiment);
    struct dgc *dgc = memory_new(1, sizeof *dgc);
    CHECK(!settings);
    *dgc = (struct dgc){
        .model = experiment->made.model,
        .train = &scenario->config.train,
        .settings = &scenario->settings,
        .epoch_samples = experiment->train.count,
        .count = count,
        .parameters = parameters,
        .velocity = memory_new(count * parameters, sizeof *dgc->velocity),
        .kept = memory_new(count * parameters, sizeof *dgc->kept),
        .mean = memory_new(parameters, sizeof *dgc->mean),
        .own = memory_new(parameters, sizeof *dgc->own),
        .shown = memory_new(parameters, sizeof *dgc->shown),
        .keys = memory_new(parameters, sizeof *dgc->keys),
    };
    for (uint32_t i = 0; i < scenario->nodes_count; i++)
        if (experiment->shards.sizes[i] > 0)
            dgc->step_samples += experiment_batch(experiment, i);
    memcpy(dgc->shown, start, parameters * sizeof *start);
    return dgc;
}

static void end(void *self)
{
    struct dgc *dgc = self;
    free(dgc->velocity);
    free(dgc->kept);
    free(dgc->mean);
    free(dgc->own);
    free(dgc->shown);
    free(dgc->keys);
    free(dgc);
}

/* Sets all except the largest entries of each matrix in values[P] to 0. Returns the number of kept
 * entries. values NULL = only counts the kept entries. */
static uint64_t keep_largest(const struct dgc *dgc, float *values)
{
    uint64_t sent = 0;
    for (int i = 0; i < model_tensors(dgc->model); i++) {
        const struct tensor tensor = model_tensor(dgc->model, i);
        const struct matrix matrix = matrix_of(&tensor);
        const size_t entries = matrix.rows * matrix.columns;
        const size_t largest = (size_t)ceil(dgc->part * (double)entries);
        if (matrix.offset >= model_decayed(dgc->model))
            continue;
        if (values)
            largest_keep(values + matrix.offset, entries, largest, dgc->keys);
        sent += largest;
    }
    return sent;
}

static struct round next(void *self)
{
    struct dgc *dgc = self;
    struct round round = {.steps = 1};
    const uint64_t epoch = dgc->samples / dgc->epoch_samples;
    const uint64_t whole = dgc->parameters - model_decayed(dgc->model);
    const double early =
        epoch < dgc->settings->warmup_epochs ? pow(WARMUP_FACTOR, (double)epoch + 1) : 0;
    dgc->part = fmax((double)rounds_or_published(dgc->settings->top_part, 0.001), early);
    dgc->samples += dgc->step_samples;
    round_is_ring_gather(&round, dgc->count,
                         ENTRY_BYTES * keep_largest(dgc, NULL) + whole * sizeof(float));
    memset(dgc->mean, 0, dgc->parameters * sizeof *dgc->mean);
    return round;
}

static void clip(const struct dgc *dgc)
{
    const double most = dgc->train->clip / sqrt(dgc->count);
    const size_t trained = model_trained(dgc->model);
    double squares = 0;
    for (size_t c = 0; c < trained; c++)
        squares += (double)dgc->own[c] * (double)dgc->own[c];
    if (most == 0 || squares <= most * most)
        return;
    for (size_t c = 0; c < trained; c++)
        dgc->own[c] *= (float)(most / sqrt(squares));
}

/* Adds one node's gradient g to its u and v. Copies statistics of batch norms to v. */
static void accumulate(const struct dgc *dgc, float *u, float *v)
{
    const float mu = (float)dgc->train->momentum, decay = (float)dgc->train->weight_decay;
    const size_t decayed = model_decayed(dgc->model), trained = model_trained(dgc->model);
    for (size_t c = 0; c < trained; c++) {
        const float g = dgc->own[c] + (c < decayed ? decay * dgc->shown[c] : 0);
        u[c] = dgc->train->nesterov ? mu * (u[c] + g) : mu * u[c] + g;
        v[c] += dgc->train->nesterov ? u[c] + g : u[c];
    }
    memcpy(v + trained, dgc->own + trained, (dgc->parameters - trained) * sizeof *v);
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct dgc *dgc = self;
    float *u = dgc->velocity + i * dgc->parameters, *v = dgc->kept + i * dgc->parameters;
    const size_t decayed = model_decayed(dgc->model);
    learner_gradient(learner, dgc->own);
    clip(dgc);
    accumulate(dgc, u, v);
    memcpy(dgc->own, v, dgc->parameters * sizeof *v);
    (void)keep_largest(dgc, dgc->own);
    for (size_t c = 0; c < dgc->parameters; c++) {
        dgc->mean[c] += dgc->own[c] / (float)dgc->count;
        v[c] = dgc->own[c] != 0 ? 0 : v[c];
        u[c] = dgc->own[c] != 0 && c < decayed ? 0 : u[c];
    }
}

/* Does nothing, because the mean is complete once all nodes have sent. */
static void exchange(void *self)
{
    (void)self;
}

static void receive(void *self, uint32_t i, struct learner *learner)
{
    struct dgc *dgc = self;
    (void)learner_descend_plainly(learner, dgc->mean);
    if (i == 0)
        learner_read_weights(learner, dgc->shown);
}

static const float *weights(const void *self)
{
    const struct dgc *dgc = self;
    return dgc->shown;
}

const float *dgc_play(struct experiment *experiment, struct outcome *outcome)
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
