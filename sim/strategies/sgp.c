/* Stochastic gradient push (Assran, Loizou, Ballas, Rabbat 2019, arXiv 1811.10792): push-sum over a
 * directed graph, one peer in each step.
 *
 *   z = x / w                           weights of a worker, with which it makes its step
 *   x = x + Δ                           Δ: change of z by the step
 *   x = x / 2;  w = w / 2               the other half of both goes to the peer of this round
 *   x = x + x';  w = w + w'             when a half has arrived
 *
 * In round k the peer of worker i is i + 2^(k mod L), L = ⌈log2 n⌉: the directed exponential graph.
 * The sums of x and of w over all workers and messages in flight are constant: w sums up to n.
 *
 * A worker waits for the half that was sent to it overlap_steps rounds ago: 0 is SGP, more is
 * overlap SGP. Early halves are added at once. Each entry of x is 4 bytes, and w 4. The mean of all
 * z is evaluated. Tests: tests/unit/sim/test_sgp.c. */
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define ROUNDS_MAX  32 /* largest L that fits in `came` */
#define SHARE_BYTES 4

struct pusher {
    double w;
    uint64_t came[ROUNDS_MAX]; /* [k mod L] number of messages received from rounds k */
};

struct sgp {
    struct workers *workers;
    size_t parameters;
    uint32_t cycle; /* number L of rounds after which peers repeat; 0 = only one worker exists */
    struct pusher *pushers; /* [count] */
    float *x;               /* [count][P] push-sum numerator x of each worker */
    float *z;               /* [P] weights z of one worker */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    const size_t parameters = workers_parameters(workers);
    struct sgp *sgp = memory_new(1, sizeof *sgp);
    *sgp = (struct sgp){
        .workers = workers,
        .parameters = parameters,
        .pushers = memory_new(count, sizeof *sgp->pushers),
        .x = memory_new(count * parameters, sizeof *sgp->x),
        .z = memory_new(parameters, sizeof *sgp->z),
    };
    while ((uint64_t)1 << sgp->cycle < count)
        sgp->cycle++;
    for (uint32_t i = 0; i < count; i++) {
        sgp->pushers[i].w = 1;
        for (size_t c = 0; c < parameters; c++)
            sgp->x[i * parameters + c] = start[c];
    }
    return sgp;
}

static void end(void *self)
{
    struct sgp *sgp = self;
    free(sgp->pushers);
    free(sgp->x);
    free(sgp->z);
    free(sgp);
}

/* Returns in how many of the first `rounds` rounds a worker's peer was at distance 2^s. */
static uint64_t rounds_at(const struct sgp *sgp, uint64_t rounds, uint32_t s)
{
    return rounds / sgp->cycle + (s < rounds % sgp->cycle);
}

static bool may_step(void *self, uint32_t i)
{
    const struct sgp *sgp = self;
    const uint64_t steps = workers_steps(sgp->workers, i);
    const uint64_t late = workers_scenario(sgp->workers)->settings.overlap_steps;
    for (uint32_t s = 0; steps > late && s < sgp->cycle; s++)
        if (sgp->pushers[i].came[s] < rounds_at(sgp, steps - late, s))
            return false;
    return true;
}

static void push(struct sgp *sgp, uint32_t i, uint64_t round)
{
    const uint32_t distance = (uint32_t)1 << round % sgp->cycle;
    float *x = sgp->x + i * sgp->parameters;
    struct content *content = content_run(0, sgp->parameters);
    for (size_t c = 0; c < sgp->parameters; c++) {
        x[c] /= 2;
        content->values[c] = x[c];
    }
    sgp->pushers[i].w /= 2;
    const struct sim_message message = {.bytes = sgp->parameters * sizeof(float) + SHARE_BYTES,
                                        .number = round,
                                        .weight = sgp->pushers[i].w,
                                        .content = content};
    workers_send(sgp->workers, i, (i + distance) % workers_count(sgp->workers), &message);
}

static void on_step(void *self, uint32_t i)
{
    struct sgp *sgp = self;
    float *x = sgp->x + i * sgp->parameters;
    const uint64_t round = workers_steps(sgp->workers, i);
    const float *progress = workers_step(sgp->workers, i);
    for (size_t c = 0; c < sgp->parameters; c++)
        x[c] += progress[c];
    if (sgp->cycle == 0)
        return;
    push(sgp, i, round);
    for (size_t c = 0; c < sgp->parameters; c++)
        sgp->z[c] = x[c] / (float)sgp->pushers[i].w;
    workers_write(sgp->workers, i, sgp->z);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct sgp *sgp = self;
    struct pusher *pusher = &sgp->pushers[i];
    float *x = sgp->x + i * sgp->parameters;
    (void)from;
    content_add(message->content, 1, x);
    pusher->w += message->weight;
    pusher->came[message->number % sgp->cycle]++;
    for (size_t c = 0; c < sgp->parameters; c++)
        sgp->z[c] = x[c] / (float)pusher->w;
    workers_write(sgp->workers, i, sgp->z);
}

const float *sgp_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {.begin = begin,
                                                 .may_step = may_step,
                                                 .on_step = on_step,
                                                 .on_message = on_message,
                                                 .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
