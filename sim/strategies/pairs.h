/* Rounds in which nodes meet in pairs, drawn anew each time; with an odd number one is left out.
 *
 *   p_i = w_i − x_i                                  progress since node i's own weights x_i
 *   x̄, p̄ = means over the pair (of who is left out: its own)
 *   x_i, kept_i = move(x_i, p_i, x̄, p̄, kept_i);  w_i = x_i
 *
 * No two nodes need have the same weights. The mean over all is evaluated; gathering it is not
 * charged, in favour of these methods. The round waits for its slowest pair, where real nodes would
 * wait for their partners alone. Held by tests/unit/sim/test_pairs.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_PAIRS_H
#define HEARSAY_SIM_STRATEGIES_PAIRS_H

#include "base/rng.h"
#include "strategies/rounds.h"

/* The outer step of one node. */
struct pairs_move {
    float rate;                 /* of the outer step */
    float mu;                   /* its momentum */
    size_t parameters;          /* P */
    const float *mean_weights;  /* [P]: x̄ */
    const float *mean_progress; /* [P]: p̄ */
    const float *progress;      /* [P]: p_i */
    float *weights;             /* [P]: x_i */
    float *kept;                /* [P]: what it keeps from round to round, 0 before the first */
};

struct pairs_settings {
    double outer_rate;     /* as published, where the scenario says auto */
    double outer_momentum; /* as published, where the scenario says auto */
    uint32_t vectors;      /* of P float32, that each of a pair sends the other */
    void (*move)(const struct pairs_move *move);
};

const float *pairs_play(const struct pairs_settings *settings, struct experiment *experiment,
                        struct outcome *outcome);

/* to[count]: the partner of each, or itself. Returns how many have one. */
uint32_t pairs_draw(struct rng *rng, uint32_t count, uint32_t *to);

void noloco_move(const struct pairs_move *move);
void gasloc_move(const struct pairs_move *move);

#endif
