#include "experiment/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/memory.h"
#include "experiment/outcome_private.h"

#define MOMENTS_FIRST 256

void outcome_init(struct outcome *outcome, const struct scenario *scenario)
{
    *outcome = (struct outcome){
        .scenario = scenario,
        .stopped_s = NAN,
        .accuracy = NAN,
        .trained_accuracy = NAN,
        .trained_loss = NAN,
        .loss = NAN,
        .one_version_s = NAN,
        .copies = NAN,
        .control_bytes_per_s = NAN,
        .origins = NAN,
        .alarm_s = NAN,
    };
    outcome->nodes = memory_new(scenario->nodes_count, sizeof *outcome->nodes);
    for (uint32_t i = 0; i < scenario->nodes_count; i++) {
        struct node_total *node = &outcome->nodes[i];
        node->share = node->up_use = node->down_use = node->accuracy = NAN;
        node->joining_s = NAN;
        scenario_node_name(scenario, i, node->name, sizeof node->name);
    }
}

static void grow_moments(struct outcome *outcome)
{
    const uint32_t nodes = outcome->scenario->nodes_count;
    outcome->moments_max = outcome->moments_max ? 2 * outcome->moments_max : MOMENTS_FIRST;
    outcome->moments =
        memory_more(outcome->moments, outcome->moments_max, sizeof *outcome->moments);
    if (nodes > SCENARIO_CURVES_MAX)
        return;
    outcome->node_moments = memory_more(outcome->node_moments, (size_t)outcome->moments_max * nodes,
                                        sizeof *outcome->node_moments);
}

struct moment *outcome_add(struct outcome *outcome, double at_s)
{
    const uint32_t count = outcome->moments_count;
    CHECK(count == 0 || at_s >= outcome->moments[count - 1].at_s);
    if (count == outcome->moments_max)
        grow_moments(outcome);
    outcome->moments_count++;
    outcome->moments[count] =
        (struct moment){.at_s = at_s, .accuracy = NAN, .loss = NAN, .distance = NAN};
    struct node_moment *nodes = outcome_nodes(outcome);
    for (uint32_t i = 0; nodes && i < outcome->scenario->nodes_count; i++)
        nodes[i] = (struct node_moment){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return &outcome->moments[count];
}

struct node_moment *outcome_nodes(struct outcome *outcome)
{
    CHECK(outcome->moments_count > 0);
    if (!outcome->node_moments)
        return NULL;
    return outcome->node_moments +
           (size_t)(outcome->moments_count - 1) * outcome->scenario->nodes_count;
}

static bool is_second_half(const struct outcome *outcome, double at_s)
{
    const double span_s = seconds_of(outcome->scenario->span_ns);
    return at_s > span_s / 2 && at_s <= span_s;
}

/* Returns the utilisation for struct link_use: over the whole run if the second half of training
 * has no record. */
static double node_use(const struct outcome *outcome, uint32_t i, bool up)
{
    const uint32_t nodes = outcome->scenario->nodes_count;
    const double total = up ? outcome->nodes[i].up_use : outcome->nodes[i].down_use;
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t at = 0; outcome->node_moments && at < outcome->moments_count; at++) {
        const struct node_moment *moment = &outcome->node_moments[(size_t)at * nodes + i];
        const double use = (double)(up ? moment->up_use : moment->down_use);
        if (is_second_half(outcome, outcome->moments[at].at_s) && isfinite(use)) {
            sum += use;
            count++;
        }
    }
    return count ? sum / count : total;
}

static int compare_uses(const void *a, const void *b)
{
    const struct link_use *left = a, *right = b;
    if (left->use != right->use)
        return left->use < right->use ? 1 : -1;
    return strcmp(left->name, right->name);
}

static void add_node_use(const struct outcome *outcome, uint32_t i, bool up, struct link_use *uses,
                         uint32_t *count)
{
    const struct group *group = scenario_group(outcome->scenario, i);
    const double use = node_use(outcome, i, up);
    if (!isfinite(use))
        return;
    struct link_use *added = &uses[(*count)++];
    const uint64_t rate = rate_at(up ? &group->up : &group->down, outcome->scenario->span_ns);
    *added = (struct link_use){.use = use, .rate_bytes_per_s = (double)rate};
    (void)snprintf(added->name, sizeof added->name, "%s %s", outcome->nodes[i].name,
                   up ? "up" : "down");
}

static void add_link_use(const struct link_total *link, struct link_use *uses, uint32_t *count)
{
    if (!isfinite(link->use))
        return;
    struct link_use *added = &uses[(*count)++];
    *added = (struct link_use){.use = link->use, .rate_bytes_per_s = link->rate_bytes_per_s};
    (void)snprintf(added->name, sizeof added->name, "%s > %s", link->from, link->to);
}

