#include "strategies/strategy.h"

strategy_play *strategy_of(enum strategy_kind kind)
{
    static strategy_play *const strategies[] = {
        [STRATEGY_GOSSIP] = gossip_play,
        [STRATEGY_SINGLE] = single_play,
        [STRATEGY_IDEAL] = ideal_play,
        [STRATEGY_LOCALSGD] = localsgd_play,
    };
    return strategies[kind];
}
