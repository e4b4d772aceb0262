#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "config/config.h"
#include "page/bottleneck.h"
#include "page/page_snapshot.h"
#include "report/escape.h"
#include "report/report_private.h"

#define CURVES_MAX   12  /* with more nodes, a figure of OF_NODES has a band for each group */
#define CURVE_POINTS 600 /* maximum number of points of a node's or a group's curve */
#define BYTES_UNIT   1e6

static bool has_loss(const struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->moments_count; i++)
        if (isfinite(outcome->moments[i].loss))
            return true;
    return false;
}

/* Returns the accuracy in percent, or the loss; NAN = not measured. */
static double measured(const struct moment *moment, bool is_accuracy)
{
    return is_accuracy ? 100 * moment->accuracy : moment->loss;
}

static void put_evaluations(json_t *series, const struct outcome *outcome, bool is_accuracy)
{
    for (uint32_t i = 0; i < outcome->moments_count; i++)
        if (isfinite(measured(&outcome->moments[i], is_accuracy)))
            page_snapshot_point(series, outcome->moments[i].at_s,
                                measured(&outcome->moments[i], is_accuracy));
}

/* Draws each expected accuracy as a horizontal line up to the time of the expectation. */
static void put_expected(json_t *figure, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    for (uint32_t i = 0; i < scenario->expects_count; i++) {
        const struct expect *expect = &scenario->expects[i];
        const double by_s = seconds_of(expect->by_ns ? expect->by_ns : scenario->span_ns);
        if (expect->metric != METRIC_ACCURACY)
            continue;
        json_t *series = page_snapshot_series(figure, expect->text, "dashed");
        page_snapshot_point(series, 0, 100 * expect->value);
        page_snapshot_point(series, by_s, 100 * expect->value);
    }
}

static void put_over_time(json_t *snapshot, const struct outcome *outcome,
                          const struct report_beside *beside, bool is_accuracy)
{
    json_t *figure = page_snapshot_figure(
        snapshot,
        &(struct page_snapshot_figure){
            .name = is_accuracy ? "accuracy" : "loss",
            .title = is_accuracy ? "Accuracy over time" : "Loss over time",
            .about =
                "Measured on the swarm's base with a part of the test set, at the end with all of "
                "it. For comparison, if they were played: single (each node alone on its own data) "
                "and ideal (one machine with the speed and the data of all nodes).",
            .x = "virtual time (s)",
            .y = is_accuracy ? "accuracy (%)" : "loss"});
    put_evaluations(
        page_snapshot_series(figure, scenario_strategy_name(outcome->scenario->strategy), "bold"),
        outcome, is_accuracy);
    for (uint32_t i = 0; beside && i < beside->count; i++)
        put_evaluations(page_snapshot_series(figure,
                                             scenario_strategy_name(beside->scenarios[i].strategy),
                                             "points"),
                        &beside->outcomes[i], is_accuracy);
    if (is_accuracy)
        put_expected(figure, outcome);
}

static void put_over_bytes(json_t *snapshot, const struct outcome *outcome)
{
    const struct moment *last = report_last(outcome);
    const bool is_accuracy = report_has_accuracy(outcome);
    if (!last || last->sent_bytes == 0 || !(is_accuracy || has_loss(outcome)))
        return;
    json_t *figure = page_snapshot_figure(
        snapshot, &(struct page_snapshot_figure){
                      .name = "bytes",
                      .title = is_accuracy ? "Accuracy against bytes" : "Loss against bytes",
                      .about = "The cost in traffic: all bytes sent, and the bytes of rumors with "
                               "each rumor counted once.",
                      .x = "sent by all nodes (MB)",
                      .y = is_accuracy ? "accuracy (%)" : "loss"});
    json_t *sent = page_snapshot_series(figure, "all bytes sent", "points"), *rumors = NULL;
    if (last->rumor_bytes_published > 0)
        rumors = page_snapshot_series(figure, "rumors, each counted once", "points");
    for (uint32_t i = 0; i < outcome->moments_count; i++) {
        const struct moment *moment = &outcome->moments[i];
        const double value = measured(moment, is_accuracy);
        if (!isfinite(value))
            continue;
        page_snapshot_point(sent, (double)moment->sent_bytes / BYTES_UNIT, value);
        if (rumors)
            page_snapshot_point(rumors, (double)moment->rumor_bytes_published / BYTES_UNIT, value);
    }
}

