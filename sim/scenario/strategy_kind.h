/* Which strategy plays a scenario, and how those that work in rounds are set.
 *
 * The keys of [scenario] are described in sim/README.md, the strategies in strategies/strategy.h.
 */
#ifndef HEARSAY_SIM_SCENARIO_STRATEGY_KIND_H
#define HEARSAY_SIM_SCENARIO_STRATEGY_KIND_H

#include <stdint.h>

enum strategy_kind {
    STRATEGY_GOSSIP,
    STRATEGY_SINGLE,
    STRATEGY_IDEAL,
    STRATEGY_LOCALSGD,
    STRATEGY_DILOCO,
    STRATEGY_SPARSELOCO,
    STRATEGY_NOLOCO,
};

struct rounds_settings {
    uint32_t local_steps;  /* between two exchanges */
    double outer_rate;     /* rate of the outer step, or CONFIG_AUTO_REAL */
    double outer_momentum; /* momentum of that step, or CONFIG_AUTO_REAL */
    double top_part;       /* sparseloco: of all entries, those of a message */
    double error_decay;    /* sparseloco: what stays of the untold, from round to round */
};

/* Its name in a scenario. */
const char *scenario_strategy_name(enum strategy_kind kind);

#endif
