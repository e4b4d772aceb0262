/* Expectations of the moments between two times. */
#include <math.h>
#include <stdio.h>

#include "scenario/outcome_inside.h"

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

static bool is_within(const struct moment *moment, double from_s, double by_s)
{
    return moment->at_s > from_s && moment->at_s <= by_s;
}

static const struct node_moment *nodes_at(const struct outcome *outcome, uint32_t at)
{
    return outcome->node_moments + (size_t)at * outcome->scenario->nodes_count;
}

/* What holds at the last moment, since when, in seconds; NAN: it does not hold, or there is none,
 * which leaves *last NULL. */
static double holds_since(const struct outcome *outcome, const struct expect *expect,
                          bool (*holds)(const struct moment *), const struct moment **last)
{
    double since_s = NAN;
    *last = NULL;
    for (uint32_t at = 0; at < outcome->moments_count; at++) {
        const struct moment *moment = &outcome->moments[at];
        if (!is_within(moment, seconds(expect->from_ns), seconds(expect->by_ns)))
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

struct found found_component(const struct outcome *outcome, const struct expect *expect)
{
    const struct moment *last;
    const double since_s = holds_since(outcome, expect, is_one_component, &last);
    struct found found = {.value = since_s - seconds(expect->from_ns), .met = isfinite(since_s)};
    if (found.met)
        (void)snprintf(found.text, sizeof found.text, "from %.4g s on", since_s);
    else if (last)
        (void)snprintf(found.text, sizeof found.text, "%u at %.4g s", (unsigned)last->components,
                       last->at_s);
    else
        (void)snprintf(found.text, sizeof found.text, "not measured");
    return found;
}

struct found found_joined(const struct outcome *outcome, const struct expect *expect)
{
    const struct moment *last;
    const double since_s = holds_since(outcome, expect, is_joined, &last);
    struct found found = {.value = since_s - seconds(expect->from_ns), .met = isfinite(since_s)};
    if (found.met)
        (void)snprintf(found.text, sizeof found.text, "all %u from %.4g s on",
                       (unsigned)last->running, since_s);
    else if (last)
        (void)snprintf(found.text, sizeof found.text, "%u of %u at %.4g s", (unsigned)last->joined,
                       (unsigned)last->running, last->at_s);
    else
        (void)snprintf(found.text, sizeof found.text, "not measured");
    return found;
}

/* The mean speed of node i, of its own; NAN: it did not run. */
static double speed_part(const struct outcome *outcome, const struct expect *expect, uint32_t i)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        const double speed = (double)nodes_at(outcome, at)[i].samples_per_s;
        if (!isfinite(speed) ||
            !is_within(&outcome->moments[at], seconds(expect->from_ns), seconds(expect->by_ns)))
            continue;
        sum += speed;
        count++;
    }
    return count ? sum / count / scenario_group(outcome->scenario, i)->samples_per_s : NAN;
}

struct found found_steps_of(const struct outcome *outcome, const struct expect *expect)
{
    const struct group *group = &outcome->scenario->groups[expect->group];
    struct found found = {.value = NAN, .text = "not measured"};
    for (uint32_t i = group->first; i < group->first + group->count; i++) {
        const double part = speed_part(outcome, expect, i);
        if (isnan(part) || part >= found.value)
            continue;
        found.value = part;
        (void)snprintf(found.text, sizeof found.text, "%.2f %% (%s)", 100 * part,
                       outcome->nodes[i].name);
    }
    found.met = found_is_met(expect, found.value);
    return found;
}

/* Bytes of rumors that the group told; NAN: not kept. */
static double told_by(const struct outcome *outcome, uint32_t group, double from_s, double by_s)
{
    const struct group *those = &outcome->scenario->groups[group];
    double sum = NAN;
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        if (!is_within(&outcome->moments[at], from_s, by_s))
            continue;
        for (uint32_t i = those->first; i < those->first + those->count; i++) {
            const double told = (double)nodes_at(outcome, at)[i].rumor_bytes_published;
            if (isfinite(told))
                sum = isnan(sum) ? told : sum + told;
        }
    }
    return sum;
}

struct found found_told_of(const struct outcome *outcome, const struct expect *expect)
{
    const double from_s = seconds(expect->from_ns), by_s = seconds(expect->by_ns);
    const double before = told_by(outcome, expect->group, 2 * from_s - by_s, from_s);
    const double then = told_by(outcome, expect->group, from_s, by_s);
    struct found found = {.value = before > 0 ? then / before : NAN, .text = "not measured"};
    found.met = found_is_met(expect, found.value);
    if (isfinite(found.value))
        (void)snprintf(found.text, sizeof found.text, "%.1f %% (%.0f B, %.0f B before)",
                       100 * found.value, then, before);
    return found;
}

/* Accuracy, each node for itself. */

/* The best, or the worst, node of both halves at the last moment when they were measured; NAN:
 * never. */
static double half_accuracy(const struct outcome *outcome, const struct fault *partition, bool best)
{
    double found = NAN;
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        double now = NAN;
        for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
            const double accuracy = (double)nodes_at(outcome, at)[i].accuracy;
            if (node_set_has(&partition->a, i) || node_set_has(&partition->b, i))
                now = best ? fmax(now, accuracy) : fmin(now, accuracy);
        }
        if (isfinite(now) && is_within(&outcome->moments[at], 0, seconds(partition->to_ns)))
            found = now;
    }
    return found;
}

static double bound_of(const struct outcome *outcome, const struct expect *expect)
{
    if (expect->bound == BOUND_NUMBER)
        return expect->value;
    const struct fault *partition = scenario_partition_until(outcome->scenario, expect->from_ns);
    CHECK(partition);
    return half_accuracy(outcome, partition, expect->bound == BOUND_BETTER_HALF) + expect->value;
}

/* The node that is worst at this moment; NAN, and nobody: none was measured. */
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

struct found found_accuracy_of_all(const struct outcome *outcome, const struct expect *expect)
{
    const double bound = bound_of(outcome, expect);
    struct found found = {.value = NAN, .text = "not measured"};
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        uint32_t node = 0;
        const double worst = worst_at(outcome, at, &node);
        const double at_s = outcome->moments[at].at_s;
        if (isnan(worst) ||
            !is_within(&outcome->moments[at], seconds(expect->from_ns), seconds(expect->by_ns)))
            continue;
        if (expect->once ? worst <= found.value : worst >= found.value)
            continue;
        found.value = worst;
        (void)snprintf(found.text, sizeof found.text, "%.4f at %.4g s (%s)%s%.4f", worst, at_s,
                       outcome->nodes[node].name, expect->bound ? ", held against " : ", bound ",
                       bound);
        if (expect->once && worst >= bound)
            break;
    }
    found.met = expect->at_least ? found.value >= bound : found.value <= bound;
    return found;
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
