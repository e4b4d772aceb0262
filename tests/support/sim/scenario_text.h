/* Scenarios given as text, loaded from a temporary file or rejected. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_TEXT_H
#define HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scenario/scenario.h"

/* Two groups of nodes. Most tests append lines to this scenario. */
#define SCENARIO_BASE                                                                              \
    "[scenario]\n"                                                                                 \
    "nodes = 2 desk, 400 samples/s\n"                                                              \
    "nodes = 3 lab, 100 samples/s\n"

enum error load_bytes(struct scenario *scenario, const char *bytes, size_t count,
                      const char *const *sets, int sets_count, struct problem *problem);

/* Return the scenario of the text with the assignments, valid until the next call. */
const struct scenario *played_with(const char *text, const char *const *sets, int count);
const struct scenario *played(const char *text);
const struct scenario *played_set(const char *text, const char *set);
void assert_refused(const char *text, const char *words);
void assert_set_refused(const char *set, const char *words);

#endif
