/* Local SGD (Stich 2019): every `local_steps` steps, all nodes continue from the mean of their
 * weights. */
#include "strategies/common.h"
#include "strategies/strategy.h"

const float *localsgd_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct common_settings METHOD = {.compressor = &dense_compressor,
                                                  .outer_rate = 1,
                                                  .outer_momentum = 0,
                                                  .fragments = 1,
                                                  .mixing = 1};
    return common_play(&METHOD, experiment, outcome);
}
