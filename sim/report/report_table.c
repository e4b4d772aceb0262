#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/memory.h"
#include "node/notes.h"
#include "report/report_private.h"

static void fact_setting(struct table *table, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    table_add(table, "strategy");
    table_add(table, "%s, seed %" PRIu64 ", %.6g virtual seconds, %u node%s",
              scenario_strategy_name(outcome->scenario->strategy), scenario->seed,
              seconds_of(scenario->span_ns), scenario->nodes_count,
              scenario->nodes_count == 1 ? "" : "s");
}

static void fact_stopped(struct table *table, const struct outcome *outcome)
{
    if (!outcome_is_stopped(outcome))
        return;
    table_add(table, "interrupted");
    table_add(table, "after %.6g virtual seconds; all values cover only that part",
              outcome_span_s(outcome));
}

static void fact_accuracy(struct table *table, const struct outcome *outcome)
{
    table_add(table, "accuracy");
    if (isfinite(outcome->accuracy))
        table_add(table, "%.2f %%, loss %.4f, on %u test samples", 100 * outcome->accuracy,
                  outcome->loss, outcome->tested);
    else if (outcome->scenario->made_up)
        table_add(table, "none: the updates are made up");
    else
        table_add(table, "not measured");
}

static void fact_averaged(struct table *table, const struct outcome *outcome)
{
    if (outcome->averaged.samples == 0)
        return;
    table_add(table, "averaged");
    table_add(table, "%.2f %%, loss %.4f: mean of the base over the last tenth of the time",
              100 * evaluation_accuracy(&outcome->averaged), outcome->averaged.loss);
}

static void fact_best(struct table *table, const struct outcome *outcome)
{
    const struct moment *best = NULL;
    char sent[AMOUNT_BYTES];
    for (uint32_t i = 0; i < outcome->moments_count; i++) {
        const struct moment *moment = &outcome->moments[i];
        if (isfinite(moment->accuracy) && (!best || moment->accuracy > best->accuracy))
            best = moment;
    }
    if (!best)
        return;
    const uint32_t some = outcome->scenario->evaluate_samples, all = outcome->tested;
    const bool on_all = all > 0 && (some == 0 || some > all);
    table_add(table, "best");
    table_add(table, "%.2f %% of %u test samples at %.4g s%s%s", 100 * best->accuracy,
              on_all ? all : some, best->at_s, best->sent_bytes ? ", after " : "",
              best->sent_bytes ? amount_bytes((double)best->sent_bytes, sent) : "");
}

static void fact_traffic(struct table *table, const struct outcome *outcome)
{
    const struct moment *last = report_last(outcome);
    char published[AMOUNT_BYTES], sent[AMOUNT_BYTES];
    if (!report_has_wires(outcome)) {
        table_add(table, "links");
        table_add(table, "none: %s",
                  outcome->scenario->strategy == STRATEGY_IDEAL
                      ? "the ideal cluster has a free network"
                      : "each node trains alone");
        return;
    }
    if (last && outcome->scenario->strategy == STRATEGY_GOSSIP) {
        table_add(table, "published");
        table_add(table, "%s in %" PRIu64 " rumors",
                  amount_bytes((double)last->rumor_bytes_published, published), last->rumors);
    }
    if (last && last->sent_bytes) {
        table_add(table, "sent");
        table_add(table, "%s in all, %.1f %% of it control traffic",
                  amount_bytes((double)last->sent_bytes, sent),
                  100 * (double)last->control_bytes / (double)last->sent_bytes);
    }
}

static void fact_busiest(struct table *table, const struct outcome *outcome)
{
    uint32_t count;
    char rate[AMOUNT_BYTES];
    struct link_use *uses = outcome_uses(outcome, &count);
    if (count > 0) {
        table_add(table, "busiest link");
        table_add(table, "%s, %.1f %% of %s", uses[0].name, 100 * uses[0].use,
                  amount_rate(uses[0].rate_bytes_per_s, rate));
    }
    free(uses);
}

