/* The keys of [strategy]. Strategies ignore the keys that they do not use.
 * Tests: tests/unit/sim/test_scenario.c. */
#ifndef HEARSAY_SIM_SCENARIO_STRATEGY_KEYS_H
#define HEARSAY_SIM_SCENARIO_STRATEGY_KEYS_H

#include "config/config_key.h"
#include "scenario/strategy_kind.h"

#define STRATEGY_KEYS_MAX 64

/* Line of each key in the file; 0 = none. */
struct strategy_lines {
    int of[STRATEGY_KEYS_MAX];
};

size_t strategy_key_count(void);
/* Returns key number i. Its offset is that of a member of struct strategy_settings. */
const struct config_key *strategy_key_at(size_t i);

void strategy_keys_defaults(struct strategy_settings *settings);

/* line: number of the line in the file, which may set each key only once; 0 = --set, which may set
 * a key again. Returns MALFORMED with a sentence for an unknown or repeated key, or a wrong
 * value. */
enum error strategy_keys_set(struct strategy_settings *settings, struct strategy_lines *lines,
                             const char *name, const char *value, int line,
                             struct problem *problem) MUST_USE;

#endif
