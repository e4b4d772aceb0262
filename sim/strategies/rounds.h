/* Synchronous rounds: the framework of all strategies in which all nodes wait for each other.
 *
 *   node i learns ─► send ─┐               ┌─► receive ─► node i learns …
 *                          ├─► exchange() ─┤
 *   node j learns ─► send ─┘               └─► receive ─► node j learns …
 *
 * A method defines the messages and their use. The framework runs the learners and records time,
 * bytes and one outcome moment per second. A round takes the slowest node's computing time. To this
 * is added the duration of the exchange, or that of the steps made during the exchange, whichever
 * is longer. Every transfer is as slow as the exchange's slowest link: it has the longest delay and
 * the lowest rate of all links, with the rates at the start of the exchange. Senders whose messages
 * cross the same two regions in one direction share the rate between these regions. In favour of
 * these methods links never stall or lose bytes, and all machines accept connections. In a ring of
 * n nodes:
 *
 *   reduce   messages are summed on the way; 2(n−1) transfers of an n-th of a message
 *   gather   each message passes every node; n−1 transfers of a message
 *
 * Faults are not played: one dead node would stop a round. Tests: tests/unit/sim/test_baselines.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_ROUNDS_H
#define HEARSAY_SIM_STRATEGIES_ROUNDS_H

#include "experiment/experiment.h"

struct round {
    uint32_t steps;     /* steps of each node before the exchange */
    uint32_t meanwhile; /* steps that each node makes during the exchange */
    uint64_t bytes;     /* bytes sent in the exchange, summed over all nodes */
    uint32_t transfers; /* number of sequential transfers, each with an equal part of `bytes` */
    /* [count] to[i] = receiver of node i, or i itself if node i sends nothing; NULL = a ring. */
    const uint32_t *to;
};

/* Set bytes and transfers of a round in which each node exchanges one message of message_bytes
 * over a ring. */
void round_is_ring_reduce(struct round *round, uint32_t count, uint64_t message_bytes);
void round_is_ring_gather(struct round *round, uint32_t count, uint64_t message_bytes);

/* In each round the framework calls `send` of each node, then `exchange`, then `receive` of each
 * node. send and receive make the steps of the round. */
struct rounds_method {
    /* Returns the state `self` for `count` nodes, which all have the weights start[P]. settings: as
     * given to rounds_play. */
    void *(*begin)(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start);
    struct round (*next)(void *self);
    void (*send)(void *self, uint32_t i, struct learner *learner);
    void (*exchange)(void *self);
    void (*receive)(void *self, uint32_t i, struct learner *learner);
    const float *(*weights)(const void *self); /* [P] weights to evaluate */
    void (*end)(void *self);
};

/* Plays a method. Returns the weights to evaluate (strategy.h). settings: for method->begin; may be
 * NULL. */
const float *rounds_play(const struct rounds_method *method, const void *settings,
                         struct experiment *experiment, struct outcome *outcome);

void rounds_learn(struct learner *learner, uint32_t steps);

/* Returns `configured`, or `published` if `configured` is CONFIG_AUTO_REAL. published: usually the
 * value from the method's paper. */
float rounds_or_published(double configured, double published);

#endif
