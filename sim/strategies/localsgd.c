/* Local SGD (Stich 2019): the mean of what all learned in a round, here with an outer optimizer. */
#include "strategies/rounds.h"
#include "strategies/strategy.h"

const float *localsgd_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct rounds_method METHOD = {.compressor = NULL};
    return rounds_play(&METHOD, experiment, outcome);
}
