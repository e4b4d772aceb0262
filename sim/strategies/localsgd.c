/* Local SGD (Stich 2019): all go on from the mean of what they learned. */
#include "strategies/rounds.h"
#include "strategies/strategy.h"

const float *localsgd_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct rounds_method METHOD = {.outer_rate = 1, .outer_momentum = 0};
    return rounds_play(&METHOD, experiment, outcome);
}
