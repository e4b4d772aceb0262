/* AD-PSGD (Lian, Zhang, Zhang, Liu 2018, arXiv 1710.06952): after a step two workers average their
 * weights, without waiting.
 *
 *   active i                         passive j
 *   x = x_i        ─── x ──►         d = (x − x_j) / 2
 *   x_i −= d       ◄── x_j ──        x_j += d
 *
 * A message has 4 bytes for each parameter. Even workers are active: after each step an even worker
 * asks a random odd worker. No active worker is ever asked, which prevents deadlock as in the
 * paper. Workers make steps during an exchange and keep their progress, so an exchange never
 * changes the mean over all workers. An active worker has one exchange at a time. If it lasts
 * longer than a step, the next step starts no exchange, like the paper's communication thread that
 * falls behind. Weights are not locked, in favour of this method.
 *
 * Tests: tests/unit/sim/test_adpsgd.c. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

enum { ASK, ANSWER };

struct adpsgd {
    struct workers *workers;
    size_t parameters;
    float **asked; /* [count] weights that each active worker has sent; NULL = it has no exchange */
    float *own;    /* [P] weights of one worker */
};

static void *begin(struct workers *workers, const float *start)
{
    struct adpsgd *adpsgd = memory_new(1, sizeof *adpsgd);
    (void)start;
    *adpsgd = (struct adpsgd){
        .workers = workers,
        .parameters = workers_parameters(workers),
        .asked = memory_new(workers_count(workers), sizeof *adpsgd->asked),
        .own = memory_new(workers_parameters(workers), sizeof *adpsgd->own),
    };
    return adpsgd;
}

static void end(void *self)
{
    struct adpsgd *adpsgd = self;
    for (uint32_t i = 0; i < workers_count(adpsgd->workers); i++)
        free(adpsgd->asked[i]);
    free(adpsgd->asked);
    free(adpsgd->own);
    free(adpsgd);
}

static void send(struct adpsgd *adpsgd, uint32_t i, uint32_t j, uint32_t kind)
{
    struct content *content = content_run(0, adpsgd->parameters);
    workers_read(adpsgd->workers, i, content->values);
    const struct sim_message message = {
        .bytes = adpsgd->parameters * sizeof(float), .kind = kind, .content = content};
    workers_send(adpsgd->workers, i, j, &message);
}

static void on_step(void *self, uint32_t i)
{
    struct adpsgd *adpsgd = self;
    const uint32_t passive = workers_count(adpsgd->workers) / 2;
    (void)workers_step(adpsgd->workers, i);
    if (i % 2 != 0 || passive == 0 || adpsgd->asked[i])
        return;
    adpsgd->asked[i] = memory_new(adpsgd->parameters, sizeof(float));
    workers_read(adpsgd->workers, i, adpsgd->asked[i]);
    send(adpsgd, i, 2 * rng_below(workers_rng(adpsgd->workers), passive) + 1, ASK);
}

/* Adds (other − then) / 2 to worker i's weights. then: worker i's weights when the exchange began;
 * other: the partner's weights. */
static void move(struct adpsgd *adpsgd, uint32_t i, const float *then, const float *other)
{
    float *own = adpsgd->own;
    for (size_t c = 0; c < adpsgd->parameters; c++)
        own[c] = other[c] - then[c];
    workers_add(adpsgd->workers, i, 0.5f, own);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct adpsgd *adpsgd = self;
    const float *other = message->content->values;
    if (message->kind == ASK) {
        send(adpsgd, i, from, ANSWER);
        workers_read(adpsgd->workers, i, adpsgd->own);
        move(adpsgd, i, adpsgd->own, other);
        return;
    }
    CHECK(adpsgd->asked[i]);
    move(adpsgd, i, adpsgd->asked[i], other);
    free(adpsgd->asked[i]);
    adpsgd->asked[i] = NULL;
}

const float *adpsgd_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {
        .begin = begin, .on_step = on_step, .on_message = on_message, .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
