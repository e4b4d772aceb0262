#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "scenario/clause.h"
#include "scenario/scenario_parts.h"

/* Time clauses that a metric allows. T is a time, D a duration. */
enum times {
    TIMES_NONE,    /* no time clause */
    TIMES_FIXED,   /* no time clause: the metric covers a fixed part of the run */
    TIMES_BY,      /* no time clause, or "by T" */
    TIMES_AFTER,   /* "by D after training" */
    TIMES_REACHED, /* "by T", or "within D of T" */
    TIMES_SPAN,    /* "from T to T" */
    TIMES_EITHER   /* "from T to T", or "within D of T" */
};

static const struct form {
    const char *words;
    enum times times;
    const char *written;
} forms[] = {
    [METRIC_ACCURACY] = {"accuracy", TIMES_BY, "accuracy >= 0.88 by 120 s"},
    [METRIC_ONE_VERSION] = {"one version", TIMES_AFTER, "one version by 10 s after training"},
    [METRIC_COPIES] = {"copies", TIMES_FIXED, "copies <= 1.1"},
    [METRIC_CONTROL] = {"control", TIMES_FIXED, "control <= 2 kB/s"},
    [METRIC_LINK_USE] = {"link use", TIMES_FIXED, "link use <= 70 %"},
    [METRIC_MEMBERS] = {"members", TIMES_BY, "members >= 1000 by 60 s"},
    [METRIC_STEPS] = {"steps", TIMES_FIXED, "steps >= 99 %"},
    [METRIC_COMPONENT] = {"one component", TIMES_REACHED, "one component within 10 s of 60 s"},
    [METRIC_JOINED] = {"joined", TIMES_REACHED, "joined by 90 s"},
    [METRIC_REMOVED] = {"no healthy node removed", TIMES_NONE, "no healthy node removed"},
    [METRIC_NO_ALARM] = {"no alarm", TIMES_NONE, "no alarm"},
    [METRIC_ALARM] = {"alarm", TIMES_REACHED, "alarm within 25 s of 60 s"},
    [METRIC_LAST_TENTH] = {"last tenth", TIMES_NONE, "last tenth >= best tenth - 0.3 points"},
    [METRIC_STEPS_OF] = {"steps of", TIMES_SPAN, "steps of GROUP >= 95 % from 60 s to 90 s"},
    [METRIC_PUBLISHED_BY] = {"published by", TIMES_SPAN,
                             "published by GROUP >= 90 % from 60 s to 90 s"},
    [METRIC_ACCURACY_OF_ALL] = {"accuracy of all", TIMES_EITHER,
                                "accuracy of all >= 0.8 from 60 s to 90 s"},
    [METRIC_BLOCKS] = {"blocks", TIMES_NONE, "blocks <= 1.1 x base"},
    [METRIC_JOINING] = {"joining", TIMES_NONE, "joining <= 1.15 x blocks / rate"},
};

#define METRICS (sizeof forms / sizeof forms[0])

/* Reads the metric with the longest match: "steps of" before "steps". */
static enum error read_metric(struct clause *clause, struct expect *expect, struct problem *problem)
{
    const char *known[METRICS];
    size_t found = METRICS;
    for (size_t i = 0; i < METRICS; i++) {
        struct clause rest = *clause;
        known[i] = forms[i].words;
        if (clause_take(&rest, forms[i].words) &&
            (found == METRICS || strlen(forms[i].words) > strlen(forms[found].words)))
            found = i;
    }
    if (found == METRICS && clause_take(clause, "told of"))
        return clause_fail(clause, problem, "unknown words told of; write: %s",
                           forms[METRIC_PUBLISHED_BY].written);
    if (found == METRICS)
        return clause_unknown(clause, known, METRICS, problem);
    CHECK(clause_take(clause, forms[found].words));
    expect->metric = (enum metric)found;
    return OK;
}

/* Reads the group after "steps of" or "published by"; for other metrics reads nothing. */
static enum error read_group(const struct scenario *scenario, struct clause *clause,
                             struct expect *expect, struct problem *problem)
{
    const char *known[SCENARIO_GROUPS_MAX];
    char name[SCENARIO_NAME_BYTES];
    if (expect->metric != METRIC_STEPS_OF && expect->metric != METRIC_PUBLISHED_BY)
        return OK;
    const enum error error = clause_name(clause, name, problem);
    if (error != OK)
        return error;
    for (uint32_t i = 0; i < scenario->groups_count; i++) {
        known[i] = scenario->groups[i].name;
        if (strcmp(known[i], name) != 0)
            continue;
        expect->group = i;
        return OK;
    }
    return clause_fail(clause, problem, "there is no group %s; %s", name,
                       words_hint(name, known, scenario->groups_count).text);
}

static bool is_plain(enum metric metric)
{
    return metric == METRIC_ONE_VERSION || metric == METRIC_COMPONENT || metric == METRIC_JOINED ||
           metric == METRIC_REMOVED || metric == METRIC_NO_ALARM || metric == METRIC_ALARM;
}

