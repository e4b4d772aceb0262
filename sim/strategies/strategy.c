#include "strategies/strategy.h"

#define STRATEGY_PLAY(CONSTANT, name) [STRATEGY_##CONSTANT] = name##_play,

const float *strategy_play(struct experiment *experiment, struct outcome *outcome)
{
    static const float *(*const plays[])(struct experiment *, struct outcome *) = {
        [STRATEGY_GOSSIP] = gossip_play, STRATEGIES(STRATEGY_PLAY)};
    return plays[experiment->scenario->strategy](experiment, outcome);
}