static void put_traffic(json_t *snapshot, const struct outcome *outcome)
{
    const struct moment *last = report_last(outcome);
    if (!last || last->sent_bytes == 0)
        return;
    json_t *figure = page_snapshot_figure(
        snapshot,
        &(struct page_snapshot_figure){.name = "traffic",
                                       .title = "Traffic over time",
                                       .about = "Traffic that all nodes sent, second by second.",
                                       .x = "virtual time (s)",
                                       .y = "kB/s",
                                       .from_zero = true});
    json_t *all = page_snapshot_series(figure, "all traffic", "line");
    json_t *control = page_snapshot_series(figure, "control traffic", "line");
    for (uint32_t i = 1; i < outcome->moments_count; i++) {
        const struct moment *now = &outcome->moments[i], *before = now - 1;
        const double passed_s = now->at_s - before->at_s;
        if (!(passed_s > 0))
            continue;
        page_snapshot_point(all, now->at_s,
                            (double)(now->sent_bytes - before->sent_bytes) / passed_s / 1e3);
        page_snapshot_point(control, now->at_s,
                            (double)(now->control_bytes - before->control_bytes) / passed_s / 1e3);
    }
}

/* A figure that shows one quantity of every node over time. */
struct of_nodes {
    struct page_snapshot_figure figure;
    enum figure value;
    double factor; /* converts the value to the unit of the axis */
};

static const struct of_nodes OF_NODES[] = {
    {{"up", "Uplinks over time", "Utilisation of each node's uplink, second by second.",
      "virtual time (s)", "use (%)", false, true},
     FIGURE_UP,
     100},
    {{"down", "Downlinks over time", "Utilisation of each node's downlink, second by second.",
      "virtual time (s)", "use (%)", false, true},
     FIGURE_DOWN,
     100},
    {{"lag", "Lag over time",
      "Age of the oldest rumor that a node knows to exist and does not hold yet.",
      "virtual time (s)", "lag (s)", false, true},
     FIGURE_LAG,
     1},
    {{"share", "Share of each node",
      "Weight of each node's progress in the swarm, in proportion to its speed.",
      "virtual time (s)", "share (%)", false, true},
     FIGURE_SHARE,
     100},
};

static void put_node(json_t *figure, const struct outcome *outcome, const struct of_nodes *of,
                     uint32_t i, uint32_t stride)
{
    json_t *series = page_snapshot_series(figure, outcome->nodes[i].name, "line");
    for (uint32_t at = 0; at < outcome->moments_count; at += stride)
        page_snapshot_point(series, outcome->moments[at].at_s,
                            of->factor * report_figure(outcome, at, i, of->value));
}

/* Draws a group of nodes: the median as a curve, with a band from minimum to maximum. */
static void put_group(json_t *figure, const struct outcome *outcome, const struct of_nodes *of,
                      const struct group *group, uint32_t stride)
{
    json_t *series = page_snapshot_series(figure, group->name, "line");
    double *values = memory_new(group->count, sizeof *values);
    for (uint32_t at = 0; at < outcome->moments_count; at += stride) {
        for (uint32_t i = 0; i < group->count; i++)
            values[i] = of->factor * report_figure(outcome, at, group->first + i, of->value);
        const double middle = report_quantile(values, group->count, 0.5);
        page_snapshot_point_between(series, outcome->moments[at].at_s, middle,
                                    report_quantile(values, group->count, 0),
                                    report_quantile(values, group->count, 1));
    }
    free(values);
}

static void put_of_nodes(json_t *snapshot, const struct outcome *outcome, const struct of_nodes *of)
{
    const struct scenario *scenario = outcome->scenario;
    const uint32_t stride = 1 + outcome->moments_count / CURVE_POINTS;
    if (!report_has_figure(outcome, of->value))
        return;
    json_t *figure = page_snapshot_figure(snapshot, &of->figure);
    if (scenario->nodes_count <= CURVES_MAX)
        for (uint32_t i = 0; i < scenario->nodes_count; i++)
            put_node(figure, outcome, of, i, stride);
    else
        for (uint32_t g = 0; g < scenario->groups_count; g++)
            put_group(figure, outcome, of, &scenario->groups[g], stride);
}

static void put_figures(json_t *snapshot, const struct outcome *outcome,
                        const struct report_beside *beside)
{
    if (report_has_accuracy(outcome))
        put_over_time(snapshot, outcome, beside, true);
    if (has_loss(outcome))
        put_over_time(snapshot, outcome, beside, false);
    put_over_bytes(snapshot, outcome);
    for (size_t i = 0; i < sizeof OF_NODES / sizeof OF_NODES[0]; i++)
        put_of_nodes(snapshot, outcome, &OF_NODES[i]);
    put_traffic(snapshot, outcome);
}

static void put_swarm(json_t *snapshot, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    for (uint32_t i = 0; i < scenario->nodes_count; i++)
        page_snapshot_node(
            snapshot,
            &(struct page_snapshot_node){
                .name = outcome->nodes[i].name,
                .state = outcome->nodes[i].running || !report_has_wires(outcome) ? "live" : "left",
                .share = outcome->nodes[i].share,
                .dials_only = scenario_group(scenario, i)->dials_only});
    for (uint32_t i = 0; i < outcome->edges_count; i++)
        page_snapshot_link(snapshot, &(struct page_snapshot_link){
                                         .from = outcome->edges[i].from,
                                         .to = outcome->edges[i].to,
                                         .rate_bytes_per_s = outcome->edges[i].rate_bytes_per_s,
                                         .use = outcome->edges[i].use,
                                         .trip_s = outcome->edges[i].trip_s});
}

