#include "strategies/common.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct common {
    const struct compressor *compressor;
    void *messages; /* state of the compressor; compressor->end frees it */
    float rate;     /* rate of the outer step */
    float mu;       /* momentum of the outer step */
    float mixing;
    uint32_t local_steps; /* steps between two exchanges of a fragment */
    uint32_t fragments;
    uint32_t overlap; /* steps of a node during an exchange */
    uint32_t count;
    uint64_t rounds;
    struct round round;
    size_t first; /* index of the first entry of the current fragment */
    size_t end;   /* index after the last entry of the current fragment */
    size_t parameters;
    float *weights;  /* [P] common weights x */
    float *momentum; /* [P] outer momentum m */
    float *mean;     /* [P] mean d of the messages */
    float *own;      /* [P] weights of one node, then its progress, then its message */
};

static uint64_t dense_bytes(const void *self, size_t parameters)
{
    (void)self;
    return sizeof(float) * (uint64_t)parameters;
}

const struct compressor dense_compressor = {.message_bytes = dense_bytes, .is_reduced = true};

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const struct strategy_settings *configured = &experiment->scenario->settings;
    const struct common_settings *method = settings;
    const size_t parameters = experiment_parameters(experiment);
    struct common *common = memory_new(1, sizeof *common);
    *common = (struct common){
        .compressor = method->compressor,
        .rate = rounds_or_published(configured->outer_rate, method->outer_rate),
        .mu = rounds_or_published(configured->outer_momentum, method->outer_momentum),
        .mixing = (float)method->mixing,
        .local_steps = configured->local_steps,
        .fragments = method->fragments,
        .overlap = method->overlap_steps,
        .count = count,
        .parameters = parameters,
        .weights = memory_new(parameters, sizeof *common->weights),
        .momentum = memory_new(parameters, sizeof *common->momentum),
        .mean = memory_new(parameters, sizeof *common->mean),
        .own = memory_new(parameters, sizeof *common->own),
    };
    CHECK(common->fragments > 0 && common->overlap <= common->local_steps / common->fragments);
    memcpy(common->weights, start, parameters * sizeof *start);
    if (common->compressor->begin)
        common->messages = common->compressor->begin(experiment, count);
    return common;
}

static void end(void *self)
{
    struct common *common = self;
    if (common->compressor->end)
        common->compressor->end(common->messages);
    free(common->weights);
    free(common->momentum);
    free(common->mean);
    free(common->own);
    free(common);
}

/* Returns the start of part `at` when 0 .. whole is divided into equal parts for the fragments. */
static size_t end_of(const struct common *common, uint64_t at, size_t whole)
{
    return (size_t)(at * whole / common->fragments);
}

static struct round next(void *self)
{
    struct common *common = self;
    const uint64_t at = common->rounds % common->fragments;
    const size_t steps =
        end_of(common, at + 1, common->local_steps) - end_of(common, at, common->local_steps);
    const uint32_t ahead = common->rounds > 0 ? common->overlap : 0;
    common->round = (struct round){.steps = (uint32_t)steps - ahead, .meanwhile = common->overlap};
    common->first = end_of(common, at, common->parameters);
    common->end = end_of(common, at + 1, common->parameters);
    common->rounds++;
    const uint64_t bytes =
        common->compressor->message_bytes(common->messages, common->end - common->first);
    if (common->compressor->is_reduced)
        round_is_ring_reduce(&common->round, common->count, bytes);
    else
        round_is_ring_gather(&common->round, common->count, bytes);
    memset(common->mean, 0, common->parameters * sizeof *common->mean);
    return common->round;
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct common *common = self;
    rounds_learn(learner, common->round.steps);
    learner_read_weights(learner, common->own);
    for (size_t c = common->first; c < common->end; c++)
        common->own[c] -= common->weights[c];
    if (common->compressor->compress)
        common->compressor->compress(common->messages, i, common->own + common->first,
                                     common->end - common->first);
    for (size_t c = common->first; c < common->end; c++)
        common->mean[c] += common->own[c] / (float)common->count;
}

static void exchange(void *self)
{
    struct common *common = self;
    const float rate = common->rate, mu = common->mu;
    for (size_t c = common->first; c < common->end; c++) {
        common->momentum[c] = mu * common->momentum[c] + common->mean[c];
        common->weights[c] += rate * (common->mean[c] + mu * common->momentum[c]);
    }
}

static void receive(void *self, uint32_t i, struct learner *learner)
{
    struct common *common = self;
    const float mixing = common->mixing;
    (void)i;
    rounds_learn(learner, common->round.meanwhile);
    learner_read_weights(learner, common->own);
    for (size_t c = common->first; c < common->end; c++)
        common->own[c] = (1 - mixing) * common->own[c] + mixing * common->weights[c];
    learner_write_weights(learner, common->own);
}

static const float *weights(const void *self)
{
    const struct common *common = self;
    return common->weights;
}

const float *common_play(const struct common_settings *settings, struct experiment *experiment,
                         struct outcome *outcome)
{
    static const struct rounds_method METHOD = {.begin = begin,
                                                .next = next,
                                                .send = send,
                                                .exchange = exchange,
                                                .receive = receive,
                                                .weights = weights,
                                                .end = end};
    return rounds_play(&METHOD, settings, experiment, outcome);
}
