/* Shared by the files that judge expectations, and private to them.
 *
 *   outcome.c ─► values of the whole run       outcome_window.c ─► values of a time span
 */
#ifndef HEARSAY_SIM_EXPERIMENT_OUTCOME_PRIVATE_H
#define HEARSAY_SIM_EXPERIMENT_OUTCOME_PRIVATE_H

#include "experiment/outcome.h"

/* A verdict on an expectation, without the words of the expectation. */
struct measured {
    double value; /* NAN = none */
    bool met;
    char text[92]; /* the value in words */
};

static inline bool expect_is_met(const struct expect *expect, double value)
{
    return expect->at_least ? value >= expect->value : value <= expect->value;
}

struct measured measure_component(const struct outcome *outcome, const struct expect *expect);
struct measured measure_joined(const struct outcome *outcome, const struct expect *expect);
struct measured measure_steps_of(const struct outcome *outcome, const struct expect *expect);
struct measured measure_published_by(const struct outcome *outcome, const struct expect *expect);
struct measured measure_accuracy_of_all(const struct outcome *outcome, const struct expect *expect);

#endif
