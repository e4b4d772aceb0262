#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "report/report_private.h"

double report_figure(const struct outcome *outcome, uint32_t moment, uint32_t node,
                     enum figure figure)
{
    if (!outcome->node_moments)
        return NAN;
    const struct node_moment *at =
        &outcome->node_moments[(size_t)moment * outcome->scenario->nodes_count + node];
    switch (figure) {
    case FIGURE_SPEED:
        return (double)at->samples_per_s;
    case FIGURE_SHARE:
        return (double)at->share;
    case FIGURE_LAG:
        return (double)at->lag_s;
    case FIGURE_BEHIND:
        return (double)at->behind;
    case FIGURE_UP:
        return (double)at->up_use;
    case FIGURE_DOWN:
        return (double)at->down_use;
    }
    check_failed(__FILE__, __LINE__, "a figure");
}

bool report_has_figure(const struct outcome *outcome, enum figure figure)
{
    for (uint32_t at = 0; at < outcome->moments_count; at++)
        for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++)
            if (isfinite(report_figure(outcome, at, i, figure)))
                return true;
    return false;
}

double report_quantile(double *values, uint32_t count, double q)
{
    uint32_t finite = 0;
    for (uint32_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[finite++] = values[i];
    if (finite == 0)
        return NAN;
    double_sort(values, finite);
    const double rank = ceil(q * finite);
    return values[rank < 1 ? 0 : (uint32_t)rank - 1];
}

const char *report_verdict(const struct outcome *outcome, uint32_t i)
{
    if (outcome_is_stopped(outcome))
        return "open";
    return outcome->verdicts[i].met ? "met" : "NOT MET";
}

const struct moment *report_last(const struct outcome *outcome)
{
    return outcome->moments_count ? &outcome->moments[outcome->moments_count - 1] : NULL;
}

bool report_has_wires(const struct outcome *outcome)
{
    const enum strategy_kind strategy = outcome->scenario->strategy;
    return strategy != STRATEGY_SINGLE && strategy != STRATEGY_IDEAL;
}

bool report_has_accuracy(const struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->moments_count; i++)
        if (isfinite(outcome->moments[i].accuracy))
            return true;
    return false;
}

void report_command(const struct outcome *outcome, char *out, size_t bytes)
{
    if (outcome->command)
        (void)snprintf(out, bytes, "%s", outcome->command);
    else
        (void)snprintf(out, bytes, "hearsay sim %s.conf --seed %llu", outcome->scenario->name,
                       (unsigned long long)outcome->scenario->seed);
}

static bool has_nodes(const struct node_set *set, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (!node_set_has(set, i))
            return false;
    return true;
}

static uint32_t count_nodes(const struct node_set *set, uint32_t nodes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < nodes; i++)
        count += node_set_has(set, i);
    return count;
}

/* Appends a word to the comma-separated list in out[bytes]. Returns false if it does not fit. */
static bool append(char *out, size_t bytes, const char *word)
{
    const size_t used = strlen(out);
    const int more = snprintf(out + used, bytes - used, "%s%s", used ? ", " : "", word);
    return more >= 0 && (size_t)more < bytes - used;
}

/* Writes "all", or a list of the set's whole groups and of its other nodes. If the list is too
 * long, writes only the number of nodes. */
static void set_text(const struct scenario *scenario, const struct node_set *set, char *out,
                     size_t bytes)
{
    bool fits = true;
    out[0] = 0;
    for (uint32_t g = 0; g < scenario->groups_count; g++) {
        const struct group *group = &scenario->groups[g];
        if (group->count > 1 && has_nodes(set, group->first, group->count)) {
            fits = fits && append(out, bytes, group->name);
            continue;
        }
        for (uint32_t i = group->first; i < group->first + group->count; i++) {
            char name[SCENARIO_NAME_BYTES + 8];
            scenario_node_name(scenario, i, name, sizeof name);
            if (node_set_has(set, i))
                fits = fits && append(out, bytes, name);
        }
    }
    if (!fits)
        (void)snprintf(out, bytes, "%u nodes", count_nodes(set, scenario->nodes_count));
    if (has_nodes(set, 0, scenario->nodes_count))
        (void)snprintf(out, bytes, "all");
}

void report_fault_text(const struct scenario *scenario, const struct fault *fault,
                       char out[static REPORT_TEXT_BYTES])
{
    char a[64], b[64];
    set_text(scenario, &fault->a, a, sizeof a);
    set_text(scenario, &fault->b, b, sizeof b);
    const bool is_poison = fault->kind == FAULT_POISON;
    (void)snprintf(out, REPORT_TEXT_BYTES, "%s %s%s%s%s%s%s", fault_name(fault->kind),
                   fault->any ? "one of " : "", a, b[0] ? (fault->one_way ? " > " : " | ") : "", b,
                   is_poison ? " with " : "", is_poison ? poison_name(fault->poison) : "");
}
