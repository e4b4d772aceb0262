/* Synchronous rounds: the frame of every strategy in which all nodes wait for each other.
 *
 *   node i learns ─► send ─┐               ┌─► receive ─► node i learns …
 *                          ├─► exchange() ─┤
 *   node j learns ─► send ─┘               └─► receive ─► node j learns …
 *
 * What is told, and what becomes of it, is the method's own; the frame has the learners, the time,
 * the bytes and the moments. A round takes the computing time of the slowest node, then that of the
 * exchange, or of what nodes compute meanwhile if that is longer. The transfers of an exchange all
 * go at the rate of its slowest link as it is when the exchange begins, shared by those who cross
 * it in the round, and with its longest delay. In favour of these methods links lose nothing and
 * never stall, and machines that can only call others are called. In a ring of n nodes:
 *
 *   reduce   sums of messages are formed on the way; 2(n−1) transfers of an n-th of a message
 *   gather   each message passes every node; n−1 transfers of a message
 *
 * Faults are not played: one dead node would stop a round. Held by tests/unit/sim/test_baselines.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_ROUNDS_H
#define HEARSAY_SIM_STRATEGIES_ROUNDS_H

#include "scenario/experiment.h"

struct round {
    uint32_t steps;     /* of each node before the exchange */
    uint32_t meanwhile; /* of each node while it lasts */
    uint64_t bytes;     /* that all nodes together send */
    uint32_t transfers; /* one after the other, each of the same share of the bytes */
    const uint32_t *to; /* [count]: whom node i sends to, itself: nobody; NULL: a ring */
};

/* Bytes and transfers of the exchange of one message of each node. */
void round_is_ring_reduce(struct round *round, uint32_t count, uint64_t message_bytes);
void round_is_ring_gather(struct round *round, uint32_t count, uint64_t message_bytes);

/* In a round each node's `send` is called, then `exchange`, then each node's `receive`. The two
 * make the steps that the round says. */
struct rounds_method {
    /* For `count` nodes, which all have the weights start[P]. settings: of the strategy. */
    void *(*begin)(const struct experiment *experiment, const void *settings, uint32_t count,
                   const float *start);
    struct round (*next)(void *self);
    void (*send)(void *self, uint32_t i, struct learner *learner);
    void (*exchange)(void *self);
    void (*receive)(void *self, uint32_t i, struct learner *learner);
    const float *(*weights)(const void *self); /* [P]: to be evaluated */
    void (*end)(void *self);
};

/* As strategy.h. */
const float *rounds_play(const struct rounds_method *method, const void *settings,
                         struct experiment *experiment, struct outcome *outcome);

void rounds_learn(struct learner *learner, uint32_t steps);

/* A configured rate or momentum, or where it is auto the published one. */
float rounds_or_published(double configured, double published);

#endif
