/* What is tried for a strategy before it is compared: its main setting and the learning rate, as
 * many trials for each. Where a rule does not depend on the rate, another setting takes its place.
 */
#ifndef HEARSAY_SIM_COMPARISON_TUNING_H
#define HEARSAY_SIM_COMPARISON_TUNING_H

#include <stdint.h>

#include "scenario/strategy_kind.h"

#define TUNING_TRIALS 9
#define TUNING_BYTES  64

/* The settings of a trial into sets[2], one or two assignments; rate: the scenario's. Returns how
 * many. */
uint32_t tuning_trial(enum strategy_kind kind, uint32_t trial, double rate,
                      char (*sets)[TUNING_BYTES]);

#endif
