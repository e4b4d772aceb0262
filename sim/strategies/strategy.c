#include "strategies/strategy.h"

const float *strategy_play(struct experiment *experiment, struct outcome *outcome)
{
    static const float *(*const plays[])(struct experiment *, struct outcome *) = {
        [STRATEGY_GOSSIP] = gossip_play,     [STRATEGY_SINGLE] = single_play,
        [STRATEGY_IDEAL] = ideal_play,       [STRATEGY_LOCALSGD] = localsgd_play,
        [STRATEGY_DILOCO] = diloco_play,     [STRATEGY_SPARSELOCO] = sparseloco_play,
        [STRATEGY_NOLOCO] = noloco_play,     [STRATEGY_STREAMING_DILOCO] = streaming_diloco_play,
        [STRATEGY_POWERSGD] = powersgd_play, [STRATEGY_GASLOC] = gasloc_play,
    };
    return plays[experiment->scenario->strategy](experiment, outcome);
}
