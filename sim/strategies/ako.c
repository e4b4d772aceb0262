/* Ako (Watcharapichat, Lopez Morales, Fernandez, Pietzuch, SoCC 2016): each worker sends a
 * partition of its progress to all others, without a server and without waiting.
 *
 *   a = a + Δ                   Δ: change of a worker's weights by its step
 *   partition k = t mod p       is sent to all in step t:  message = a_k;  a_k = 0
 *   w = w + gain/n · (own Δ, and all that arrives)              n: number of workers
 *
 * Every entry of every step is sent once, at most p − 1 steps late. A step sends a p-th of the
 * model to each worker, 4 bytes an entry. With `auto`, p is the least number of partitions
 * for which the worker's links keep up with its steps:
 *
 *   p = ⌈seconds for the whole model to each other worker / seconds of a step⌉
 *
 * The paper adds gradients, with a gain of n. Here progress replaces gradients, so that any
 * optimizer may be used. Tests: tests/unit/sim/test_ako.c and test_ako_parts.c. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "config/config.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

struct ako {
    struct workers *workers;
    float gain;      /* gain / n, factor on each worker's progress */
    uint32_t *parts; /* [count] number p of each worker's partitions */
    float *pending;  /* [count][P] each worker's unsent progress, `a` in the formulas above */
    size_t parameters;
};

static uint32_t parts_of(const struct workers *workers, uint32_t i)
{
    const uint32_t configured = workers_scenario(workers)->settings.partitions;
    const double bytes = (double)workers_parameters(workers) * sizeof(float);
    const double step_s = (double)workers_step_ns(workers, i) * 1e-9;
    const double parts = ceil(workers_seconds_to_all(workers, i, bytes) / step_s);
    if (configured != CONFIG_AUTO)
        return configured;
    return (uint32_t)fmin(fmax(parts, 1), (double)workers_parameters(workers));
}

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    struct ako *ako = memory_new(1, sizeof *ako);
    (void)start;
    *ako = (struct ako){
        .workers = workers,
        .gain = (float)(workers_scenario(workers)->settings.gain / count),
        .parameters = workers_parameters(workers),
        .parts = memory_new(count, sizeof *ako->parts),
        .pending = memory_new(count * workers_parameters(workers), sizeof *ako->pending),
    };
    for (uint32_t i = 0; i < count; i++)
        ako->parts[i] = parts_of(workers, i);
    return ako;
}

static void end(void *self)
{
    struct ako *ako = self;
    free(ako->parts);
    free(ako->pending);
    free(ako);
}

static void publish(struct ako *ako, uint32_t i)
{
    float *pending = ako->pending + i * ako->parameters;
    const uint32_t parts = ako->parts[i];
    const size_t k = (workers_steps(ako->workers, i) - 1) % parts;
    const size_t first = ako->parameters * k / parts, end = ako->parameters * (k + 1) / parts;
    if (first == end)
        return;
    struct content *content = content_run(first, end - first);
    for (size_t c = first; c < end; c++) {
        content->values[c - first] = pending[c];
        pending[c] = 0;
    }
    const struct sim_message message = {.bytes = content->count * sizeof(float),
                                        .content = content};
    workers_send_all(ako->workers, i, &message);
}

static void on_step(void *self, uint32_t i)
{
    struct ako *ako = self;
    float *pending = ako->pending + i * ako->parameters;
    const float *progress = workers_step(ako->workers, i);
    for (size_t c = 0; c < ako->parameters; c++)
        pending[c] += progress[c];
    workers_add(ako->workers, i, ako->gain - 1, progress);
    publish(ako, i);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct ako *ako = self;
    (void)from;
    workers_add_content(ako->workers, i, ako->gain, message->content);
}

const float *ako_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {
        .begin = begin, .on_step = on_step, .on_message = on_message, .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
