/* Rounds in which nodes exchange in random pairs; one node of an odd number has no partner.
 *
 *   p_i = w_i − x_i                                  progress since node i's own weights x_i
 *   x̄, p̄ = means over the pair (for an unpaired node: its own)
 *   x_i, kept_i = move(x_i, p_i, x̄, p̄, kept_i);  w_i = x_i
 *
 * The mean of all nodes' weights is evaluated; gathering it is free, in favour of these methods. A
 * round waits for its slowest pair, where real nodes would only wait for their partners. Tests:
 * tests/unit/sim/test_pairs.c.
 */
#ifndef HEARSAY_SIM_STRATEGIES_PAIRS_H
#define HEARSAY_SIM_STRATEGIES_PAIRS_H

#include "base/rng.h"
#include "strategies/rounds.h"

/* Arguments of the outer step of one node. */
struct pairs_move {
    float rate;
    float mu;
    size_t parameters;          /* P */
    const float *mean_weights;  /* [P] x̄, mean weights of the pair */
    const float *mean_progress; /* [P] p̄, mean progress of the pair */
    const float *progress;      /* [P] p_i, progress of the node */
    float *weights;             /* [P] x_i, weights of the node */
    float *kept;                /* [P] kept_i, state for the node's next move; initially 0 */
};

struct pairs_settings {
    double outer_rate;     /* rate of the outer step if the scenario has `auto` */
    double outer_momentum; /* momentum of the outer step if the scenario has `auto` */
    uint32_t vectors;      /* vectors of P float32 that each node of a pair sends per round */
    void (*move)(const struct pairs_move *move);
};

const float *pairs_play(const struct pairs_settings *settings, struct experiment *experiment,
                        struct outcome *outcome);

/* Draws random pairs of nodes. Sets to[i] to the partner of node i, or to i if the node has none.
 * Returns the number of nodes with a partner. */
uint32_t pairs_draw(struct rng *rng, uint32_t count, uint32_t *to);

void noloco_move(const struct pairs_move *move);
void gasloc_move(const struct pairs_move *move);

#endif
