/* DeMo, decoupled momentum (Peng, Quesnelle, Kingma 2024, arXiv 2411.19870): each node has its own
 * momentum, and in each step sends its largest components (dct.h) to all others.
 *
 *   m = β·m + DCT(gradient)            of each node; β is `error_decay`
 *   q = largest(m),  m = m − q         `top_part` of each chunk: the message
 *   Q = mean of the q, each component over the nodes that sent it
 *   w = w − rate·(sign(inverse DCT(Q)) + train.weight_decay·w)
 *
 * Momentum is kept as components, since the transform is orthonormal. As in the published code,
 * matrices are cut into chunks of up to 64 by 64, and vectors into chunks of up to 64. Each filter
 * of a convolution is a row of a matrix. The rate is `sign_rate` on the scenario's schedule; the
 * scenario's optimizer is not used. The published code multiplies gradients by the rate, which is
 * equivalent for a constant rate. Each node sends to each other node
 *
 *   B = ⌈sent·(32 + ⌈log2(entries of the chunk)⌉)/8⌉ + 4·statistics bytes
 *
 * The published code uses 64 bits for an index. Statistics of batch norms are averaged. All nodes
 * have the same weights. Tests: tests/unit/sim/test_demo.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/dct.h"
#include "strategies/matrix.h"
#include "strategies/rounds.h"
#include "strategies/sparse.h"
#include "strategies/strategy.h"

struct chunked {
    size_t offset; /* index of the tensor's first entry in the flat vector */
    struct dct dct;
};

struct demo {
    const struct model *model;
    const struct config_train *train;
    const struct strategy_settings *settings;
    uint32_t count;
    size_t parameters;
    struct chunked *tensors; /* [tensors_count] all tensors except statistics */
    uint32_t tensors_count;
    float *momentum; /* [count][P] momentum m of each node, as DCT components */
    float *sum;      /* [P] sum of all nodes' messages; after the exchange their mean Q */
    float *senders;  /* [P] number of nodes that have sent each component */
    float *own;      /* [P] gradient of one node, then its message */
    float *step;     /* [P] DCT of one node's gradient; after the exchange all learners' gradient */
    float *shown;    /* [P] weights for evaluation */
};

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const struct model *model = experiment->made.model;
    const size_t parameters = experiment_parameters(experiment);
    struct demo *demo = memory_new(1, sizeof *demo);
    CHECK(!settings);
    *demo = (struct demo){
        .model = model,
        .train = &experiment->scenario->config.train,
        .settings = &experiment->scenario->settings,
        .count = count,
        .parameters = parameters,
        .tensors = memory_new((size_t)model_tensors(model), sizeof *demo->tensors),
        .momentum = memory_new(count * parameters, sizeof *demo->momentum),
        .sum = memory_new(parameters, sizeof *demo->sum),
        .senders = memory_new(parameters, sizeof *demo->senders),
        .own = memory_new(parameters, sizeof *demo->own),
        .step = memory_new(parameters, sizeof *demo->step),
        .shown = memory_new(parameters, sizeof *demo->shown),
    };
    for (int i = 0; i < model_tensors(model); i++) {
        const struct tensor tensor = model_tensor(model, i);
        const struct matrix matrix = matrix_of(&tensor);
        if (matrix.offset >= model_trained(model))
            continue;
        struct chunked *chunked = &demo->tensors[demo->tensors_count++];
        chunked->offset = matrix.offset;
        dct_init(&chunked->dct, matrix.rows, matrix.columns);
    }
    memcpy(demo->shown, start, parameters * sizeof *start);
    return demo;
}

static void end(void *self)
{
    struct demo *demo = self;
    for (uint32_t i = 0; i < demo->tensors_count; i++)
        dct_free(&demo->tensors[i].dct);
    free(demo->tensors);
    free(demo->momentum);
    free(demo->sum);
    free(demo->senders);
    free(demo->own);
    free(demo->step);
    free(demo->shown);
    free(demo);
}

