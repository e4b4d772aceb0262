/* Scenarios given as text and played to their end. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_PLAY_H
#define HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_PLAY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "crypto/secret.h"
#include "experiment/experiment.h"
#include "strategies/strategy.h"
#include "support/sim/scenario_text.h"

/* Four nodes in each of two regions. Updates are invented, and no model is trained. */
#define PLAY_BASE                                                                                  \
    "[scenario]\nseconds = 80\nupdates = made up\nparameters = 200\n"                              \
    "nodes = 4 west, 64 samples/s\nnodes = 4 east, 64 samples/s\nlink = all, rtt 20 ms\n"
#define PLAY_REST "[train]\nbatch = 8\n[exchange]\nbytes_per_s = 2000\n"

/* Plays the scenario and judges its outcome. The caller frees the outcome. The outcome's scenario
 * is valid until the next call. */
void play_out(struct outcome *outcome, const char *lines);

#endif
