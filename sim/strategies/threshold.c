/* Thresholds with values (tgaddair/decentralizedsgd, after Strom 2015): sends the values of entries
 * that have added up to more than a threshold.
 *
 *   r = r + Δ                        Δ: change of a worker's weights by a step
 *   where |r| > τ:                   the message to all: indexes and values r;  r = 0
 *   w = w + gain/n · (own Δ at once, and all that arrives)      n: number of workers
 *
 * The local step uses all of Δ, including parts that are never sent. τ is strategy.threshold. An
 * entry is 8 bytes, index and value; or all values are sent, 4 bytes each, if that is less. No
 * worker waits. The published code has gradients for Δ, and a gain of n. A step without entries
 * sends no message. Tests: tests/unit/sim/test_threshold_strategy.c. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define ENTRY_BYTES 8

struct thresholds {
    struct workers *workers;
    size_t parameters;
    float least;    /* magnitude τ above which unsent progress is sent */
    float gain;     /* gain / n, factor on each worker's progress */
    float *pending; /* [count][P] unsent progress r of each worker */
    float *sent;    /* [P] message of one worker */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    const struct strategy_settings *settings = &workers_scenario(workers)->settings;
    struct thresholds *thresholds = memory_new(1, sizeof *thresholds);
    (void)start;
    *thresholds = (struct thresholds){
        .workers = workers,
        .parameters = parameters,
        .least = (float)settings->threshold,
        .gain = (float)(settings->gain / count),
        .pending = memory_new(count * parameters, sizeof *thresholds->pending),
        .sent = memory_new(parameters, sizeof *thresholds->sent),
    };
    return thresholds;
}

static void end(void *self)
{
    struct thresholds *thresholds = self;
    free(thresholds->pending);
    free(thresholds->sent);
    free(thresholds);
}

static uint64_t bytes_of(const struct thresholds *thresholds, const struct content *content)
{
    const uint64_t sparse = content->count * ENTRY_BYTES;
    const uint64_t whole = thresholds->parameters * sizeof(float);
    return u64_min(sparse, whole);
}

static void on_step(void *self, uint32_t i)
{
    struct thresholds *thresholds = self;
    float *pending = thresholds->pending + i * thresholds->parameters, *sent = thresholds->sent;
    const float *progress = workers_step(thresholds->workers, i);
    for (size_t c = 0; c < thresholds->parameters; c++) {
        pending[c] += progress[c];
        sent[c] = fabsf(pending[c]) > thresholds->least ? pending[c] : 0;
        pending[c] -= sent[c];
    }
    workers_add(thresholds->workers, i, thresholds->gain - 1, progress);
    struct content *content = content_of_nonzero(sent, thresholds->parameters);
    const struct sim_message message = {.bytes = bytes_of(thresholds, content), .content = content};
    if (content->count > 0)
        workers_send_all(thresholds->workers, i, &message);
    else
        content_drop(content);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct thresholds *thresholds = self;
    (void)from;
    workers_add_content(thresholds->workers, i, thresholds->gain, message->content);
}

const float *threshold_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {
        .begin = begin, .on_step = on_step, .on_message = on_message, .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