struct link_use *outcome_uses(const struct outcome *outcome, uint32_t *count)
{
    const uint32_t nodes = outcome->scenario->nodes_count;
    struct link_use *uses = memory_new(2 * (size_t)nodes + outcome->links_count + 1, sizeof *uses);
    *count = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        add_node_use(outcome, i, true, uses, count);
        add_node_use(outcome, i, false, uses, count);
    }
    for (uint32_t i = 0; i < outcome->links_count; i++)
        add_link_use(&outcome->links[i], uses, count);
    qsort(uses, *count, sizeof *uses, compare_uses);
    return uses;
}

static struct measured measure_figure(const struct expect *expect, double value, const char *format)
{
    struct measured measured = {.value = value, .met = expect_is_met(expect, value)};
    if (isfinite(value))
        (void)snprintf(measured.text, sizeof measured.text, format, value);
    else
        (void)snprintf(measured.text, sizeof measured.text, "not measured");
    return measured;
}

static double moment_figure(const struct moment *moment, enum metric metric)
{
    return metric == METRIC_ACCURACY ? moment->accuracy : (double)moment->members;
}

static void describe_moment(char *out, size_t bytes, const struct moment *moment)
{
    char sent[AMOUNT_BYTES];
    if (moment->sent_bytes == 0)
        (void)snprintf(out, bytes, " at %.4g s", moment->at_s);
    else
        (void)snprintf(out, bytes, " at %.4g s, after %s", moment->at_s,
                       amount_bytes((double)moment->sent_bytes, sent));
}

/* Returns the first moment that meets the expectation. If none does, returns the one whose value
 * comes closest; NULL = none has a value. */
static const struct moment *closest(const struct outcome *outcome, const struct expect *expect)
{
    const struct moment *best = NULL;
    for (uint32_t i = 0; i < outcome->moments_count; i++) {
        const struct moment *moment = &outcome->moments[i];
        const double value = moment_figure(moment, expect->metric);
        if (moment->at_s > seconds_of(expect->by_ns) || !isfinite(value))
            continue;
        const double before = best ? moment_figure(best, expect->metric) : NAN;
        if (!best || (expect->at_least ? value > before : value < before))
            best = moment;
        if (expect_is_met(expect, value))
            break;
    }
    return best;
}

static struct measured measure_by(const struct outcome *outcome, const struct expect *expect)
{
    const struct moment *best = closest(outcome, expect);
    struct measured measured =
        measure_figure(expect, best ? moment_figure(best, expect->metric) : NAN,
                       expect->metric == METRIC_ACCURACY ? "%.4f" : "%.0f");
    const size_t used = strlen(measured.text);
    if (best)
        describe_moment(measured.text + used, sizeof measured.text - used, best);
    return measured;
}

static struct measured measure_accuracy(const struct outcome *outcome, const struct expect *expect)
{
    if (expect->by_ns)
        return measure_by(outcome, expect);
    return measure_figure(expect, outcome->accuracy, "%.4f");
}

static struct measured measure_members(const struct outcome *outcome, const struct expect *expect)
{
    if (expect->by_ns)
        return measure_by(outcome, expect);
    const uint32_t count = outcome->moments_count;
    return measure_figure(expect, count ? (double)outcome->moments[count - 1].members : NAN,
                          "%.0f");
}

static struct measured measure_one_version(const struct outcome *outcome,
                                           const struct expect *expect)
{
    struct measured measured = {.value = outcome->one_version_s};
    if (!isfinite(measured.value)) {
        const bool gossips = outcome->scenario->strategy == STRATEGY_GOSSIP;
        (void)snprintf(measured.text, sizeof measured.text, "%s",
                       gossips ? "never" : "not measured");
        return measured;
    }
    measured.met = expect->by_ns == 0 || measured.value <= seconds_of(expect->by_ns);
    (void)snprintf(measured.text, sizeof measured.text, "%.2f s after training", measured.value);
    return measured;
}

static struct measured measure_control(const struct outcome *outcome, const struct expect *expect)
{
    char amount[AMOUNT_BYTES];
    struct measured measured = measure_figure(expect, outcome->control_bytes_per_s, "%.0f B/s");
    if (isfinite(measured.value))
        (void)snprintf(measured.text, sizeof measured.text, "%s/s",
                       amount_bytes(measured.value, amount));
    return measured;
}

