/* Synchronous SGD over the links: in each step a ring all-reduce averages the gradients, and the
 * optimizers receive the mean (Patarasuk, Yuan 2009, "Bandwidth optimal all-reduce algorithms for
 * clusters of workstations"; PyTorch's DistributedDataParallel, Li et al. 2020, arXiv 2006.15704).
 *
 *   g = sum of g_i / n          float32
 *   g = sum of half(half(g_i) / n), each sum also rounded      float16
 *
 * The second formula is PyTorch's fp16_compress_hook: gradients are rounded and divided before they
 * are added in half precision, to nearest with ties to even. Magnitudes from 65,520 become
 * infinite, as in PyTorch. A message has 4 or 2 bytes for each parameter.
 *
 * All nodes have the same weights. A real ring starts the sum of each part of the vector at a
 * different node; here all sums start at the first node, which only affects rounding. A node sends
 * no gradient before the whole backward pass has ended, to this method's disadvantage. Tests:
 * tests/unit/sim/test_allreduce.c. */
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/memory.h"
#include "strategies/rounds.h"
#include "strategies/strategy.h"

struct allreduce {
    bool is_half;
    uint32_t count;
    size_t parameters;
    float *mean;  /* [P] mean of the nodes' gradients */
    float *own;   /* [P] gradient of one node */
    float *shown; /* [P] weights for evaluation */
};

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const size_t parameters = experiment_parameters(experiment);
    struct allreduce *allreduce = memory_new(1, sizeof *allreduce);
    CHECK(!settings);
    *allreduce = (struct allreduce){
        .is_half = experiment->scenario->settings.gradient_precision == GRADIENT_FLOAT16,
        .count = count,
        .parameters = parameters,
        .mean = memory_new(parameters, sizeof *allreduce->mean),
        .own = memory_new(parameters, sizeof *allreduce->own),
        .shown = memory_new(parameters, sizeof *allreduce->shown),
    };
    memcpy(allreduce->shown, start, parameters * sizeof *start);
    return allreduce;
}

static void end(void *self)
{
    struct allreduce *allreduce = self;
    free(allreduce->mean);
    free(allreduce->own);
    free(allreduce->shown);
    free(allreduce);
}

static struct round next(void *self)
{
    struct allreduce *allreduce = self;
    struct round round = {.steps = 1};
    const uint64_t entry_bytes = allreduce->is_half ? sizeof(uint16_t) : sizeof(float);
    round_is_ring_reduce(&round, allreduce->count, allreduce->parameters * entry_bytes);
    memset(allreduce->mean, 0, allreduce->parameters * sizeof *allreduce->mean);
    return round;
}

static float half(float value)
{
    return half_of_float16(half_to_float16(value));
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct allreduce *allreduce = self;
    const float count = (float)allreduce->count, *own = allreduce->own;
    float *mean = allreduce->mean;
    (void)i;
    learner_gradient(learner, allreduce->own);
    for (size_t c = 0; c < allreduce->parameters; c++)
        mean[c] = allreduce->is_half ? half(mean[c] + half(half(own[c]) / count))
                                     : mean[c] + own[c] / count;
}

/* Does nothing, because the mean is complete once all nodes have sent. */
static void exchange(void *self)
{
    (void)self;
}

static void receive(void *self, uint32_t i, struct learner *learner)
{
    struct allreduce *allreduce = self;
    (void)learner_descend(learner, allreduce->mean);
    if (i == 0)
        learner_read_weights(learner, allreduce->shown);
}

static const float *weights(const void *self)
{
    const struct allreduce *allreduce = self;
    return allreduce->shown;
}

const float *allreduce_play(struct experiment *experiment, struct outcome *outcome)
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
