/* What the parts of judging know of each other.
 *
 *   outcome.c ─► figures of the whole      outcome_window.c ─► of the moments between two times
 */
#ifndef HEARSAY_SIM_SCENARIO_OUTCOME_INSIDE_H
#define HEARSAY_SIM_SCENARIO_OUTCOME_INSIDE_H

#include "scenario/outcome.h"

/* What a verdict is made of, beside the expectation's own words. */
struct found {
    double value;
    bool met;
    char text[92];
};

static inline bool found_is_met(const struct expect *expect, double value)
{
    return expect->at_least ? value >= expect->value : value <= expect->value;
}

struct found found_component(const struct outcome *outcome, const struct expect *expect);
struct found found_joined(const struct outcome *outcome, const struct expect *expect);
struct found found_steps_of(const struct outcome *outcome, const struct expect *expect);
struct found found_told_of(const struct outcome *outcome, const struct expect *expect);
struct found found_accuracy_of_all(const struct outcome *outcome, const struct expect *expect);

#endif