/* Returns true if the metric has an upper bound such as "1.1 x base". */
static bool is_ratio(enum metric metric)
{
    return metric == METRIC_BLOCKS || metric == METRIC_JOINING;
}

static enum error read_relation(struct clause *clause, struct expect *expect,
                                struct problem *problem)
{
    if (is_plain(expect->metric))
        return OK;
    expect->at_least = clause_take_sign(clause, ">=");
    const bool takes_both = expect->metric < METRIC_COMPONENT;
    if (expect->at_least
            ? takes_both || !is_ratio(expect->metric)
            : (takes_both || is_ratio(expect->metric)) && clause_take_sign(clause, "<="))
        return OK;
    return clause_fail(clause, problem, "%s is missing; write: %s",
                       takes_both                 ? ">= or <="
                       : is_ratio(expect->metric) ? "<="
                                                  : ">=",
                       forms[expect->metric].written);
}

/* Reads an offset in percentage points: "" or "- 0.5 points". */
static enum error read_points(struct clause *clause, struct expect *expect, struct problem *problem)
{
    double points = 0;
    if (!clause_take_sign(clause, "-"))
        return OK;
    const enum error error =
        clause_number(clause, "by how many points it may be less", 0, 100, &points, problem);
    if (error != OK)
        return error;
    expect->value = -points / 100;
    if (clause_take(clause, "points"))
        return OK;
    return clause_fail(clause, problem, "the unit is missing, such as: %s - 0.5 points",
                       expect->metric == METRIC_LAST_TENTH ? "best tenth" : "better half");
}

/* Reads "best tenth - 0.3 points". */
static enum error read_tenth(struct clause *clause, struct expect *expect, struct problem *problem)
{
    if (clause_take(clause, "best tenth"))
        return read_points(clause, expect, problem);
    return clause_fail(clause, problem, "best tenth is missing; write: %s",
                       forms[expect->metric].written);
}

/* Reads the bound of an accuracy: "0.8", "better half" or "worse half - 0.5 points". */
static enum error read_bound(struct clause *clause, struct expect *expect, struct problem *problem)
{
    if (clause_take(clause, "better half"))
        expect->bound = BOUND_BETTER_HALF;
    else if (clause_take(clause, "worse half"))
        expect->bound = BOUND_WORSE_HALF;
    else
        return clause_number(clause, "an accuracy", 0, 1, &expect->value, problem);
    return read_points(clause, expect, problem);
}

/* Reads "1.1 x base" or "1.15 x blocks / rate". */
static enum error read_times(struct clause *clause, struct expect *expect, struct problem *problem)
{
    const bool blocks = expect->metric == METRIC_BLOCKS;
    const enum error error =
        clause_number(clause, "how many times", 0, 1000, &expect->value, problem);
    if (error != OK)
        return error;
    if (clause_take(clause, blocks ? "x base" : "x blocks / rate"))
        return OK;
    return clause_fail(clause, problem, "the reference is missing; write: %s",
                       forms[expect->metric].written);
}

static enum error read_value(struct clause *clause, struct expect *expect, struct problem *problem)
{
    uint64_t bytes_per_s = 0;
    enum error error;
    switch (expect->metric) {
    case METRIC_ACCURACY:
        return clause_number(clause, "an accuracy", 0, 1, &expect->value, problem);
    case METRIC_ACCURACY_OF_ALL:
        return read_bound(clause, expect, problem);
    case METRIC_LAST_TENTH:
        return read_tenth(clause, expect, problem);
    case METRIC_COPIES:
        return clause_number(clause, "copies per rumor", 0, 1000, &expect->value, problem);
    case METRIC_MEMBERS:
        return clause_number(clause, "members", 1, SCENARIO_NODES_MAX, &expect->value, problem);
    case METRIC_CONTROL:
        error = clause_rate(clause, &bytes_per_s, problem);
        expect->value = (double)bytes_per_s;
        return error;
    case METRIC_LINK_USE:
    case METRIC_STEPS:
    case METRIC_STEPS_OF:
    case METRIC_PUBLISHED_BY:
        return clause_percent(clause, &expect->value, problem);
    case METRIC_BLOCKS:
    case METRIC_JOINING:
        return read_times(clause, expect, problem);
    case METRIC_ONE_VERSION:
    case METRIC_COMPONENT:
    case METRIC_JOINED:
    case METRIC_REMOVED:
    case METRIC_NO_ALARM:
    case METRIC_ALARM:
        return OK;
    }
    check_failed(__FILE__, __LINE__, "every metric has its value");
}

/* Reads "by 120 s", or for one version "by 10 s after training". */
static enum error read_by(struct clause *clause, struct expect *expect, struct problem *problem)
{
    const struct form *form = &forms[expect->metric];
    enum error error = clause_duration(clause, &expect->by_ns, problem);
    if (error != OK || form->times != TIMES_AFTER || clause_take(clause, "after training"))
        return error;
    return clause_fail(clause, problem, "the time counts from the end; write: %s", form->written);
}

