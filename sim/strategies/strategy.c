#include "strategies/strategy.h"

const struct strategy *strategy_of(enum strategy_kind kind)
{
    static const struct strategy strategies[] = {
        [STRATEGY_GOSSIP] = {"gossip", gossip_play},
        [STRATEGY_SINGLE] = {"single", single_play},
        [STRATEGY_IDEAL] = {"ideal", ideal_play},
        [STRATEGY_LOCALSGD] = {"localsgd", localsgd_play},
    };
    return &strategies[kind];
}
