/* The keys of [strategy]: how the strategy of a scenario is set. A key means nothing to the
 * strategies that do not use it. Held by tests/unit/sim/test_scenario.c. */
#ifndef HEARSAY_SIM_SCENARIO_STRATEGY_KEYS_H
#define HEARSAY_SIM_SCENARIO_STRATEGY_KEYS_H

#include "config/config_key.h"
#include "scenario/strategy_kind.h"

#define STRATEGY_KEYS_MAX 64

/* Where each key stands in the file; 0: nowhere. */
struct strategy_lines {
    int of[STRATEGY_KEYS_MAX];
};

size_t strategy_key_count(void);
const struct config_key *strategy_key_at(size_t i); /* its member is of struct strategy_settings */

void strategy_keys_defaults(struct strategy_settings *settings);

/* line: of the file, where a key may stand once; 0: an assignment, which may repeat. MALFORMED with
 * a sentence: there is no such key, or its value is not one. */
enum error strategy_keys_set(struct strategy_settings *settings, struct strategy_lines *lines,
                             const char *name, const char *value, int line,
                             struct problem *problem) MUST_USE;

#endif
