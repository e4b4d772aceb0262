#include "support/sim/outcome_story.h"

struct outcome judged;

int stop(void **state)
{
    (void)state;
    outcome_free(&judged);
    return 0;
}

void outcome_begin(void)
{
    story_begin(10);
    story_group("desk", 2, 125000);
    story_group("box", 1, 0);
    outcome_init(&judged, &story_scenario);
}

struct moment *outcome_moment(double at_s, double accuracy)
{
    struct moment *moment = outcome_add(&judged, at_s);
    moment->accuracy = accuracy;
    return moment;
}

void assert_verdict(bool met, const char *text)
{
    outcome_judge(&judged);
    assert_string_equal(judged.verdicts[0].text, text);
    assert_int_equal(judged.verdicts[0].met, met);
    assert_int_equal(outcome_is_met(&judged), met);
}