/* Returns the local steps of all nodes as a fraction of the steps that their speeds allow. */
static double computing(const struct outcome *outcome)
{
    double steps = 0, possible = 0;
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        steps += (double)outcome->nodes[i].steps;
        possible += (double)outcome->nodes[i].steps_possible;
    }
    return possible > 0 ? fmin(steps / possible, 1) : (double)NAN;
}

static void put_limit(json_t *snapshot, const struct outcome *outcome)
{
    uint32_t count;
    char sentence[BOTTLENECK_BYTES];
    struct link_use *uses = outcome_uses(outcome, &count);
    const struct bottleneck found = {.stage = "running",
                                     .alone_s = (double)NAN,
                                     .link_use = count > 0 ? uses[0].use : (double)NAN,
                                     .computing = computing(outcome),
                                     .trains = true,
                                     .is_whole = true};
    free(uses);
    bottleneck_sentence(&found, sentence);
    page_snapshot_text(snapshot, "limit", sentence);
}

static void put_badge(json_t *snapshot, const struct outcome *outcome)
{
    char text[96];
    if (outcome->scenario->strategy != STRATEGY_GOSSIP || outcome_is_stopped(outcome))
        return;
    const bool is_one = isfinite(outcome->one_version_s);
    if (is_one)
        (void)snprintf(text, sizeof text, "all nodes had one version %.2f s after training ended",
                       outcome->one_version_s);
    page_snapshot_badge(snapshot, is_one,
                        is_one ? text : "not all nodes had one version at the end");
}

static void put_verdicts(json_t *snapshot, const struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->scenario->expects_count; i++)
        page_snapshot_verdict(snapshot,
                              outcome_is_stopped(outcome) ? "open"
                              : outcome->verdicts[i].met  ? "met"
                                                          : "missed",
                              outcome->verdicts[i].text);
    if (outcome->violation[0])
        page_snapshot_verdict(snapshot, "missed", outcome->violation);
}

static void put_fact_without_curves(json_t *snapshot)
{
    char text[96];
    (void)snprintf(text, sizeof text,
                   "no curves of single nodes: they are kept only for up to %d nodes",
                   SCENARIO_CURVES_MAX);
    page_snapshot_fact(snapshot, "curves", text);
}

static void put_facts(json_t *snapshot, const struct outcome *outcome)
{
    struct table facts;
    report_facts(&facts, outcome);
    for (uint32_t row = 0; row < table_rows(&facts); row++)
        page_snapshot_fact(snapshot, table_cell(&facts, row, 0), table_cell(&facts, row, 1));
    if (!outcome->node_moments && outcome->moments_count > 0)
        put_fact_without_curves(snapshot);
    if (outcome->scenario->source[0])
        page_snapshot_fact(snapshot, "figures from", outcome->scenario->source);
    table_free(&facts);
}

static void put_marks(json_t *snapshot, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    for (uint32_t i = 0; i < scenario->faults_count; i++) {
        const struct fault *fault = &scenario->faults[i];
        char text[REPORT_TEXT_BYTES];
        report_fault_text(scenario, fault, text);
        page_snapshot_mark(snapshot, seconds_of(fault->from_ns),
                           seconds_of(u64_max(fault->to_ns, fault->from_ns)), text);
    }
}

static void put_settings(json_t *snapshot, const struct outcome *outcome)
{
    char command[CONFIG_LINE_BYTES], *text = NULL;
    size_t bytes;
    report_command(outcome, command, sizeof command);
    page_snapshot_text(snapshot, "command", command);
    FILE *settings = open_memstream(&text, &bytes);
    if (!settings)
        memory_missing(BUFSIZ);
    config_print(&outcome->scenario->config, settings);
    CHECK(fclose(settings) == 0);
    page_snapshot_text(snapshot, "settings", text);
    free(text);
}

json_t *report_snapshot(const struct outcome *outcome, const struct report_beside *beside)
{
    const struct scenario *scenario = outcome->scenario;
    char title[128];
    (void)snprintf(title, sizeof title, "%s, %s, seed %llu", scenario->name,
                   scenario_strategy_name(scenario->strategy), (unsigned long long)scenario->seed);
    json_t *snapshot =
        page_snapshot_new("play", title, scenario->about[0] ? scenario->about : scenario->name);
    put_badge(snapshot, outcome);
    put_limit(snapshot, outcome);
    put_verdicts(snapshot, outcome);
    put_facts(snapshot, outcome);
    put_swarm(snapshot, outcome);
    put_marks(snapshot, outcome);
    put_figures(snapshot, outcome, beside);
    report_tables(outcome, table_snapshot, snapshot);
    put_settings(snapshot, outcome);
    return snapshot;
}
