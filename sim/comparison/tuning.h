/* Trials of a strategy before a comparison, TUNING_TRIALS for each. They vary its main setting and
 * the learning rate, or another setting if the strategy does not use the learning rate. */
#ifndef HEARSAY_SIM_COMPARISON_TUNING_H
#define HEARSAY_SIM_COMPARISON_TUNING_H

#include <stdint.h>

#include "scenario/strategy_kind.h"

#define TUNING_TRIALS 9
#define TUNING_BYTES  64

/* Writes one or two assignments to `sets` and returns their number. rate: the scenario's learning
 * rate. */
uint32_t tuning_trial(enum strategy_kind kind, uint32_t trial, double rate,
                      char (*sets)[TUNING_BYTES]);

#endif