static struct measured measure_link_use(const struct outcome *outcome, const struct expect *expect)
{
    uint32_t count;
    struct link_use *uses = outcome_uses(outcome, &count);
    struct measured measured = measure_figure(expect, count ? uses[0].use : NAN, "%.2f");
    if (count)
        (void)snprintf(measured.text, sizeof measured.text, "%.1f %% (%s)", 100 * uses[0].use,
                       uses[0].name);
    free(uses);
    return measured;
}

static struct measured measure_steps(const struct outcome *outcome, const struct expect *expect)
{
    const struct node_total *least = NULL;
    double part = NAN;
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        const struct node_total *node = &outcome->nodes[i];
        if (node->steps_possible == 0)
            continue;
        const double own = (double)node->steps / (double)node->steps_possible;
        if (!least || own < part) {
            least = node;
            part = own;
        }
    }
    struct measured measured = measure_figure(expect, part, "%.4f");
    if (least)
        (void)snprintf(measured.text, sizeof measured.text, "%.2f %% (%s)", 100 * part,
                       least->name);
    return measured;
}

static struct measured measure_removed(const struct outcome *outcome)
{
    struct measured measured = {.value = outcome->removed, .met = outcome->removed == 0};
    if (outcome->scenario->strategy != STRATEGY_GOSSIP)
        (void)snprintf(measured.text, sizeof measured.text, "not measured");
    else if (measured.met)
        (void)snprintf(measured.text, sizeof measured.text, "none");
    else
        (void)snprintf(measured.text, sizeof measured.text, "%u times; first %.60s",
                       (unsigned)outcome->removed, outcome->removed_text);
    return measured;
}

/* Collects the accuracies of all evaluations before the end of training. Returns their number. */
static uint32_t evaluations(const struct outcome *outcome, double *accuracies)
{
    const double end_s = seconds_of(outcome->scenario->span_ns);
    uint32_t count = 0;
    for (uint32_t i = 0; i < outcome->moments_count; i++)
        if (isfinite(outcome->moments[i].accuracy) && outcome->moments[i].at_s < end_s)
            accuracies[count++] = outcome->moments[i].accuracy;
    return count;
}

static struct measured measure_last_tenth(const struct outcome *outcome,
                                          const struct expect *expect)
{
    double *accuracies = memory_new(outcome->moments_count + 1, sizeof *accuracies);
    const uint32_t count = evaluations(outcome, accuracies), tenth = count / 10;
    double best = -INFINITY, last = NAN, sum = 0;
    for (uint32_t i = 0; tenth > 0 && i < count; i++) {
        sum += accuracies[i] - (i >= tenth ? accuracies[i - tenth] : 0);
        last = sum / tenth;
        best = i + 1 >= tenth ? fmax(best, last) : best;
    }
    free(accuracies);
    struct measured measured = {.value = last - best, .met = last - best >= expect->value};
    (void)snprintf(measured.text, sizeof measured.text, "%.2f %%, and %.2f %% at best", 100 * last,
                   100 * best);
    if (isnan(last))
        (void)snprintf(measured.text, sizeof measured.text, "fewer than ten evaluations");
    return measured;
}

static struct measured measure_alarm(const struct outcome *outcome, const struct expect *expect)
{
    const bool wants_none = expect->metric == METRIC_NO_ALARM;
    const double from_s = seconds_of(expect->from_ns), by_s = seconds_of(expect->by_ns);
    struct measured measured = {.value = outcome->alarm_s};
    measured.met = wants_none
                       ? outcome->alarms == 0
                       : outcome->alarms > 0 && measured.value > from_s && measured.value <= by_s;
    if (outcome->alarms == 0)
        (void)snprintf(measured.text, sizeof measured.text, "none");
    else
        (void)snprintf(measured.text, sizeof measured.text, "%u; first %.70s",
                       (unsigned)outcome->alarms, outcome->alarm_text);
    return measured;
}

static struct measured measure_blocks(const struct outcome *outcome, const struct expect *expect)
{
    const struct node_total *most = NULL;
    char bytes[AMOUNT_BYTES];
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        const struct node_total *node = &outcome->nodes[i];
        if (node->block_bytes > 0 && (!most || node->block_bytes > most->block_bytes))
            most = node;
    }
    const bool known = most && outcome->base_bytes > 0;
    if (!most && outcome->scenario->strategy == STRATEGY_GOSSIP)
        return (struct measured){.value = NAN, .text = "no node took over a base"};
    const double part = known ? (double)most->block_bytes / (double)outcome->base_bytes : NAN;
    struct measured measured = measure_figure(expect, part, "%.3f");
    if (known)
        (void)snprintf(measured.text, sizeof measured.text, "%.3f x base (%s, %s)", part,
                       amount_bytes((double)most->block_bytes, bytes), most->name);
    return measured;
}

