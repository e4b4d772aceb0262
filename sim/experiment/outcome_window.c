/* Judges expectations about the moments between two times. */
#include <math.h>
#include <stdio.h>

#include "experiment/outcome_private.h"

static bool is_within(const struct moment *moment, double from_s, double by_s)
{
    return moment->at_s > from_s && moment->at_s <= by_s;
}

static const struct node_moment *nodes_at(const struct outcome *outcome, uint32_t at)
{
    return outcome->node_moments + (size_t)at * outcome->scenario->nodes_count;
}

/* Returns the time since which `holds` has been true until *last, the last moment of the period;
 * NAN = it is false at *last. *last = NULL: the period has no moment. */
static double holds_since(const struct outcome *outcome, const struct expect *expect,
                          bool (*holds)(const struct moment *), const struct moment **last)
{
    double since_s = NAN;
    *last = NULL;
    for (uint32_t at = 0; at < outcome->moments_count; at++) {
        const struct moment *moment = &outcome->moments[at];
        if (!is_within(moment, seconds_of(expect->from_ns), seconds_of(expect->by_ns)))
            continue;
        if (!holds(moment))
            since_s = NAN;
        else if (isnan(since_s))
            since_s = moment->at_s;
        *last = moment;
    }
    return since_s;
}

static bool is_one_component(const struct moment *moment)
{
    return moment->components == 1;
}

static bool is_joined(const struct moment *moment)
{
    return moment->running > 0 && moment->joined == moment->running;
}

struct measured measure_component(const struct outcome *outcome, const struct expect *expect)
{
    const struct moment *last;
    const double since_s = holds_since(outcome, expect, is_one_component, &last);
    struct measured measured = {.value = since_s - seconds_of(expect->from_ns),
                                .met = isfinite(since_s)};
    if (measured.met)
        (void)snprintf(measured.text, sizeof measured.text, "from %.4g s on", since_s);
    else if (last)
        (void)snprintf(measured.text, sizeof measured.text, "%u at %.4g s",
                       (unsigned)last->components, last->at_s);
    else
        (void)snprintf(measured.text, sizeof measured.text, "not measured");
    return measured;
}

struct measured measure_joined(const struct outcome *outcome, const struct expect *expect)
{
    const struct moment *last;
    const double since_s = holds_since(outcome, expect, is_joined, &last);
    struct measured measured = {.value = since_s - seconds_of(expect->from_ns),
                                .met = isfinite(since_s)};
    if (measured.met)
        (void)snprintf(measured.text, sizeof measured.text, "all %u from %.4g s on",
                       (unsigned)last->running, since_s);
    else if (last)
        (void)snprintf(measured.text, sizeof measured.text, "%u of %u at %.4g s",
                       (unsigned)last->joined, (unsigned)last->running, last->at_s);
    else
        (void)snprintf(measured.text, sizeof measured.text, "not measured");
    return measured;
}

/* Returns node i's mean speed in the expectation's period, relative to its group's speed in the
 * scenario; NAN = the node did not run in that period. */
static double speed_part(const struct outcome *outcome, const struct expect *expect, uint32_t i)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        const double speed = (double)nodes_at(outcome, at)[i].samples_per_s;
        if (!isfinite(speed) || !is_within(&outcome->moments[at], seconds_of(expect->from_ns),
                                           seconds_of(expect->by_ns)))
            continue;
        sum += speed;
        count++;
    }
    return count ? sum / count / scenario_group(outcome->scenario, i)->samples_per_s : NAN;
}

struct measured measure_steps_of(const struct outcome *outcome, const struct expect *expect)
{
    const struct group *group = &outcome->scenario->groups[expect->group];
    struct measured measured = {.value = NAN, .text = "not measured"};
    for (uint32_t i = group->first; i < group->first + group->count; i++) {
        const double part = speed_part(outcome, expect, i);
        if (isnan(part) || part >= measured.value)
            continue;
        measured.value = part;
        (void)snprintf(measured.text, sizeof measured.text, "%.2f %% (%s)", 100 * part,
                       outcome->nodes[i].name);
    }
    measured.met = expect_is_met(expect, measured.value);
    return measured;
}

