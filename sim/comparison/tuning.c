#include "comparison/tuning.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"

#define VALUES 3
#define RATES  3

static const struct tuning {
    const char *key;
    const char *values[VALUES];
} tunings[STRATEGIES_COUNT] = {
    [STRATEGY_LOCALSGD] = {"strategy.local_steps", {"5", "20", "80"}},
    [STRATEGY_DILOCO] = {"strategy.local_steps", {"10", "30", "100"}},
    [STRATEGY_STREAMING_DILOCO] = {"strategy.local_steps", {"12", "32", "100"}},
    [STRATEGY_SPARSELOCO] = {"strategy.local_steps", {"5", "15", "50"}},
    [STRATEGY_NOLOCO] = {"strategy.local_steps", {"5", "20", "50"}},
    [STRATEGY_GASLOC] = {"strategy.local_steps", {"5", "20", "50"}},
    [STRATEGY_POWERSGD] = {"strategy.rank", {"1", "2", "4"}},
    [STRATEGY_ADMM] = {"strategy.rho", {"0.01", "0.1", "1"}},
    [STRATEGY_DGC] = {"strategy.top_part", {"0.001", "0.01", "0.03"}},
    [STRATEGY_DEMO] = {"strategy.sign_rate", {"0.0003", "0.001", "0.003"}},
    [STRATEGY_GOSGD] = {"strategy.probability", {"0.02", "0.1", "0.5"}},
    [STRATEGY_SGP] = {"strategy.overlap_steps", {"0", "1", "4"}},
    [STRATEGY_STROM] = {"strategy.threshold", {"0.002", "0.01", "0.05"}},
    [STRATEGY_THRESHOLD] = {"strategy.threshold", {"0.002", "0.01", "0.05"}},
    [STRATEGY_GAIA] = {"strategy.significance", {"0.01", "0.1", "1"}},
    [STRATEGY_DOWNPOUR] = {"strategy.push_steps", {"1", "4", "16"}},
    [STRATEGY_DLION] = {"strategy.max_n", {"auto", "10", "0.85"}},
    [STRATEGY_CHOCO] = {"strategy.consensus", {"0.1", "0.3", "0.6"}},
    [STRATEGY_MLNET] = {"strategy.fanout", {"2", "4", "16"}},
    [STRATEGY_AKO] = {"strategy.partitions", {"auto", "4", "16"}},
};

const char *tuning_key(enum strategy_kind kind)
{
    CHECK(kind < STRATEGIES_COUNT);
    return tunings[kind].key;
}

/* Where there is a main setting, three values of it with a third, once and three times the rate;
 * else nine rates between a ninth and nine times. */
uint32_t tuning_trial(enum strategy_kind kind, uint32_t trial, double rate,
                      char (*sets)[TUNING_BYTES])
{
    CHECK(kind < STRATEGIES_COUNT && trial < TUNING_TRIALS && rate > 0);
    const struct tuning *tuning = &tunings[kind];
    const double power = tuning->key ? (double)(trial % RATES) - 1 : ((double)trial - 4) / 2;
    (void)snprintf(sets[0], TUNING_BYTES, "train.rate=%.4g", rate * pow(3, power));
    if (tuning->key)
        (void)snprintf(sets[1], TUNING_BYTES, "%s=%s", tuning->key, tuning->values[trial / RATES]);
    return tuning->key ? 2 : 1;
}
