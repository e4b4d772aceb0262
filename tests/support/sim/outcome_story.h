/* One outcome, made by hand and judged, for tests of verdicts: two nodes "desk", one node "box",
 * and expectations (sample_outcome.h). */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_OUTCOME_STORY_H
#define HEARSAY_TESTS_SUPPORT_SIM_OUTCOME_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sim/sample_outcome.h"

extern struct outcome judged;

int stop(void **state);

/* Starts an outcome of ten seconds with two nodes "desk" and an unlimited node "box". */
void outcome_begin(void);
struct moment *outcome_moment(double at_s, double accuracy);
void assert_verdict(bool met, const char *text);

#define TEST(name) cmocka_unit_test_teardown(name, stop)

#endif
