/* Rounds with common weights: all nodes receive the mean of all progress.
 *
 *   p_i = w_i − x                      progress of node i, which keeps its optimizer state
 *   q_i = compress(p_i)                its message; a dense one is the progress itself
 *   d = mean(q_i);  m = μ·m + d;  x += rate·(d + μ·m)           (Nesterov)
 *   w_i = (1 − mixing)·w_i + mixing·x  mixing is 1 unless nodes continue during the exchange
 *
 * With K fragments, K equal parts of the flat vector, each round applies these lines to the next
 * fragment. Each fragment is exchanged every `local_steps`; a K-th of them is a round. With an
 * overlap of t steps each node makes t more steps during the exchange:
 *
 *   steps    ├─ H/K ─┼─ t ─┬─ H/K − t ─┼─ t ─┬─ H/K − t ─┼ …
 *   exchange         ├─────┤ fragment 0 ├─────┤ fragment 1
 *
 * Tests: tests/unit/sim/test_baselines.c and test_streaming.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_COMMON_H
#define HEARSAY_SIM_STRATEGIES_COMMON_H

#include "strategies/rounds.h"

/* Makes messages of progress. The compressor itself keeps the unsent rest, if at all. */
struct compressor {
    /* Allocates state for `count` nodes with malloc. NULL, as for `end`: no state. */
    void *(*begin)(const struct experiment *experiment, uint32_t count);
    /* Replaces progress[parameters] of node i by its message as the other nodes will decode it.
     * NULL = sent unchanged. */
    void (*compress)(void *self, uint32_t i, float *progress, size_t parameters);
    uint64_t (*message_bytes)(const void *self, size_t parameters);
    void (*end)(void *self);
    bool is_reduced; /* messages are added on the way (all-reduce) */
};

extern const struct compressor dense_compressor; /* float32 */

struct common_settings {
    double outer_rate;     /* published rate, used for auto */
    double outer_momentum; /* published momentum, used for auto */
    const struct compressor *compressor;
    uint32_t fragments;     /* K, at least 1 */
    uint32_t overlap_steps; /* t <= H/K, rounded down */
    double mixing;          /* weight of the common weights when they arrive */
};

const float *common_play(const struct common_settings *settings, struct experiment *experiment,
                         struct outcome *outcome);

#endif
