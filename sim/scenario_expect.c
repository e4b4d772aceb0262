#include <stdio.h>
#include <string.h>

#include "clause.h"
#include "scenario_parts.h"

static const struct form {
    const char *words;
    const char *written;
} forms[] = {
    [METRIC_ACCURACY] = {"accuracy", "accuracy >= 0.88 by 120 s"},
    [METRIC_ONE_VERSION] = {"one version", "one version by 10 s after training"},
    [METRIC_COPIES] = {"copies", "copies <= 1.1"},
    [METRIC_CONTROL] = {"control", "control <= 2 kB/s"},
    [METRIC_LINK_USE] = {"link use", "link use <= 70 %"},
    [METRIC_MEMBERS] = {"members", "members >= 1000 by 60 s"},
    [METRIC_STEPS] = {"steps", "steps >= 99 %"},
};

#define METRICS (sizeof forms / sizeof forms[0])

static enum status read_metric(struct clause *clause, struct expect *expect,
                               struct problem *problem)
{
    const char *known[METRICS];
    size_t i = 0;
    for (size_t k = 0; k < METRICS; k++)
        known[k] = forms[k].words;
    while (i < METRICS && !clause_take(clause, forms[i].words))
        i++;
    if (i == METRICS)
        return clause_unknown(clause, known, METRICS, problem);
    expect->metric = (enum metric)i;
    return OK;
}

static enum status read_relation(struct clause *clause, struct expect *expect,
                                 struct problem *problem)
{
    if (expect->metric == METRIC_ONE_VERSION)
        return OK;
    expect->at_least = clause_take_sign(clause, ">=");
    if (expect->at_least || clause_take_sign(clause, "<="))
        return OK;
    return clause_fail(clause, problem, ">= or <= is missing; it is written: %s",
                       forms[expect->metric].written);
}

static enum status read_value(struct clause *clause, struct expect *expect, struct problem *problem)
{
    uint64_t bytes_per_s = 0;
    enum status status;
    switch (expect->metric) {
    case METRIC_ACCURACY:
        return clause_number(clause, "an accuracy", 0, 1, &expect->value, problem);
    case METRIC_COPIES:
        return clause_number(clause, "copies per rumor", 0, 1000, &expect->value, problem);
    case METRIC_MEMBERS:
        return clause_number(clause, "members", 1, SCENARIO_NODES_MAX, &expect->value, problem);
    case METRIC_CONTROL:
        status = clause_rate(clause, &bytes_per_s, problem);
        expect->value = (double)bytes_per_s;
        return status;
    case METRIC_LINK_USE:
    case METRIC_STEPS:
        return clause_percent(clause, &expect->value, problem);
    case METRIC_ONE_VERSION:
        return OK;
    }
    check_failed(__FILE__, __LINE__, "every metric has its value");
}

/* "by 120 s"; one version: "by 10 s after training" */
static enum status read_time(const struct scenario *scenario, struct clause *clause,
                             struct expect *expect, struct problem *problem)
{
    bool after = expect->metric == METRIC_ONE_VERSION;
    if (!clause_take(clause, "by")) {
        if (!after)
            return OK;
        return clause_fail(clause, problem, "by when is missing; it is written: %s",
                           forms[expect->metric].written);
    }
    bool timed = after || expect->metric == METRIC_ACCURACY || expect->metric == METRIC_MEMBERS;
    if (!timed)
        return clause_fail(clause, problem, "it is measured over the second half; leave out by");
    enum status status = clause_duration(clause, &expect->by_ns, problem);
    if (status != OK)
        return status;
    if (after && !clause_take(clause, "after training"))
        return clause_fail(clause, problem, "it counts from the end; it is written: %s",
                           forms[expect->metric].written);
    uint64_t last_ns = after ? scenario->settle_ns : scenario->span_ns;
    if (expect->by_ns > last_ns)
        return clause_fail(clause, problem, "that is too late; [scenario] %s = %.10g",
                           after ? "settle_s" : "seconds", (double)last_ns / 1e9);
    return OK;
}

static enum status check_possible(const struct scenario *scenario, const struct clause *clause,
                                  const struct expect *expect, struct problem *problem)
{
    if (expect->metric == METRIC_ACCURACY && scenario->made_up)
        return clause_fail(clause, problem, "made up updates have no accuracy");
    if (expect->metric == METRIC_MEMBERS && expect->at_least &&
        expect->value > scenario->nodes_count)
        return clause_fail(clause, problem, "there are only %u nodes", scenario->nodes_count);
    return OK;
}

enum status scenario_expect_add(struct scenario *scenario, const char *text,
                                struct problem *problem)
{
    struct clause clause;
    struct expect expect = {.by_ns = 0};
    if (scenario->expects_count == SCENARIO_EXPECTS_MAX)
        return problem_set(problem, MALFORMED, "more than %d expectations", SCENARIO_EXPECTS_MAX);
    enum status status = clause_next(&clause, &text, problem);
    if (status != OK)
        return status;
    if (text)
        return clause_fail(&clause, problem, "one expectation per line, without commas");
    if (strlen(clause.text) >= sizeof expect.text)
        return clause_fail(&clause, problem, "longer than %zu characters", sizeof expect.text - 1);
    memcpy(expect.text, clause.text, strlen(clause.text) + 1);
    status = read_metric(&clause, &expect, problem);
    if (status == OK)
        status = read_relation(&clause, &expect, problem);
    if (status == OK)
        status = read_value(&clause, &expect, problem);
    if (status == OK)
        status = read_time(scenario, &clause, &expect, problem);
    if (status == OK)
        status = clause_end(&clause, problem);
    if (status == OK)
        status = check_possible(scenario, &clause, &expect, problem);
    if (status == OK)
        scenario->expects[scenario->expects_count++] = expect;
    return status;
}