/* Returns the time that node i took to join, relative to the time that its blocks take on its
 * downlink. INFINITY = it made no step before a restart or the end. NAN = it started with the
 * swarm, took over no base, or has an unlimited downlink. */
static double joining_part(const struct outcome *outcome, uint32_t i)
{
    const struct group *group = scenario_group(outcome->scenario, i);
    const struct node_total *node = &outcome->nodes[i];
    const double rate = (double)rate_at(&group->down, group->start_ns);
    if (group->start_ns == 0 || node->block_bytes == 0 || rate <= 0)
        return NAN;
    return isfinite(node->joining_s) ? node->joining_s / ((double)node->block_bytes / rate)
                                     : INFINITY;
}

static struct measured measure_joining(const struct outcome *outcome, const struct expect *expect)
{
    uint32_t slowest = 0;
    double part = NAN;
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        const double own = joining_part(outcome, i);
        if (isnan(own) || own <= part)
            continue;
        slowest = i;
        part = own;
    }
    struct measured measured = measure_figure(expect, part, "%.3f");
    const struct node_total *node = &outcome->nodes[slowest];
    if (isfinite(part))
        (void)snprintf(measured.text, sizeof measured.text, "%.3f x blocks / rate (%.2f s, %s)",
                       part, node->joining_s, node->name);
    else if (!isnan(part))
        (void)snprintf(measured.text, sizeof measured.text, "never (%s)", node->name);
    return measured;
}

static struct measured measure(const struct outcome *outcome, const struct expect *expect)
{
    switch (expect->metric) {
    case METRIC_ACCURACY:
        return measure_accuracy(outcome, expect);
    case METRIC_ONE_VERSION:
        return measure_one_version(outcome, expect);
    case METRIC_COPIES:
        return measure_figure(expect, outcome->copies, "%.3f");
    case METRIC_CONTROL:
        return measure_control(outcome, expect);
    case METRIC_LINK_USE:
        return measure_link_use(outcome, expect);
    case METRIC_MEMBERS:
        return measure_members(outcome, expect);
    case METRIC_STEPS:
        return measure_steps(outcome, expect);
    case METRIC_COMPONENT:
        return measure_component(outcome, expect);
    case METRIC_JOINED:
        return measure_joined(outcome, expect);
    case METRIC_REMOVED:
        return measure_removed(outcome);
    case METRIC_LAST_TENTH:
        return measure_last_tenth(outcome, expect);
    case METRIC_NO_ALARM:
    case METRIC_ALARM:
        return measure_alarm(outcome, expect);
    case METRIC_STEPS_OF:
        return measure_steps_of(outcome, expect);
    case METRIC_PUBLISHED_BY:
        return measure_published_by(outcome, expect);
    case METRIC_ACCURACY_OF_ALL:
        return measure_accuracy_of_all(outcome, expect);
    case METRIC_BLOCKS:
        return measure_blocks(outcome, expect);
    case METRIC_JOINING:
        return measure_joining(outcome, expect);
    }
    check_failed(__FILE__, __LINE__, "a metric");
}

void outcome_judge(struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->scenario->expects_count; i++) {
        const struct expect *expect = &outcome->scenario->expects[i];
        const struct measured measured =
            outcome_is_stopped(outcome)
                ? (struct measured){NAN, false, "interrupted before the end"}
                : measure(outcome, expect);
        struct verdict *verdict = &outcome->verdicts[i];
        verdict->met = measured.met;
        verdict->value = measured.value;
        (void)snprintf(verdict->text, sizeof verdict->text, "%s: %s", expect->text, measured.text);
    }
}

bool outcome_is_stopped(const struct outcome *outcome)
{
    return isfinite(outcome->stopped_s);
}

double outcome_span_s(const struct outcome *outcome)
{
    return fmin(outcome_is_stopped(outcome) ? outcome->stopped_s : INFINITY,
                seconds_of(outcome->scenario->span_ns));
}

bool outcome_is_met(const struct outcome *outcome)
{
    bool met = outcome->violation[0] == 0 && !outcome_is_stopped(outcome);
    for (uint32_t i = 0; i < outcome->scenario->expects_count; i++)
        met &= outcome->verdicts[i].met;
    return met;
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->moments);
    free(outcome->node_moments);
    free(outcome->nodes);
    free(outcome->links);
    free(outcome->edges);
    *outcome = (struct outcome){0};
}
