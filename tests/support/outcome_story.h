/* One outcome, filled by hand and judged, for tests of verdicts: two desks and a box, and what is
 * expected of them (report_story.h). To be included last: others call a parameter `outcome`. */
#ifndef HEARSAY_TESTS_SUPPORT_OUTCOME_STORY_H
#define HEARSAY_TESTS_SUPPORT_OUTCOME_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/findings_story.h"

static struct outcome outcome;

static inline int stop(void **state)
{
    (void)state;
    outcome_free(&outcome);
    return 0;
}

/* Two nodes and a box that has no limits, for ten seconds of training. */
static inline void begin(void)
{
    story_begin(10);
    story_group("desk", 2, 125000);
    story_group("box", 1, 0);
    outcome_init(&outcome, &story_scenario);
}

static inline struct moment *add(double at_s, double accuracy)
{
    struct moment *moment = outcome_add(&outcome, at_s);
    moment->accuracy = accuracy;
    return moment;
}

static inline void assert_verdict(bool met, const char *text)
{
    outcome_judge(&outcome);
    assert_string_equal(outcome.verdicts[0].text, text);
    assert_int_equal(outcome.verdicts[0].met, met);
    assert_int_equal(outcome_is_met(&outcome), met);
}

#define TEST(name) cmocka_unit_test_teardown(name, stop)

#endif
