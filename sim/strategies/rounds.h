/* Synchronous rounds: the frame of every strategy in which all nodes wait for each other.
 *
 *   each node i: H local steps from the common weights x; its optimizer's state stays with it
 *   p_i = w_i − x                      its progress
 *   q_i = compress(p_i)                its message; a dense one is the progress itself
 *   d = mean(q_i);  m = μ·m + d;  x += rate·(d + μ·m)           (Nesterov)
 *
 * A round takes the computing time of the slowest node plus that of a ring, whose transfers all go
 * at the rate of its slowest link and with its longest delay. n nodes, messages of B bytes:
 *
 *   dense        all-reduce: sums are formed on the way; 2(n−1) transfers of B/n, B = 4P
 *   compressed   all-gather: each message passes every node; n−1 transfers of B
 *
 * All nodes together send n times that in a round. Faults are not played: one dead node would stop
 * it. Held by tests/unit/sim/test_baselines.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_ROUNDS_H
#define HEARSAY_SIM_STRATEGIES_ROUNDS_H

#include "scenario/experiment.h"

/* Makes messages of progress; what a node did not say is its own to keep. */
struct compressor {
    /* For `count` nodes; from malloc. */
    void *(*begin)(const struct experiment *experiment, uint32_t count);
    /* progress[P] of node i becomes its message: the same vector as the others will read it. */
    void (*compress)(void *self, uint32_t i, float *progress);
    uint64_t (*message_bytes)(const void *self);
    void (*end)(void *self);
};

struct rounds_method {
    double outer_rate;                   /* as published, where the scenario says auto */
    double outer_momentum;               /* as published, where the scenario says auto */
    const struct compressor *compressor; /* NULL: dense messages, float32 */
};

/* As strategy.h. */
const float *rounds_play(const struct rounds_method *method, struct experiment *experiment,
                         struct outcome *outcome);

#endif