static void fact_spreading(struct table *table, const struct outcome *outcome)
{
    char control[AMOUNT_BYTES];
    if (outcome->scenario->strategy != STRATEGY_GOSSIP)
        return;
    if (isfinite(outcome->one_version_s) || !outcome_is_stopped(outcome))
        table_add(table, "one version");
    if (isfinite(outcome->one_version_s))
        table_add(table, "%.2f s after training ended", outcome->one_version_s);
    else if (!outcome_is_stopped(outcome))
        table_add(table, "never: at the end, nodes had different models");
    if (isfinite(outcome->copies)) {
        table_add(table, "copies");
        table_add(table, "%.3f received per rumor, in the second half", outcome->copies);
    }
    if (isfinite(outcome->control_bytes_per_s)) {
        table_add(table, "control");
        table_add(table, "%s/s per node, in the second half",
                  amount_bytes(outcome->control_bytes_per_s, control));
    }
}

static void fact_steps(struct table *table, const struct outcome *outcome)
{
    uint64_t samples = 0, steps = 0, possible = 0;
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        samples += outcome->nodes[i].samples;
        steps += outcome->nodes[i].steps;
        possible += outcome->nodes[i].steps_possible;
    }
    if (possible == 0)
        return;
    table_add(table, "trained");
    table_add(table, "%" PRIu64 " samples, %.2f %% of the steps that time allows", samples,
              100 * (double)steps / (double)possible);
}

/* Adds a fact such as "expelled 6 of bad, doubt 1 of good": for each kind of warning, the number of
 * nodes in each group that other nodes have warned about. */
static void fact_warnings(struct table *table, const struct outcome *outcome)
{
    char text[512];
    int used = 0;
    for (int kind = 0; kind < NOTE_KINDS; kind++)
        for (uint32_t g = 0; g < outcome->scenario->groups_count; g++) {
            const struct group *group = &outcome->scenario->groups[g];
            uint32_t named = 0;
            for (uint32_t i = 0; i < group->count; i++)
                named += (uint32_t)(outcome->nodes[group->first + i].warnings >> kind & 1);
            if (named > 0 && used < (int)sizeof text)
                used += snprintf(text + used, sizeof text - (size_t)used, "%s%s %u of %s",
                                 used > 0 ? ", " : "", note_kind_name((enum note_kind)kind),
                                 (unsigned)named, group->name);
        }
    if (used == 0)
        return;
    table_add(table, "warnings");
    table_add(table, "%s", text);
}

static void fact_alarms(struct table *table, const struct outcome *outcome)
{
    if (outcome->alarms == 0)
        return;
    table_add(table, "alarms");
    table_add(table, "%u; first %s", (unsigned)outcome->alarms, outcome->alarm_text);
}

static void fact_work(struct table *table, const struct outcome *outcome)
{
    table_add(table, "computed");
    table_add(table, "%.1f s of CPU: %.1f gradients, %.1f evaluation, %.1f other", outcome->cpu_s,
              outcome->gradient_cpu_s, outcome->evaluate_cpu_s,
              outcome->cpu_s - outcome->gradient_cpu_s - outcome->evaluate_cpu_s);
    if (outcome->events == 0)
        return;
    char memory[AMOUNT_BYTES];
    table_add(table, "events");
    table_add(table, "%" PRIu64 ", %.0f per second of CPU; %s of memory", outcome->events,
              (double)outcome->events / outcome->cpu_s,
              amount_bytes((double)outcome->rss_bytes_max, memory));
    table_add(table, "trace");
    table_add(table, "%016" PRIx64, outcome->trace);
}

void report_facts(struct table *table, const struct outcome *outcome)
{
    table_init(table, "What happened", (const char *const[]){"", "", NULL}, 2);
    fact_setting(table, outcome);
    fact_stopped(table, outcome);
    fact_accuracy(table, outcome);
    fact_averaged(table, outcome);
    fact_best(table, outcome);
    fact_traffic(table, outcome);
    fact_busiest(table, outcome);
    fact_spreading(table, outcome);
    fact_steps(table, outcome);
    fact_warnings(table, outcome);
    fact_alarms(table, outcome);
    fact_work(table, outcome);
    if (outcome->violation[0]) {
        table_add(table, "BROKEN");
        table_add(table, "%s", outcome->violation);
    }
}

