#include "comparison/tuning.h"

#include <math.h>
#include <stdio.h>

#include "base/error.h"

#define VALUES 3

static const struct tuning {
    const char *key;
    const char *values[VALUES];
    const char *other; /* varied instead of the learning rate; NULL = the learning rate is varied */
    const char *others[VALUES];
} tunings[STRATEGIES_COUNT] = {
    [STRATEGY_LOCALSGD] = {.key = "strategy.local_steps", .values = {"5", "20", "80"}},
    [STRATEGY_DILOCO] = {.key = "strategy.local_steps", .values = {"10", "30", "100"}},
    [STRATEGY_STREAMING_DILOCO] = {.key = "strategy.local_steps", .values = {"12", "32", "100"}},
    [STRATEGY_SPARSELOCO] = {.key = "strategy.local_steps", .values = {"5", "15", "50"}},
    [STRATEGY_NOLOCO] = {.key = "strategy.local_steps", .values = {"5", "20", "50"}},
    [STRATEGY_GASLOC] = {.key = "strategy.local_steps", .values = {"5", "20", "50"}},
    [STRATEGY_POWERSGD] = {.key = "strategy.rank", .values = {"1", "2", "4"}},
    [STRATEGY_ADMM] = {.key = "strategy.rho", .values = {"0.01", "0.1", "1"}},
    [STRATEGY_DGC] = {.key = "strategy.top_part", .values = {"0.001", "0.01", "0.03"}},
    [STRATEGY_DEMO] = {.key = "strategy.sign_rate",
                       .values = {"0.0003", "0.001", "0.003"},
                       .other = "strategy.error_decay",
                       .others = {"0.9", "0.99", "0.999"}},
    [STRATEGY_GOSGD] = {.key = "strategy.probability", .values = {"0.02", "0.1", "0.5"}},
    [STRATEGY_SGP] = {.key = "strategy.overlap_steps", .values = {"0", "1", "4"}},
    [STRATEGY_STROM] = {.key = "strategy.threshold", .values = {"0.002", "0.01", "0.05"}},
    [STRATEGY_THRESHOLD] = {.key = "strategy.threshold", .values = {"0.002", "0.01", "0.05"}},
    [STRATEGY_GAIA] = {.key = "strategy.significance", .values = {"0.01", "0.1", "1"}},
    [STRATEGY_DOWNPOUR] = {.key = "strategy.push_steps", .values = {"1", "4", "16"}},
    [STRATEGY_DLION] = {.key = "strategy.max_n", .values = {"auto", "10", "0.85"}},
    [STRATEGY_CHOCO] = {.key = "strategy.consensus", .values = {"0.1", "0.3", "0.6"}},
    [STRATEGY_MLNET] = {.key = "strategy.fanout", .values = {"2", "4", "16"}},
    [STRATEGY_AKO] = {.key = "strategy.partitions", .values = {"auto", "4", "16"}},
};

/* Learning rates are 1/4 to 4 times the scenario's rate: three for each value of the strategy's
 * main setting, or nine if it has none. */
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
