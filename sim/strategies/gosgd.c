/* GoSGD (Blot, Picard, Cord, Thome 2016, arXiv 1611.09726): a worker occasionally pushes its
 * weights to one other worker, with half of its share.
 *
 *   after a step, with probability p:  a_i = a_i / 2;  worker i ── (x_i, a_i) ──► random worker j
 *   when (x, a) has arrived:           x_j = (a_j x_j + a x) / (a_j + a);  a_j = a_j + a
 *
 * Initially a is 1/n for each of n workers. The sum of all shares, including messages in flight, is
 * always 1, and no worker waits. p is strategy.probability; the paper has about 0.01 to 0.4. Each
 * weight is 4 bytes, and a share 4. Weights are mixed in on arrival instead of before the next
 * step, in favour of this method. Tests: tests/unit/sim/test_gosgd.c. */
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define SHARE_BYTES 4

struct gosgd {
    struct workers *workers;
    size_t parameters;
    double *shares; /* [count] */
    float *own;     /* [P] weights of one worker */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    struct gosgd *gosgd = memory_new(1, sizeof *gosgd);
    (void)start;
    *gosgd = (struct gosgd){
        .workers = workers,
        .parameters = workers_parameters(workers),
        .shares = memory_new(count, sizeof *gosgd->shares),
        .own = memory_new(workers_parameters(workers), sizeof *gosgd->own),
    };
    for (uint32_t i = 0; i < count; i++)
        gosgd->shares[i] = 1.0 / count;
    return gosgd;
}

static void end(void *self)
{
    struct gosgd *gosgd = self;
    free(gosgd->shares);
    free(gosgd->own);
    free(gosgd);
}

static void push(struct gosgd *gosgd, uint32_t i)
{
    struct content *content = content_run(0, gosgd->parameters);
    struct rng *rng = workers_rng(gosgd->workers);
    const uint32_t other = rng_below(rng, workers_count(gosgd->workers) - 1);
    workers_read(gosgd->workers, i, content->values);
    gosgd->shares[i] /= 2;
    const struct sim_message message = {.bytes = gosgd->parameters * sizeof(float) + SHARE_BYTES,
                                        .weight = gosgd->shares[i],
                                        .content = content};
    workers_send(gosgd->workers, i, other < i ? other : other + 1, &message);
}

static void on_step(void *self, uint32_t i)
{
    struct gosgd *gosgd = self;
    const double p = workers_scenario(gosgd->workers)->settings.probability;
    (void)workers_step(gosgd->workers, i);
    if (workers_count(gosgd->workers) > 1 && rng_uniform(workers_rng(gosgd->workers)) < p)
        push(gosgd, i);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct gosgd *gosgd = self;
    const double sum = gosgd->shares[i] + message->weight;
    const float part = (float)(message->weight / sum);
    const float *other = message->content->values;
    float *own = gosgd->own;
    (void)from;
    workers_read(gosgd->workers, i, own);
    for (size_t c = 0; c < gosgd->parameters; c++)
        own[c] += part * (other[c] - own[c]);
    workers_write(gosgd->workers, i, own);
    gosgd->shares[i] = sum;
}

const float *gosgd_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {
        .begin = begin, .on_step = on_step, .on_message = on_message, .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