/* Columns of the table of nodes after the name. */
enum column { SAMPLES, SHARE, PUBLISHED, RECEIVED, COPIES, UP, DOWN, LAG, ACCURACY, COLUMNS };

/* Returns the 90th percentile of a node's lag over time, in seconds. */
static double usual_lag(const struct outcome *outcome, uint32_t i)
{
    double *lags = memory_new(outcome->moments_count + 1, sizeof *lags);
    for (uint32_t at = 0; at < outcome->moments_count; at++)
        lags[at] = report_figure(outcome, at, i, FIGURE_LAG);
    const double lag = report_quantile(lags, outcome->moments_count, 0.9);
    free(lags);
    return lag;
}

static void fill_columns(const struct outcome *outcome, uint32_t i, double out[static COLUMNS])
{
    const struct node_total *node = &outcome->nodes[i];
    const double received = (double)node->rumors_received;
    const bool gossips = outcome->scenario->strategy == STRATEGY_GOSSIP;
    const bool sends = report_has_wires(outcome);
    out[SAMPLES] = node->samples || node->steps_possible ? (double)node->samples : NAN;
    out[SHARE] = 100 * node->share;
    out[PUBLISHED] =
        sends ? (double)(gossips ? node->rumor_bytes_published : node->sent_bytes) : NAN;
    out[RECEIVED] =
        sends ? (double)(gossips ? node->rumor_bytes_received : node->received_bytes) : NAN;
    out[COPIES] = node->rumors_received ? (received + (double)node->duplicates) / received : NAN;
    out[UP] = 100 * node->up_use;
    out[DOWN] = 100 * node->down_use;
    out[LAG] = usual_lag(outcome, i);
    out[ACCURACY] = 100 * node->accuracy;
}

static void add_amount(struct table *table, double bytes)
{
    char amount[AMOUNT_BYTES];
    table_add(table, "%s", isfinite(bytes) ? amount_bytes(bytes, amount) : "-");
}

/* The percentage has one decimal if it is below 10 %. */
static void add_percent(struct table *table, double percent)
{
    table_add_figure(table, percent < 9.95 ? "%.1f" : "%.0f", percent);
}

static void add_columns(struct table *table, const double figures[static COLUMNS])
{
    table_add_figure(table, "%.0f", figures[SAMPLES]);
    table_add_figure(table, "%.1f", figures[SHARE]);
    add_amount(table, figures[PUBLISHED]);
    add_amount(table, figures[RECEIVED]);
    table_add_figure(table, "%.2f", figures[COPIES]);
    add_percent(table, figures[UP]);
    add_percent(table, figures[DOWN]);
    table_add_figure(table, "%.1f", figures[LAG]);
    table_add_figure(table, "%.2f", figures[ACCURACY]);
}

static void quantile_columns(const struct outcome *outcome, const struct group *group, double q,
                             double out[static COLUMNS])
{
    double(*figures)[COLUMNS] = memory_new(group->count, sizeof *figures);
    double *values = memory_new(group->count, sizeof *values);
    for (uint32_t i = 0; i < group->count; i++)
        fill_columns(outcome, group->first + i, figures[i]);
    for (int column = 0; column < COLUMNS; column++) {
        for (uint32_t i = 0; i < group->count; i++)
            values[i] = figures[i][column];
        out[column] = report_quantile(values, group->count, q);
    }
    free(values);
    free(figures);
}

static void add_group(struct table *table, const struct outcome *outcome, const struct group *group)
{
    static const struct {
        const char *name;
        double q;
    } ROWS[] = {{"minimum", 0}, {"median", 0.5}, {"maximum", 1}};
    const size_t rows = group->count == 1 ? 1 : sizeof ROWS / sizeof ROWS[0];
    for (size_t row = 0; row < rows; row++) {
        double figures[COLUMNS];
        quantile_columns(outcome, group, ROWS[row].q, figures);
        table_add(table, "%s", row == 0 ? group->name : "");
        table_add(table, "%s", rows > 1 ? ROWS[row].name : "");
        add_columns(table, figures);
    }
}

