/* Strom (Scalable distributed DNN training using commodity GPU cloud computing, Interspeech 2015):
 * sends the signs of entries that have added up to a threshold.
 *
 *   r = r + Δ                        Δ: change of a worker's weights by a step
 *   where |r| > τ:                   the message to all: indexes and signs;  r = r − sign(r) τ
 *   w = w + gain/n · sign τ          of own messages and arriving ones;  n: number of workers
 *
 * A worker's own weights follow its messages, not its steps. So all weights are equal except for
 * messages in flight, as in the paper. τ is strategy.threshold; it suits one model and one rate. An
 * entry is 4 bytes: 31 bits of index and one of sign. The paper's entropy coding of indexes for the
 * largest models is left out. The paper sends gradients and exchanges them between two steps. Here
 * progress replaces gradients, so that any optimizer may be used, and no worker waits, in favour of
 * this method. A step without entries sends no message. Tests: tests/unit/sim/test_strom.c. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define ENTRY_BYTES 4

struct strom {
    struct workers *workers;
    size_t parameters;
    float threshold; /* magnitude τ above which unsent progress is sent */
    float gain;      /* gain / n, factor on each worker's progress */
    float *pending;  /* [count][P] unsent progress r of each worker */
    float *sent;     /* [P] message of one worker */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    const struct strategy_settings *settings = &workers_scenario(workers)->settings;
    struct strom *strom = memory_new(1, sizeof *strom);
    (void)start;
    *strom = (struct strom){
        .workers = workers,
        .parameters = parameters,
        .threshold = (float)settings->threshold,
        .gain = (float)(settings->gain / count),
        .pending = memory_new(count * parameters, sizeof *strom->pending),
        .sent = memory_new(parameters, sizeof *strom->sent),
    };
    return strom;
}

static void end(void *self)
{
    struct strom *strom = self;
    free(strom->pending);
    free(strom->sent);
    free(strom);
}

static void on_step(void *self, uint32_t i)
{
    struct strom *strom = self;
    float *pending = strom->pending + i * strom->parameters, *sent = strom->sent;
    const float threshold = strom->threshold;
    const float *progress = workers_step(strom->workers, i);
    for (size_t c = 0; c < strom->parameters; c++) {
        pending[c] += progress[c];
        sent[c] = fabsf(pending[c]) > threshold ? copysignf(threshold, pending[c]) : 0;
        pending[c] -= sent[c];
    }
    workers_add(strom->workers, i, -1, progress);
    workers_add(strom->workers, i, strom->gain, sent);
    struct content *content = content_of_nonzero(sent, strom->parameters);
    const struct sim_message message = {.bytes = content->count * ENTRY_BYTES, .content = content};
    if (content->count > 0)
        workers_send_all(strom->workers, i, &message);
    else
        content_drop(content);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct strom *strom = self;
    (void)from;
    workers_add_content(strom->workers, i, strom->gain, message->content);
}

const float *strom_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {
        .begin = begin, .on_step = on_step, .on_message = on_message, .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