/* Returns the bits of one component in a message, with its index in a chunk of `entries`. */
static uint64_t bits_of(size_t entries)
{
    uint64_t bits = 8 * sizeof(float);
    for (size_t places = 1; places < entries; places *= 2)
        bits++;
    return bits;
}

/* Sets all except the largest components of each chunk of components[P] to 0. Returns the bits of
 * the kept components. components NULL = only counts the bits. */
static uint64_t keep_largest(const struct demo *demo, float *components)
{
    const double part = (double)rounds_or_published(demo->settings->top_part, 1. / 128);
    uint64_t bits = 0;
    for (uint32_t i = 0; i < demo->tensors_count; i++) {
        const struct dct *dct = &demo->tensors[i].dct;
        const size_t entries = dct->height * dct->width, all = dct->rows * dct->columns;
        const uint32_t kept = sparse_kept((uint32_t)entries, part);
        for (size_t c = 0; c < all; c += entries) {
            if (components)
                sparse_keep_largest(components + demo->tensors[i].offset + c, (uint32_t)entries,
                                    kept);
            bits += kept * bits_of(entries);
        }
    }
    return bits;
}

static struct round next(void *self)
{
    struct demo *demo = self;
    struct round round = {.steps = 1};
    const uint64_t statistics = demo->parameters - model_trained(demo->model);
    round_is_ring_gather(&round, demo->count,
                         (keep_largest(demo, NULL) + 7) / 8 + statistics * sizeof(float));
    memset(demo->sum, 0, demo->parameters * sizeof *demo->sum);
    memset(demo->senders, 0, demo->parameters * sizeof *demo->senders);
    return round;
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct demo *demo = self;
    float *m = demo->momentum + i * demo->parameters, *own = demo->own;
    const size_t trained = model_trained(demo->model);
    const float beta = rounds_or_published(demo->settings->error_decay, 0.999);
    learner_gradient(learner, own);
    for (uint32_t t = 0; t < demo->tensors_count; t++)
        dct_forward(&demo->tensors[t].dct, own + demo->tensors[t].offset,
                    demo->step + demo->tensors[t].offset);
    for (size_t c = 0; c < trained; c++)
        own[c] = m[c] = beta * m[c] + demo->step[c];
    (void)keep_largest(demo, own);
    for (size_t c = 0; c < demo->parameters; c++) {
        demo->sum[c] += own[c];
        demo->senders[c] += c >= trained || own[c] != 0;
        m[c] -= c < trained ? own[c] : 0;
    }
}

static void exchange(void *self)
{
    struct demo *demo = self;
    const size_t trained = model_trained(demo->model), decayed = model_decayed(demo->model);
    const float rate = (float)(demo->settings->sign_rate / demo->train->rate);
    const float decay = (float)demo->train->weight_decay;
    for (size_t c = 0; c < demo->parameters; c++)
        demo->step[c] = demo->sum[c] = demo->senders[c] > 0 ? demo->sum[c] / demo->senders[c] : 0;
    for (uint32_t t = 0; t < demo->tensors_count; t++)
        dct_backward(&demo->tensors[t].dct, demo->sum + demo->tensors[t].offset,
                     demo->step + demo->tensors[t].offset);
    for (size_t c = 0; c < trained; c++) {
        const float sign = (float)((demo->step[c] > 0) - (demo->step[c] < 0));
        demo->step[c] = rate * (sign + (c < decayed ? decay * demo->shown[c] : 0));
    }
}

static void receive(void *self, uint32_t i, struct learner *learner)
{
    struct demo *demo = self;
    (void)learner_descend_plainly(learner, demo->step);
    if (i == 0)
        learner_read_weights(learner, demo->shown);
}

static const float *weights(const void *self)
{
    const struct demo *demo = self;
    return demo->shown;
}

const float *demo_play(struct experiment *experiment, struct outcome *outcome)
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