static void add_groups(struct table *table, const struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->scenario->groups_count; i++)
        if (outcome->scenario->groups[i].count > 0)
            add_group(table, outcome, &outcome->scenario->groups[i]);
}

static void add_nodes(struct table *table, const struct outcome *outcome)
{
    for (uint32_t i = 0; i < outcome->scenario->nodes_count; i++) {
        double figures[COLUMNS];
        fill_columns(outcome, i, figures);
        table_add(table, "%s", outcome->nodes[i].name);
        add_columns(table, figures);
    }
}

static void fill_nodes(struct table *table, const struct outcome *outcome)
{
    const bool gossips = outcome->scenario->strategy == STRATEGY_GOSSIP;
    const bool by_group = outcome->scenario->nodes_count > REPORT_ROWS_MAX;
    const char *sent = gossips ? "out" : "sent", *received = gossips ? "in" : "received";
    if (by_group) {
        table_init(table, "Nodes, by group",
                   (const char *const[]){"group", "", "samples", "share %", sent, received,
                                         "copies", "up %", "down %", "lag s", "accuracy %", NULL},
                   2);
        add_groups(table, outcome);
    } else {
        table_init(table, "Nodes",
                   (const char *const[]){"node", "samples", "share %", sent, received, "copies",
                                         "up %", "down %", "lag s", "accuracy %", NULL},
                   1);
        add_nodes(table, outcome);
    }
    table_trim(table);
    if (gossips)
        table->note = "out, in: bytes of rumors published and received; lag: 90th percentile.";
}

static int compare_links(const void *a, const void *b)
{
    const struct link_total *left = a, *right = b;
    const double left_use = isfinite(left->use) ? left->use : -1;
    const double right_use = isfinite(right->use) ? right->use : -1;
    if (left_use != right_use)
        return left_use < right_use ? 1 : -1;
    return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static void add_link(struct table *table, const struct link_total *link)
{
    char amount[AMOUNT_BYTES];
    table_add(table, "%s", link->from);
    table_add(table, "%s", link->to);
    add_amount(table, (double)link->bytes);
    table_add(table, "%s", amount_rate(link->rate_bytes_per_s, amount));
    add_percent(table, 100 * link->use);
    table_add_figure(table, "%.0f", 1000 * link->delay_s);
    table_add(table, "%" PRIu64, link->resent);
}

static void fill_links(struct table *table, const struct outcome *outcome)
{
    const uint32_t count = outcome->links_count;
    const uint32_t shown = u32_min(count, REPORT_ROWS_MAX);
    table_init(
        table, "Links between regions",
        (const char *const[]){"from", "to", "bytes", "rate", "use %", "delay ms", "resent", NULL},
        2);
    if (count == 0)
        return;
    struct link_total *sorted = memory_new(count, sizeof *sorted);
    memcpy(sorted, outcome->links, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_links);
    for (uint32_t i = 0; i < shown; i++)
        add_link(table, &sorted[i]);
    free(sorted);
    if (shown < count)
        table->note = "Only the busiest links are shown; summary.json has all.";
}

static void fill_faults(struct table *table, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    table_init(table, "Faults", (const char *const[]){"fault", "from s", "to s", NULL}, 1);
    for (uint32_t i = 0; i < scenario->faults_count; i++) {
        const struct fault *fault = &scenario->faults[i];
        char text[REPORT_TEXT_BYTES];
        report_fault_text(scenario, fault, text);
        table_add(table, "%s", text);
        table_add_figure(table, "%.4g", seconds_of(fault->from_ns));
        table_add_figure(table, "%.4g",
                         fault->to_ns > fault->from_ns ? seconds_of(fault->to_ns) : NAN);
    }
}

void report_tables(const struct outcome *outcome,
                   void (*take)(void *self, const struct table *table), void *self)
{
    static void (*const fills[])(struct table *, const struct outcome *) = {fill_nodes, fill_links,
                                                                            fill_faults};
    for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++) {
        struct table table;
        fills[i](&table, outcome);
        take(self, &table);
        table_free(&table);
    }
}
