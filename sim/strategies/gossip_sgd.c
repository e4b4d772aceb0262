/* Gossip SGD (Jin, Yuan, Iandola, Keutzer 2016, arXiv 1611.04581): after each step a worker
 * averages its weights with those of a random other worker.
 *
 *   pull:  ask worker j;  x = (x + x_j) / 2 when its weights have arrived, then the next step
 *   push:  send x to worker j;  x = (x + the sum of the m that arrived) / (1 + m)
 *
 * strategy.gossip_by is pull or push. Each weight is 4 bytes, a request 8. A pulling worker waits
 * for the answer, a pushing one never waits. Pushed weights are mixed in when they arrive, and m
 * counts them since the receiver's last step. The sender's weights do not change, so the mean over
 * all workers is preserved only on average. The paper pulls and pushes in every step. Tests:
 * tests/unit/sim/test_gossip_sgd.c. */
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

#define REQUEST_BYTES 8

enum { REQUEST, WEIGHTS };

struct gossip_sgd {
    struct workers *workers;
    size_t parameters;
    bool is_pull;
    bool *is_asking; /* [count] whether each worker waits for requested weights */
    uint32_t *came;  /* [count] number of weight vectors received since each worker's last step */
    float *own;      /* [P] weights of one worker */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    struct gossip_sgd *gossip = memory_new(1, sizeof *gossip);
    (void)start;
    *gossip = (struct gossip_sgd){
        .workers = workers,
        .parameters = workers_parameters(workers),
        .is_pull = workers_scenario(workers)->settings.gossip_by == GOSSIP_PULL,
        .is_asking = memory_new(count, sizeof *gossip->is_asking),
        .came = memory_new(count, sizeof *gossip->came),
        .own = memory_new(workers_parameters(workers), sizeof *gossip->own),
    };
    return gossip;
}

static void end(void *self)
{
    struct gossip_sgd *gossip = self;
    free(gossip->is_asking);
    free(gossip->came);
    free(gossip->own);
    free(gossip);
}

static bool may_step(void *self, uint32_t i)
{
    const struct gossip_sgd *gossip = self;
    return !gossip->is_asking[i];
}

static void send_weights(struct gossip_sgd *gossip, uint32_t i, uint32_t to)
{
    struct content *content = content_run(0, gossip->parameters);
    workers_read(gossip->workers, i, content->values);
    const struct sim_message message = {
        .bytes = gossip->parameters * sizeof(float), .kind = WEIGHTS, .content = content};
    workers_send(gossip->workers, i, to, &message);
}

static void on_step(void *self, uint32_t i)
{
    struct gossip_sgd *gossip = self;
    const uint32_t others = workers_count(gossip->workers) - 1;
    const struct sim_message request = {.bytes = REQUEST_BYTES, .kind = REQUEST};
    (void)workers_step(gossip->workers, i);
    gossip->came[i] = 0;
    if (others == 0)
        return;
    const uint32_t drawn = rng_below(workers_rng(gossip->workers), others);
    const uint32_t other = drawn < i ? drawn : drawn + 1;
    gossip->is_asking[i] = gossip->is_pull;
    if (gossip->is_pull)
        workers_send(gossip->workers, i, other, &request);
    else
        send_weights(gossip, i, other);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct gossip_sgd *gossip = self;
    float *own = gossip->own;
    if (message->kind == REQUEST) {
        send_weights(gossip, i, from);
        return;
    }
    gossip->is_asking[i] = false;
    gossip->came[i]++;
    workers_read(gossip->workers, i, own);
    for (size_t c = 0; c < gossip->parameters; c++)
        own[c] += (message->content->values[c] - own[c]) / (float)(1 + gossip->came[i]);
    workers_write(gossip->workers, i, own);
}

const float *gossip_sgd_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {.begin = begin,
                                                 .may_step = may_step,
                                                 .on_step = on_step,
                                                 .on_message = on_message,
                                                 .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
