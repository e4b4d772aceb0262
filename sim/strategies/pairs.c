#include "strategies/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct pairs {
    const struct pairs_settings *settings;
    struct pairs_move move; /* arguments of the current node's outer step */
    struct rng rng;
    uint32_t local_steps; /* steps per round */
    uint32_t count;
    uint32_t *to;         /* [count] partner of each node in this round; the node itself = none */
    float *weights;       /* [count][P] weights x_i of each node */
    float *progress;      /* [count][P] progress p_i of each node in this round */
    float *kept;          /* [count][P] state kept_i of each node's moves (pairs.h) */
    float *mean_weights;  /* [P] mean weights of the current pair */
    float *mean_progress; /* [P] mean progress of the current pair */
    float *shown;         /* [P] mean of all nodes' weights, for evaluation */
};

static void *begin(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start)
{
    const struct scenario *scenario = experiment->scenario;
    const struct pairs_settings *method = settings;
    const size_t parameters = experiment_parameters(experiment);
    struct pairs *pairs = memory_new(1, sizeof *pairs);
    *pairs = (struct pairs){
        .settings = method,
        .move.rate = rounds_or_published(scenario->settings.outer_rate, method->outer_rate),
        .move.mu = rounds_or_published(scenario->settings.outer_momentum, method->outer_momentum),
        .move.parameters = parameters,
        .rng = rng_new(scenario->seed, 0),
        .local_steps = scenario->settings.local_steps,
        .count = count,
        .to = memory_new(count, sizeof *pairs->to),
        .weights = memory_new(count * parameters, sizeof *pairs->weights),
        .progress = memory_new(count * parameters, sizeof *pairs->progress),
        .kept = memory_new(count * parameters, sizeof *pairs->kept),
        .mean_weights = memory_new(parameters, sizeof *pairs->mean_weights),
        .mean_progress = memory_new(parameters, sizeof *pairs->mean_progress),
        .shown = memory_new(parameters, sizeof *pairs->shown),
    };
    for (uint32_t i = 0; i < count; i++)
        memcpy(pairs->weights + i * parameters, start, parameters * sizeof *start);
    memcpy(pairs->shown, start, parameters * sizeof *start);
    return pairs;
}

static void end(void *self)
{
    struct pairs *pairs = self;
    free(pairs->to);
    free(pairs->weights);
    free(pairs->progress);
    free(pairs->kept);
    free(pairs->mean_weights);
    free(pairs->mean_progress);
    free(pairs->shown);
    free(pairs);
}

uint32_t pairs_draw(struct rng *rng, uint32_t count, uint32_t *to)
{
    CHECK(count > 0);
    uint32_t *order = memory_new(count, sizeof *order);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    to[order[count - 1]] = order[count - 1];
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        to[order[i]] = order[i + 1];
        to[order[i + 1]] = order[i];
    }
    free(order);
    return count / 2 * 2;
}

static struct round next(void *self)
{
    struct pairs *pairs = self;
    const uint64_t senders = pairs_draw(&pairs->rng, pairs->count, pairs->to);
    const uint64_t vector_bytes = pairs->move.parameters * sizeof(float);
    return (struct round){.steps = pairs->local_steps,
                          .bytes = senders * pairs->settings->vectors * vector_bytes,
                          .transfers = 1,
                          .to = pairs->to};
}

static void send(void *self, uint32_t i, struct learner *learner)
{
    struct pairs *pairs = self;
    const size_t parameters = pairs->move.parameters;
    const float *weights = pairs->weights + i * parameters;
    float *progress = pairs->progress + i * parameters;
    rounds_learn(learner, pairs->local_steps);
    learner_read_weights(learner, progress);
    for (size_t c = 0; c < parameters; c++)
        progress[c] -= weights[c];
}

static void move(struct pairs *pairs, uint32_t i)
{
    const size_t first = i * pairs->move.parameters;
    pairs->move.mean_weights = pairs->mean_weights;
    pairs->move.mean_progress = pairs->mean_progress;
    pairs->move.progress = pairs->progress + first;
    pairs->move.weights = pairs->weights + first;
    pairs->move.kept = pairs->kept + first;
    pairs->settings->move(&pairs->move);
}

static void meet(struct pairs *pairs, uint32_t i, uint32_t j)
{
    const size_t parameters = pairs->move.parameters, a = i * parameters, b = j * parameters;
    for (size_t c = 0; c < parameters; c++) {
        pairs->mean_weights[c] = (pairs->weights[a + c] + pairs->weights[b + c]) / 2;
        pairs->mean_progress[c] = (pairs->progress[a + c] + pairs->progress[b + c]) / 2;
    }
    move(pairs, i);
    if (i != j)
        move(pairs, j);
}

static void exchange(void *self)
{
    struct pairs *pairs = self;
    const size_t parameters = pairs->move.parameters;
    for (uint32_t i = 0; i < pairs->count; i++)
        if (i <= pairs->to[i])
            meet(pairs, i, pairs->to[i]);
    memset(pairs->shown, 0, parameters * sizeof *pairs->shown);
    for (uint32_t i = 0; i < pairs->count; i++)
        for (size_t c = 0; c < parameters; c++)
            pairs->shown[c] += pairs->weights[i * parameters + c] / (float)pairs->count;
}

static void receive(void *self, uint32_t i, struct learner *learner)
{
    const struct pairs *pairs = self;
    learner_write_weights(learner, pairs->weights + i * pairs->move.parameters);
}

static const float *weights(const void *self)
{
    const struct pairs *pairs = self;
    return pairs->shown;
}

const float *pairs_play(const struct pairs_settings *settings, struct experiment *experiment,
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
