/* SparseLoCo (Sarfi et al. 2025, arXiv 2508.15706): the mean of sparse messages of two bits an
 * entry (sparse.h). Error feedback replaces an outer momentum. The paper's rounds have 15 to 250
 * steps of AdamW. */
#include "strategies/sparse.h"
#include "strategies/strategy.h"

const float *sparseloco_play(struct experiment *experiment, struct outcome *outcome)
{
    static const struct common_settings METHOD = {.compressor = &sparse_compressor,
                                                  .outer_rate = 1,
                                                  .outer_momentum = 0,
                                                  .fragments = 1,
                                                  .mixing = 1};
    return common_play(&METHOD, experiment, outcome);
}
