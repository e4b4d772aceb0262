#include "comparison/tuning.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"

#define VALUES 3

static const struct tuning {
    const char *key;
    const char *values[VALUES];
    const char *other; /* tried instead of the rate; NULL: the rate is */
    const char *others[VALUES];
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
    [STRATEGY_DEMO] = {"strategy.sign_rate",
                       {"0.0003", "0.001", "0.003"},
                       "strategy.error_decay",
                       {"0.9", "0.99", "0.999"}},
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

/* Rates are tried from a fourth to four times the scenario's: three with each value of a main
 * setting, nine where there is none. */
uint32_t tuning_trial(enum strategy_kind kind, uint32_t trial, double rate,
                      char (*sets)[TUNING_BYTES])
{
    CHECK(kind < STRATEGIES_COUNT && trial < TUNING_TRIALS && rate > 0);
    const struct tuning *tuning = &tunings[kind];
    const uint32_t value = trial / VALUES, other = trial % VALUES;
    const double power = tuning->key ? 2 * (double)other - 2 : ((double)trial - 4) / 2;
    if (tuning->other)
        (void)snprintf(sets[0], TUNING_BYTES, "%s=%s", tuning->other, tuning->others[other]);
    else
        (void)snprintf(sets[0], TUNING_BYTES, "train.rate=%.4g", rate * pow(2, power));
    if (tuning->key)
        (void)snprintf(sets[1], TUNING_BYTES, "%s=%s", tuning->key, tuning->values[value]);
    return tuning->key ? 2 : 1;
}
