/* Streaming DiLoCo (Douillard et al. 2025, arXiv 2501.18512): DiLoCo's exchange for one fragment of
 * the model at a time, in four bits (e3m0.h), while nodes continue. The fragments are equal parts
 * of the flat vector, close to runs of layers as in the paper's sequential pattern. The paper has
 * 30 to 100 steps between two exchanges of a fragment. Its α, the local weights' part in a node's
 * new weights, is 1 − `mixing`. Rate and momentum are DiLoCo's. */
#include "strategies/e3m0.h"
#include "strategies/strategy.h"

const float *streaming_diloco_play(struct experiment *experiment, struct outcome *outcome)
{
    const struct strategy_settings *configured = &experiment->scenario->settings;
    const struct common_settings method = {
        .outer_rate = 0.7,
        .outer_momentum = 0.9,
        .compressor =
            configured->wire_precision == WIRE_E3M0 ? &e3m0_compressor : &dense_compressor,
        .fragments = configured->fragments,
        .overlap_steps = configured->overlap_steps,
        .mixing = configured->mixing,
    };
    return common_play(&method, experiment, outcome);
}
