/* GossipGraD (Daily, Vishnu, Siegel, Warfel, Amatya 2018, arXiv 1803.05880): in each step a worker
 * sends to one worker and receives from another, along a randomized dissemination graph.
 *
 *   L = ⌈log2 n⌉; every L steps the seed draws new places 0 … n − 1 for the n workers
 *   step s: worker at place p ── own ──► place p + 2^(s mod L)
 *                             ◄── received ── place p − 2^(s mod L)
 *   own = (own + received) / 2
 *
 * Information reaches all workers within L steps. strategy.gossip_of = weights exchanges weights,
 * as in the paper. strategy.gossip_of = progress exchanges the change of the weights in a step; the
 * published code (torchdistx) exchanges gradients instead. With progress the weights drift apart,
 * because no worker receives all progress. A worker starts a step only after the message of its
 * previous step has arrived. Messages that arrive early wait. The paper also exchanges during the
 * backward pass, layer by layer, and rotates samples in a ring, which this file does not. Tests:
 * tests/unit/sim/test_gossipgrad.c. */
#include <stdlib.h>

#include "base/memory.h"
#include "strategies/strategy.h"
#include "strategies/workers.h"

/* A message is for the receiver's current round or one of the next AHEAD_MAX - 1 rounds. */
#define AHEAD_MAX 64

struct gossiper {
    uint64_t mixed;       /* number of rounds whose message was mixed in */
    struct content *sent; /* content sent in the last round; NULL = none */
    /* [round mod AHEAD_MAX] content received for the round and not mixed in yet; NULL = none */
    struct content *came[AHEAD_MAX];
};

struct gossipgrad {
    struct workers *workers;
    size_t parameters;
    uint32_t count;
    uint32_t cycle; /* number L of rounds between two draws of places; 0 = only one worker exists */
    enum gossip_of gossip_of;
    struct gossiper *gossipers; /* [count] */
    uint32_t *at;               /* [place] index of the worker at this place */
    float *change;              /* [P] change of one worker's weights */
};

static void *begin(struct workers *workers, const float *start)
{
    const uint32_t count = workers_count(workers);
    struct gossipgrad *gossipgrad = memory_new(1, sizeof *gossipgrad);
    (void)start;
    *gossipgrad = (struct gossipgrad){
        .workers = workers,
        .parameters = workers_parameters(workers),
        .count = count,
        .gossip_of = workers_scenario(workers)->settings.gossip_of,
        .gossipers = memory_new(count, sizeof *gossipgrad->gossipers),
        .at = memory_new(count, sizeof *gossipgrad->at),
        .change = memory_new(workers_parameters(workers), sizeof *gossipgrad->change),
    };
    while ((uint64_t)1 << gossipgrad->cycle < count)
        gossipgrad->cycle++;
    return gossipgrad;
}

static void end(void *self)
{
    struct gossipgrad *gossipgrad = self;
    for (uint32_t i = 0; i < gossipgrad->count; i++) {
        content_drop(gossipgrad->gossipers[i].sent);
        for (int k = 0; k < AHEAD_MAX; k++)
            content_drop(gossipgrad->gossipers[i].came[k]);
    }
    free(gossipgrad->gossipers);
    free(gossipgrad->at);
    free(gossipgrad->change);
    free(gossipgrad);
}

static bool may_step(void *self, uint32_t i)
{
    const struct gossipgrad *gossipgrad = self;
    return gossipgrad->gossipers[i].mixed == workers_steps(gossipgrad->workers, i);
}

static uint32_t receiver_of(const struct gossipgrad *gossipgrad, uint32_t i, uint64_t round)
{
    const uint64_t seed = workers_scenario(gossipgrad->workers)->seed;
    struct rng rng = rng_new(seed, round / gossipgrad->cycle + 1);
    uint32_t *at = gossipgrad->at, place = 0;
    for (uint32_t p = 0; p < gossipgrad->count; p++) {
        const uint32_t other = rng_below(&rng, p + 1);
        at[p] = at[other];
        at[other] = p;
    }
    while (at[place] != i)
        place++;
    return at[(place + ((uint32_t)1 << round % gossipgrad->cycle)) % gossipgrad->count];
}

/* If the message for worker i's last step has arrived, adds half of (received − sent) to the
 * worker's weights. This averages received and sent content: weights or progress. */
static void mix(struct gossipgrad *gossipgrad, uint32_t i)
{
    struct gossiper *gossiper = &gossipgrad->gossipers[i];
    struct content **came = &gossiper->came[gossiper->mixed % AHEAD_MAX];
    if (gossiper->mixed == workers_steps(gossipgrad->workers, i) || !*came)
        return;
    for (size_t c = 0; c < gossipgrad->parameters; c++)
        gossipgrad->change[c] = (*came)->values[c] - gossiper->sent->values[c];
    workers_add(gossipgrad->workers, i, 0.5f, gossipgrad->change);
    content_drop(*came);
    *came = NULL;
    gossiper->mixed++;
}

static void on_step(void *self, uint32_t i)
{
    struct gossipgrad *gossipgrad = self;
    struct gossiper *gossiper = &gossipgrad->gossipers[i];
    const uint64_t round = workers_steps(gossipgrad->workers, i);
    const float *progress = workers_step(gossipgrad->workers, i);
    if (gossipgrad->cycle == 0) {
        gossiper->mixed++;
        return;
    }
    struct content *content = content_run(0, gossipgrad->parameters);
    for (size_t c = 0; c < gossipgrad->parameters; c++)
        content->values[c] = progress[c];
    if (gossipgrad->gossip_of == GOSSIP_WEIGHTS)
        workers_read(gossipgrad->workers, i, content->values);
    content_drop(gossiper->sent);
    gossiper->sent = content;
    content->references++;
    const struct sim_message message = {
        .bytes = gossipgrad->parameters * sizeof(float), .number = round, .content = content};
    workers_send(gossipgrad->workers, i, receiver_of(gossipgrad, i, round), &message);
    mix(gossipgrad, i);
}

static void on_message(void *self, uint32_t i, uint32_t from, const struct sim_message *message)
{
    struct gossipgrad *gossipgrad = self;
    struct gossiper *gossiper = &gossipgrad->gossipers[i];
    (void)from;
    CHECK(message->number - gossiper->mixed < AHEAD_MAX);
    CHECK(!gossiper->came[message->number % AHEAD_MAX]);
    gossiper->came[message->number % AHEAD_MAX] = message->content;
    message->content->references++;
    mix(gossipgrad, i);
}

const float *gossipgrad_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct workers_method METHOD = {.begin = begin,
                                                 .may_step = may_step,
                                                 .on_step = on_step,
                                                 .on_message = on_message,
                                                 .end = end};
    return workers_play(&METHOD, experiment, outcome);
}
