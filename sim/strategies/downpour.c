/* Downpour SGD (Dean et al., Large scale distributed deep networks, NIPS 2012): an asynchronous
 * parameter server.
 *
 *   each worker:  a = a + Δ                       Δ: change of its weights by a step
 *                 every push_steps:  a ─► server;  a = 0
 *                 every fetch_steps: w ◄─ server, after a request of 8 bytes
 *   the server:   W = W + gain/n · a              when a has arrived; n: number of workers
 *
 * An entry of a, w or W is 4 bytes. The server is on the machine of the worker with the best uplink
 * to all others. That machine's links carry everything; its own worker's messages are free. During
 * a fetch a worker steps with its old weights and starts no other fetch. Fetched weights replace
 * its own. As in the paper, they lack progress that the worker has not pushed yet. Progress
 * replaces gradients, so that any optimizer may be used; the paper's server has Adagrad.
 *
 * With strategy.average it is SparkNet's averaging (Moritz, Nishihara, Stoica, Jordan 2016, arXiv
 * 1511.06051): every push_steps a worker sends its weights and waits for the mean of all; that
 * paper has push_steps of 10 to 100. The server's weights are evaluated. Tests:
 * tests/unit/sim/test_downpour.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "config/config.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define REQUEST_BYTES 8

enum { PUSH, REQUEST, WEIGHTS, LOCAL };

struct downpour {
    struct workers *workers;
    size_t parameters;
    uint32_t count;
    uint32_t server; /* index of the worker on the server's machine */
    uint32_t push_steps;
    uint32_t fetch_steps;
    bool is_average;
    float gain;        /* gain / n, factor on each worker's progress */
    float *common;     /* [P] the server's weights */
    float *sum;        /* [P] if is_average: sum of the weights that the server has received */
    uint32_t came;     /* number of workers whose weights are in `sum` */
    float *pending;    /* [count][P] unpushed progress a of each worker */
    bool *is_fetching; /* [count] whether each worker waits for the server's weights */
};

static uint32_t best_server(const struct workers *workers)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < workers_count(workers); i++)
        if (workers_seconds_to_all(workers, i, 1e6) < workers_seconds_to_all(workers, best, 1e6))
            best = i;
    return best;
}

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    const struct strategy_settings *settings = &workers_scenario(workers)->settings;
    const bool as_pushed = settings->fetch_steps == CONFIG_AUTO;
    struct downpour *downpour = memory_new(1, sizeof *downpour);
    *downpour = (struct downpour){
        .workers = workers,
        .parameters = parameters,
        .count = count,
        .server = best_server(workers),
        .push_steps = settings->push_steps,
        .fetch_steps = as_pushed ? settings->push_steps : settings->fetch_steps,
        .is_average = settings->average,
        .gain = (float)(settings->gain / count),
        .common = memory_new(parameters, sizeof *downpour->common),
        .sum = memory_new(parameters, sizeof *downpour->sum),
        .pending = memory_new(count * parameters, sizeof *downpour->pending),
        .is_fetching = memory_new(count, sizeof *downpour->is_fetching),
    };
    memcpy(downpour->common, start, parameters * sizeof *start);
    return downpour;
}

static void end(void *self)
{
    struct downpour *downpour = self;
    free(downpour->common);
    free(downpour->sum);
    free(downpour->pending);
    free(downpour->is_fetching);
    free(downpour);
}

static bool may_step(void *self, uint32_t i)
{
    const struct downpour *downpour = self;
    return !downpour->is_average || !downpour->is_fetching[i];
}

static void send(struct downpour *downpour, uint32_t from, uint32_t to, uint32_t kind,
                 const float *values)
{
    struct content *content = content_run(0, downpour->parameters);
    memcpy(content->values, values, downpour->parameters * sizeof *values);
    const struct sim_message message = {
        .bytes = downpour->parameters * sizeof(float), .kind = kind, .content = content};
    workers_send(downpour->workers, from, to, &message);
}

static void on_step(void *self, uint32_t i)
{
    struct downpour *downpour = self;
    float *pending = downpour->pending + i * downpour->parameters;
    const float *progress = workers_step(downpour->workers, i);
    const uint64_t steps = workers_steps(downpour->workers, i);
    const bool pushes = steps % downpour->push_steps == 0;
    for (size_t c = 0; c < downpour->parameters; c++)
        pending[c] += progress[c];
    if (downpour->is_average && pushes)
        workers_read(downpour->workers, i, pending);
    if (pushes) {
        send(downpour, i, downpour->server, downpour->is_average ? LOCAL : PUSH, pending);
        memset(pending, 0, downpour->parameters * sizeof *pending);
    }
    if (downpour->is_average) {
        downpour->is_fetching[i] = pushes;
        return;
    }
    if (steps % downpour->fetch_steps == 0 && !downpour->is_fetching[i]) {
        const struct sim_message request = {.bytes = REQUEST_BYTES, .kind = REQUEST};
        downpour->is_fetching[i] = true;
        workers_send(downpour->workers, i, downpour->server, &request);
    }
}

static void average(struct downpour *downpour, const struct content *local)
{
    content_add(local, 1, downpour->sum);
    if (++downpour->came < downpour->count)
        return;
    for (size_t c = 0; c < downpour->parameters; c++) {
        downpour->common[c] = downpour->sum[c] / (float)downpour->count;
        downpour->sum[c] = 0;
    }
    downpour->came = 0;
    for (uint32_t i = 0; i < downpour->count; i++)
        send(downpour, downpour->server, i, WEIGHTS, downpour->common);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct downpour *downpour = self;
    CHECK(message->kind == WEIGHTS || i == downpour->server);
    if (message->kind == PUSH) {
        content_add(message->content, downpour->gain, downpour->common);
    } else if (message->kind == REQUEST) {
        send(downpour, i, from, WEIGHTS, downpour->common);
    } else if (message->kind == LOCAL) {
        average(downpour, message->content);
    } else {
        workers_write(downpour->workers, i, message->content->values);
        downpour->is_fetching[i] = false;
    }
}

static void weights(void *self, float *to)
{
    const struct downpour *downpour = self;
    memcpy(to, downpour->common, downpour->parameters * sizeof *to);
}

const float *downpour_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {.begin = begin,
                                                 .may_step = may_step,
                                                 .on_step = on_step,
                                                 .on_message = on_message,
                                                 .weights = weights,
                                                 .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
