/* DiLoCo (Douillard et al. 2023, arXiv 2311.08105): the mean progress of a round is the gradient of
 * an outer Nesterov step. The paper's rounds have 500 steps of AdamW, which is not the default here
 * because many scenarios are shorter. */
#include "strategies/common.h"
#include "strategies/strategy.h"

const float *diloco_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct common_settings METHOD = {.compressor = &dense_compressor,
                                                  .outer_rate = 0.7,
                                                  .outer_momentum = 0.9,
                                                  .fragments = 1,
                                                  .mixing = 1};
    return common_play(&METHOD, experiment, outcome);
}
