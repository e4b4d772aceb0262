/* Rounds that keep common weights: all nodes hear the mean of what all learned.
 *
 *   p_i = w_i − x                      progress of node i, whose optimizer's state stays with it
 *   q_i = compress(p_i)                its message; a dense one is the progress itself
 *   d = mean(q_i);  m = μ·m + d;  x += rate·(d + μ·m)           (Nesterov)
 *   w_i = (1 − mixing)·w_i + mixing·x  mixing is 1 but where nodes go on while they exchange
 *
 * With K fragments, K equal parts of the flat vector, the lines above are about one of them, and
 * the next round is about the next one. Each is exchanged every `local_steps`, a K-th of which is a
 * round. With an overlap of t steps the exchange takes place while each node makes t more:
 *
 *   steps    ├─ H/K ─┼─ t ─┬─ H/K − t ─┼─ t ─┬─ H/K − t ─┼ …
 *   exchange         ├─────┤ fragment 0 ├─────┤ fragment 1
 *
 * Held by tests/unit/sim/test_baselines.c and test_streaming.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_COMMON_H
#define HEARSAY_SIM_STRATEGIES_COMMON_H

#include "strategies/rounds.h"

/* Makes messages of progress; what a node did not say is its own to keep. */
struct compressor {
    /* For `count` nodes; from malloc. NULL, as `end`: there is nothing to keep. */
    void *(*begin)(const struct experiment *experiment, uint32_t count);
    /* progress[parameters] of node i becomes its message: the same vector as the others will read
     * it. NULL: it is told as it is. */
    void (*compress)(void *self, uint32_t i, float *progress, size_t parameters);
    uint64_t (*message_bytes)(const void *self, size_t parameters);
    void (*end)(void *self);
    bool is_reduced; /* messages are added up on the way */
};

extern const struct compressor dense_compressor; /* float32 */

struct common_settings {
    double outer_rate;     /* as published, where the scenario says auto */
    double outer_momentum; /* as published, where the scenario says auto */
    const struct compressor *compressor;
    uint32_t fragments;     /* K, at least 1 */
    uint32_t overlap_steps; /* t <= H/K, rounded down */
    double mixing;          /* of the common weights, once they are there */
};

const float *common_play(const struct common_settings *settings, struct experiment *experiment,
                         struct outcome *outcome);

#endif