/* Returns NAN if no moment between the two times is recorded. */
static double bytes_published_by(const struct outcome *outcome, uint32_t group, double from_s,
                                 double by_s)
{
    const struct group *those = &outcome->scenario->groups[group];
    double sum = NAN;
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        if (!is_within(&outcome->moments[at], from_s, by_s))
            continue;
        for (uint32_t i = those->first; i < those->first + those->count; i++) {
            const double bytes = (double)nodes_at(outcome, at)[i].rumor_bytes_published;
            if (isfinite(bytes))
                sum = isnan(sum) ? bytes : sum + bytes;
        }
    }
    return sum;
}

struct measured measure_published_by(const struct outcome *outcome, const struct expect *expect)
{
    const double from_s = seconds_of(expect->from_ns), by_s = seconds_of(expect->by_ns);
    const double before = bytes_published_by(outcome, expect->group, 2 * from_s - by_s, from_s);
    const double then = bytes_published_by(outcome, expect->group, from_s, by_s);
    struct measured measured = {.value = before > 0 ? then / before : NAN, .text = "not measured"};
    measured.met = expect_is_met(expect, measured.value);
    if (isfinite(measured.value))
        (void)snprintf(measured.text, sizeof measured.text, "%.1f %% (%.0f B, %.0f B before)",
                       100 * measured.value, then, before);
    return measured;
}

/* Returns the accuracy of the best or worst node on both sides of a partition, at the last
 * measurement until the end of the partition; NAN = none. */
static double half_accuracy(const struct outcome *outcome, const struct fault *partition, bool best)
{
    double measured = NAN;
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        double now = NAN;
        for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
            const double accuracy = (double)nodes_at(outcome, at)[i].accuracy;
            if (node_set_has(&partition->a, i) || node_set_has(&partition->b, i))
                now = best ? fmax(now, accuracy) : fmin(now, accuracy);
        }
        if (isfinite(now) && is_within(&outcome->moments[at], 0, seconds_of(partition->to_ns)))
            measured = now;
    }
    return measured;
}

static double bound_of(const struct outcome *outcome, const struct expect *expect)
{
    if (expect->bound == BOUND_NUMBER)
        return expect->value;
    const struct fault *partition = scenario_partition_until(outcome->scenario, expect->from_ns);
    CHECK(partition);
    return half_accuracy(outcome, partition, expect->bound == BOUND_BETTER_HALF) + expect->value;
}

/* Returns the accuracy of the worst node at a moment, and sets *node to its index; NAN = none. */
static double worst_at(const struct outcome *outcome, uint32_t at, uint32_t *node)
{
    double worst = NAN;
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        const double accuracy = (double)nodes_at(outcome, at)[i].accuracy;
        if (isnan(accuracy) || accuracy >= worst)
            continue;
        worst = accuracy;
        *node = i;
    }
    return worst;
}

struct measured measure_accuracy_of_all(const struct outcome *outcome, const struct expect *expect)
{
    const double bound = bound_of(outcome, expect);
    struct measured measured = {.value = NAN, .text = "not measured"};
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        uint32_t node = 0;
        const double worst = worst_at(outcome, at, &node);
        const double at_s = outcome->moments[at].at_s;
        if (isnan(worst) || !is_within(&outcome->moments[at], seconds_of(expect->from_ns),
                                       seconds_of(expect->by_ns)))
            continue;
        if (expect->once ? worst <= measured.value : worst >= measured.value)
            continue;
        measured.value = worst;
        (void)snprintf(measured.text, sizeof measured.text, "%.4f at %.4g s (%s)%s%.4f", worst,
                       at_s, outcome->nodes[node].name,
                       expect->bound ? ", compared with " : ", bound ", bound);
        if (expect->once && worst >= bound)
            break;
    }
    measured.met = expect->at_least ? measured.value >= bound : measured.value <= bound;
    return measured;
}

bool outcome_wants_nodes(const struct scenario *scenario, uint64_t at_ns)
{
    for (uint32_t i = 0; i < scenario->expects_count; i++) {
        const struct expect *expect = &scenario->expects[i];
        if (expect->metric == METRIC_ACCURACY_OF_ALL && at_ns <= expect->by_ns &&
            at_ns + scenario->evaluate_ns > expect->from_ns)
            return true;
    }
    return false;
}

void outcome_alarm(struct outcome *outcome, double at_s, const char *who, const char *text)
{
    if (outcome->alarms++ > 0)
        return;
    outcome->alarm_s = at_s;
    (void)snprintf(outcome->alarm_text, sizeof outcome->alarm_text, "%s at %.1f s: %s", who, at_s,
                   text);
}
