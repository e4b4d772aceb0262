/* Rounds with common weights: all nodes receive the mean of all progress.
 *
 *   p_i = w_i − x                      progress of node i, which keeps its optimizer state
 *   q_i = compress(p_i)                its message; a dense one is the progress itself
 *   d = mean(q_i);  m = μ·m + d;  x += rate·(d + μ·m)           (Nesterov)
 *   w_i = (1 − mixing)·w_i + mixing·x  mixing is 1 unless nodes continue during the exchange
 *
 * K fragments are equal parts of the flat vector. Each round applies these lines to the next
 * fragment. Each fragment is exchanged every H = `local_steps` steps, so a round has H/K steps.
 * With an overlap of t steps, each node makes t more steps during the exchange:
 *
 *   steps    ├─ H/K ─┼─ t ─┬─ H/K − t ─┼─ t ─┬─ H/K − t ─┼ …
 *   exchange         ├─────┤ fragment 0 ├─────┤ fragment 1
 *
 * Tests: tests/unit/sim/test_baselines.c and test_streaming.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_COMMON_H
#define HEARSAY_SIM_STRATEGIES_COMMON_H

#include "strategies/rounds.h"

/* Turns progress into messages. A compressor with error feedback stores what it did not send. */
struct compressor {
    /* Returns state for `count` nodes. begin and end are NULL if the compressor has no state. */
    void *(*begin)(const struct experiment *experiment, uint32_t count);
    /* Replaces progress[parameters] of node i by the message, decoded. NULL = sent unchanged. */
    void (*compress)(void *self, uint32_t i, float *progress, size_t parameters);
    uint64_t (*message_bytes)(const void *self, size_t parameters);
    void (*end)(void *self);
    /* Messages are summed on their way (all-reduce); false = every node receives the messages of
     * all nodes. */
    bool is_reduced;
};

extern const struct compressor dense_compressor; /* all entries as float32 */

struct common_settings {
    double outer_rate;     /* rate of the outer step if the scenario has `auto` */
    double outer_momentum; /* momentum of the outer step if the scenario has `auto` */
    const struct compressor *compressor;
    uint32_t fragments;     /* K, the number of fragments, at least 1 */
    uint32_t overlap_steps; /* t, the steps during an exchange; at most H/K rounded down */
    double mixing;          /* weight of the common weights x in a node's new weights, 0 .. 1 */
};

const float *common_play(const struct common_settings *settings, struct experiment *experiment,
                         struct outcome *outcome);

#endif
