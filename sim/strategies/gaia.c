/* Gaia (Hsieh, Harlap, Vijaykumar, Konomis, Ganger, Gibbons, Mutlu, NSDI 2017): approximate
 * synchronous parallel. Significant updates are sent at once, others once they have added up.
 *
 *   a = a + Δ                          Δ: change of a worker's weights by a step
 *   where |a / w| > v / √t:            the message of step t to all: indexes and values a;  a = 0
 *   w = w + gain/n · (own Δ at once, and all that arrives)           n: number of workers
 *
 *   selective barrier: if a message must queue, its indexes are sent ahead of the queue as an
 *     announcement; the receiver makes no step before the announced message has arrived
 *   mirror clock: each message has the number of its step; no worker is more than clock_bound steps
 *     ahead of the slowest known clock
 *
 * v is strategy.significance; the paper has 0.01 to 0.02, and bounds by round trips instead of a
 * constant. Each data centre is one worker here. An entry is 8 bytes; or all values are sent, 4
 * bytes each, if that is less. An announced index is 4 bytes, and the clock in every message 8. A
 * barrier blocks a whole step, not the reading of one entry. Tests: tests/unit/sim/test_gaia.c. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define CLOCK_BYTES 8
#define PLACE_BYTES 4
#define ENTRY_BYTES 8

enum { UPDATE, BARRIER };

/* Clocks of another worker, as this worker knows them. */
struct mirror {
    uint64_t clock;     /* step number in the other worker's last update */
    uint64_t announced; /* step number in the other worker's last announcement */
};

struct gaia {
    struct workers *workers;
    size_t parameters;
    uint32_t count;
    double significance;    /* least relative size v of a significant update */
    uint32_t bound;         /* clock_bound */
    float gain;             /* gain / n, factor on each worker's progress */
    float *pending;         /* [count][P] unsent progress a of each worker */
    float *own;             /* [P] weights of one worker, then its message */
    struct mirror *mirrors; /* [i][j] state of worker j as known to worker i */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    const struct strategy_settings *settings = &workers_scenario(workers)->settings;
    struct gaia *gaia = memory_new(1, sizeof *gaia);
    (void)start;
    *gaia = (struct gaia){
        .workers = workers,
        .parameters = parameters,
        .count = count,
        .significance = settings->significance,
        .bound = settings->clock_bound,
        .gain = (float)(settings->gain / count),
        .pending = memory_new(count * parameters, sizeof *gaia->pending),
        .own = memory_new(parameters, sizeof *gaia->own),
        .mirrors = memory_new((size_t)count * count, sizeof *gaia->mirrors),
    };
    return gaia;
}

static void end(void *self)
{
    struct gaia *gaia = self;
    free(gaia->pending);
    free(gaia->own);
    free(gaia->mirrors);
    free(gaia);
}

static bool may_step(void *self, uint32_t i)
{
    const struct gaia *gaia = self;
    const struct mirror *mirrors = gaia->mirrors + (size_t)i * gaia->count;
    const uint64_t steps = workers_steps(gaia->workers, i);
    for (uint32_t j = 0; j < gaia->count; j++)
        if (j != i &&
            (mirrors[j].announced > mirrors[j].clock || steps >= mirrors[j].clock + gaia->bound))
            return false;
    return true;
}

/* Removes and returns worker i's pending entries that are significant in step t. */
static struct content *take_significant(struct gaia *gaia, uint32_t i, uint64_t t)
{
    const float part = (float)(gaia->significance / sqrt((double)t));
    float *pending = gaia->pending + i * gaia->parameters, *own = gaia->own;
    workers_read(gaia->workers, i, own);
    for (size_t c = 0; c < gaia->parameters; c++) {
        own[c] = fabsf(pending[c]) > part * fabsf(own[c]) ? pending[c] : 0;
        pending[c] -= own[c];
    }
    return content_of_nonzero(own, gaia->parameters);
}

static void announce(struct gaia *gaia, uint32_t i, const struct sim_message *update)
{
    const struct sim_message barrier = {.bytes = CLOCK_BYTES + update->content->count * PLACE_BYTES,
                                        .kind = BARRIER,
                                        .number = update->number,
                                        .priority = 1};
    for (uint32_t j = 0; j < gaia->count; j++)
        if (j != i && update->content->count > 0 && workers_waiting(gaia->workers, i, j) > 0)
            workers_send(gaia->workers, i, j, &barrier);
}

static void on_step(void *self, uint32_t i)
{
    struct gaia *gaia = self;
    float *pending = gaia->pending + i * gaia->parameters;
    const float *progress = workers_step(gaia->workers, i);
    const uint64_t t = workers_steps(gaia->workers, i);
    const uint64_t whole = gaia->parameters * sizeof(float);
    for (size_t c = 0; c < gaia->parameters; c++)
        pending[c] += progress[c];
    workers_add(gaia->workers, i, gaia->gain - 1, progress);
    struct content *content = take_significant(gaia, i, t);
    const uint64_t sparse = content->count * ENTRY_BYTES;
    const struct sim_message update = {.bytes = CLOCK_BYTES + u64_min(sparse, whole),
                                       .kind = UPDATE,
                                       .number = t,
                                       .content = content};
    announce(gaia, i, &update);
    workers_send_all(gaia->workers, i, &update);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct gaia *gaia = self;
    struct mirror *mirror = &gaia->mirrors[(size_t)i * gaia->count + from];
    if (message->kind == BARRIER) {
        mirror->announced = message->number;
        return;
    }
    mirror->clock = message->number;
    workers_add_content(gaia->workers, i, gaia->gain, message->content);
}

const float *gaia_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {.begin = begin,
                                                 .may_step = may_step,
                                                 .on_step = on_step,
                                                 .on_message = on_message,
                                                 .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