/* Reads "within 10 s of 60 s". */
static enum error read_within(struct clause *clause, struct expect *expect, struct problem *problem)
{
    uint64_t within_ns = 0;
    enum error error = clause_duration(clause, &within_ns, problem);
    if (error != OK)
        return error;
    if (!clause_take(clause, "of"))
        return clause_fail(clause, problem, "the time is missing, such as: within 10 s of 60 s");
    error = clause_time(clause, &expect->from_ns, problem);
    expect->by_ns = expect->from_ns + within_ns;
    expect->once = true;
    return error;
}

/* Reads "from 60 s to 90 s". */
static enum error read_span(struct clause *clause, struct expect *expect, struct problem *problem)
{
    enum error error = clause_time(clause, &expect->from_ns, problem);
    if (error != OK)
        return error;
    if (!clause_take(clause, "to"))
        return clause_fail(clause, problem, "the end is missing, such as: from 60 s to 90 s");
    error = clause_time(clause, &expect->by_ns, problem);
    if (error == OK && expect->by_ns <= expect->from_ns)
        return clause_fail(clause, problem, "it ends before it begins");
    return error;
}

static enum error read_times_of(struct clause *clause, struct expect *expect,
                                struct problem *problem)
{
    const struct form *form = &forms[expect->metric];
    const enum times times = form->times;
    const bool reached = times == TIMES_REACHED;
    if (times == TIMES_NONE)
        return OK;
    if (clause_take(clause, "by")) {
        if (times == TIMES_FIXED)
            return clause_fail(clause, problem,
                               "it covers a fixed part of the run; leave out \"by\"");
        if (times == TIMES_BY || times == TIMES_AFTER || reached)
            return read_by(clause, expect, problem);
    }
    if ((reached || times == TIMES_EITHER) && clause_take(clause, "within"))
        return read_within(clause, expect, problem);
    if ((times == TIMES_SPAN || times == TIMES_EITHER) && clause_take(clause, "from"))
        return read_span(clause, expect, problem);
    if (times == TIMES_FIXED || times == TIMES_BY)
        return OK;
    return clause_fail(clause, problem, "%s is missing; write: %s",
                       times == TIMES_AFTER ? "by when" : "when", form->written);
}

static enum error check_possible(const struct scenario *scenario, const struct clause *clause,
                                 const struct expect *expect, struct problem *problem)
{
    const enum metric metric = expect->metric;
    const bool after = metric == METRIC_ONE_VERSION;
    const uint64_t last_ns = after ? scenario->settle_ns : scenario->span_ns;
    const bool of_nodes = metric == METRIC_STEPS_OF || metric == METRIC_PUBLISHED_BY ||
                          metric == METRIC_ACCURACY_OF_ALL;
    if (expect->by_ns > last_ns)
        return clause_fail(clause, problem, "that is too late; [scenario] %s = %.10g",
                           after ? "settle_s" : "seconds", (double)last_ns / 1e9);
    if (scenario->made_up && (metric == METRIC_ACCURACY || metric == METRIC_ACCURACY_OF_ALL))
        return clause_fail(clause, problem, "made up updates have no accuracy");
    if (metric == METRIC_MEMBERS && expect->at_least && expect->value > scenario->nodes_count)
        return clause_fail(clause, problem, "there are only %u nodes", scenario->nodes_count);
    if (of_nodes && scenario->nodes_count > SCENARIO_CURVES_MAX)
        return clause_fail(clause, problem, "each node is measured only where there are up to %d",
                           SCENARIO_CURVES_MAX);
    if (metric == METRIC_PUBLISHED_BY && expect->by_ns > 2 * expect->from_ns)
        return clause_fail(clause, problem, "there is no time span of that length before");
    return OK;
}

static enum error read_expect(const struct scenario *scenario, struct clause *clause,
                              struct expect *expect, struct problem *problem)
{
    enum error error = read_metric(clause, expect, problem);
    if (error == OK)
        error = read_group(scenario, clause, expect, problem);
    if (error == OK)
        error = read_relation(clause, expect, problem);
    if (error == OK)
        error = read_value(clause, expect, problem);
    if (error == OK)
        error = read_times_of(clause, expect, problem);
    if (error == OK)
        error = clause_end(clause, problem);
    return error == OK ? check_possible(scenario, clause, expect, problem) : error;
}

enum error scenario_expect_add(struct scenario *scenario, const char *text, struct problem *problem)
{
    struct clause clause;
    struct expect expect = {.by_ns = 0};
    if (scenario->expects_count == SCENARIO_EXPECTS_MAX)
        return problem_set(problem, MALFORMED, "more than %d expectations", SCENARIO_EXPECTS_MAX);
    enum error error = clause_next(&clause, &text, problem);
    if (error != OK)
        return error;
    if (text)
        return clause_fail(&clause, problem, "one expectation per line, without commas");
    if (strlen(clause.text) >= sizeof expect.text)
        return clause_fail(&clause, problem, "longer than %zu characters", sizeof expect.text - 1);
    memcpy(expect.text, clause.text, strlen(clause.text) + 1);
    error = read_expect(scenario, &clause, &expect, problem);
    if (error == OK)
        scenario->expects[scenario->expects_count++] = expect;
    return error;
}
