/* MLNET (Mai, Hong, Costa, HotCloud 2015): a parameter server with in-network aggregation in a tree
 * of workers, and message priorities.
 *
 *   in each round, part by part of the model:
 *     up:    a worker's progress plus the sums of its children ─► its parent
 *     root:  W = W + gain/n · (the sum of all n workers)
 *     down:  W ─► children, and so on; with all parts of W a worker makes its next step
 *
 * While one of the `fragments` parts is in flight, the next part is summed. An entry is 4 bytes in
 * both directions. Each worker has up to `fanout` children. Workers with the best uplinks to all
 * others are nearest to the root, which is the server.
 *
 * Messages of older rounds go first, then messages of earlier parts. This order applies within one
 * connection, not on a whole link as in the paper, to this method's disadvantage. Progress replaces
 * pushed gradients, so that any optimizer may be used. The root's weights are evaluated. Tests:
 * tests/unit/sim/test_mlnet.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

enum { UP, DOWN };

struct aggregator {
    uint32_t place; /* position in the tree; the children of p are p · fanout + 1, … */
    uint32_t children;
    uint64_t parts_came; /* number of parts of the model W received, in all rounds */
    uint32_t *came;      /* [parts] number of terms in `sum`: own progress and children's sums */
    float *sum;          /* [P] sum of the progress of the worker and its descendants */
    float *next;         /* [P] parts of W received so far; at the root, W itself */
};

struct mlnet {
    struct workers *workers;
    size_t parameters;
    uint32_t count;
    uint32_t parts;
    uint32_t fanout;
    float gain;                     /* gain / n, factor on each worker's progress */
    uint32_t *at;                   /* [place] index of the worker at this place */
    struct aggregator *aggregators; /* [count] */
};

/* Fills in mlnet->at, in the order of the workers' sending speed, fastest first. */
static void order_by_links(struct mlnet *mlnet)
{
    for (uint32_t i = 0; i < mlnet->count; i++) {
        const double own = workers_seconds_to_all(mlnet->workers, i, 1);
        uint32_t place = 0;
        for (uint32_t j = 0; j < mlnet->count; j++) {
            const double other = workers_seconds_to_all(mlnet->workers, j, 1);
            place += other < own || (other == own && j < i);
        }
        mlnet->at[place] = i;
    }
}

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    const struct strategy_settings *settings = &workers_scenario(workers)->settings;
    struct mlnet *mlnet = memory_new(1, sizeof *mlnet);
    *mlnet = (struct mlnet){
        .workers = workers,
        .parameters = parameters,
        .count = count,
        .parts = (uint32_t)fmin(settings->fragments, (double)parameters),
        .fanout = settings->fanout,
        .gain = (float)(settings->gain / count),
        .at = memory_new(count, sizeof *mlnet->at),
        .aggregators = memory_new(count, sizeof *mlnet->aggregators),
    };
    order_by_links(mlnet);
    for (uint32_t place = 0; place < count; place++) {
        struct aggregator *aggregator = &mlnet->aggregators[mlnet->at[place]];
        aggregator->place = place;
        aggregator->came = memory_new(mlnet->parts, sizeof *aggregator->came);
        aggregator->sum = memory_new(2 * parameters, sizeof *aggregator->sum);
        aggregator->next = aggregator->sum + parameters;
        memcpy(aggregator->next, start, parameters * sizeof *start);
        if (place > 0)
            mlnet->aggregators[mlnet->at[(place - 1) / mlnet->fanout]].children++;
    }
    return mlnet;
}

static void end(void *self)
{
    struct mlnet *mlnet = self;
    for (uint32_t i = 0; i < mlnet->count; i++) {
        free(mlnet->aggregators[i].came);
        free(mlnet->aggregators[i].sum);
    }
    free(mlnet->at);
    free(mlnet->aggregators);
    free(mlnet);
}

static bool may_step(void *self, uint32_t i)
{
    const struct mlnet *mlnet = self;
    return mlnet->aggregators[i].parts_came == workers_steps(mlnet->workers, i) * mlnet->parts;
}

static size_t part_first(const struct mlnet *mlnet, uint32_t part)
{
    return mlnet->parameters * part / mlnet->parts;
}

/* Sends a part of values[P] from worker i to worker `to`. Older rounds and earlier parts have
 * priority. */
static void send(struct mlnet *mlnet, uint32_t i, uint32_t to, uint32_t kind, uint32_t part,
                 const float *values)
{
    const size_t first = part_first(mlnet, part), after = part_first(mlnet, part + 1);
    struct content *content = content_run(first, after - first);
    memcpy(content->values, values + first, (after - first) * sizeof *values);
    const uint32_t order =
        (uint32_t)(mlnet->aggregators[i].parts_came / mlnet->parts) * mlnet->parts + part;
    const struct sim_message message = {.bytes = (after - first) * sizeof(float),
                                        .kind = kind,
                                        .number = part,
                                        .priority = UINT32_MAX - order,
                                        .content = content};
    workers_send(mlnet->workers, i, to, &message);
}

static void receive_part(struct mlnet *mlnet, uint32_t i, uint32_t part, const float *values)
{
    struct aggregator *aggregator = &mlnet->aggregators[i];
    const size_t first = part_first(mlnet, part), after = part_first(mlnet, part + 1);
    memmove(aggregator->next + first, values, (after - first) * sizeof *values);
    for (uint32_t k = 1; k <= aggregator->children; k++)
        send(mlnet, i, mlnet->at[aggregator->place * mlnet->fanout + k], DOWN, part,
             aggregator->next);
    if (++aggregator->parts_came % mlnet->parts == 0)
        workers_write(mlnet->workers, i, aggregator->next);
}

/* Adds values to worker i's sum of a part. Once the sum is complete, worker i sends it to its
 * parent, or applies it to W if it is the root. */
static void add_up(struct mlnet *mlnet, uint32_t i, uint32_t part, const float *values)
{
    struct aggregator *aggregator = &mlnet->aggregators[i];
    const size_t first = part_first(mlnet, part), after = part_first(mlnet, part + 1);
    float *sum = aggregator->sum;
    for (size_t c = first; c < after; c++)
        sum[c] += values[c - first];
    if (++aggregator->came[part] <= aggregator->children)
        return;
    if (aggregator->place > 0) {
        send(mlnet, i, mlnet->at[(aggregator->place - 1) / mlnet->fanout], UP, part, sum);
    } else {
        for (size_t c = first; c < after; c++)
            aggregator->next[c] += mlnet->gain * sum[c];
        receive_part(mlnet, i, part, aggregator->next + first);
    }
    memset(sum + first, 0, (after - first) * sizeof *sum);
    aggregator->came[part] = 0;
}

static void on_step(void *self, uint32_t i)
{
    struct mlnet *mlnet = self;
    const float *progress = workers_step(mlnet->workers, i);
    for (uint32_t part = 0; part < mlnet->parts; part++)
        add_up(mlnet, i, part, progress + part_first(mlnet, part));
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct mlnet *mlnet = self;
    (void)from;
    if (message->kind == UP)
        add_up(mlnet, i, (uint32_t)message->number, message->content->values);
    else
        receive_part(mlnet, i, (uint32_t)message->number, message->content->values);
}

static void weights(void *self, float *to)
{
    const struct mlnet *mlnet = self;
    memcpy(to, mlnet->aggregators[mlnet->at[0]].next, mlnet->parameters * sizeof *to);
}

const float *mlnet_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {.begin = begin,
                                                 .may_step = may_step,
                                                 .on_step = on_step,
                                                 .on_message = on_message,
                                                 .weights = weights,
                                                 .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
