#include "comparison/comparison_report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "page/page.h"
#include "page/page_snapshot.h"
#include "report/report_folder.h"
#include "report/table.h"

#define SENTENCE_BYTES 1024
#define MEGABYTE       1e6

static const char *name_of(const struct comparison *comparison, uint32_t strategy)
{
    return scenario_strategy_name(comparison->plan->kinds[strategy]);
}

static bool is_accuracy(const struct comparison *comparison)
{
    return comparison->plan->measure == MEASURE_ACCURACY;
}

/* Returns an accuracy in percent, or a loss unchanged. */
static double shown(const struct comparison *comparison, double value)
{
    return is_accuracy(comparison) ? 100 * value : value;
}

static void target_text(const struct comparison *comparison, uint32_t target,
                        char out[static TUNING_BYTES])
{
    (void)snprintf(out, TUNING_BYTES, is_accuracy(comparison) ? "%.4g %%" : "%.4g",
                   shown(comparison, comparison->targets[target]));
}

void comparison_sentence(const struct comparison *comparison, uint32_t target, char *out,
                         size_t bytes)
{
    const struct plan *plan = comparison->plan;
    const struct winner winner = score_winner(plan, comparison->targets[target]);
    char level[TUNING_BYTES];
    target_text(comparison, target, level);
    if (winner.first == UINT32_MAX) {
        (void)snprintf(out, bytes, "%s: no strategy reaches it with every seed.", level);
        return;
    }
    const struct band first = score_times(plan, winner.first, comparison->targets[target]);
    const int used =
        snprintf(out, bytes, "%s: %s first, after %.1f s (%.1f to %.1f)", level,
                 name_of(comparison, winner.first), first.mean, first.least, first.most);
    if (used < 0 || (size_t)used >= bytes)
        return;
    if (winner.second == UINT32_MAX)
        (void)snprintf(out + used, bytes - (size_t)used,
                       "; no other strategy reaches it with every seed.");
    else
        (void)snprintf(out + used, bytes - (size_t)used,
                       "; %.2f times faster than %s (%.2f to %.2f).", winner.margin.mean,
                       name_of(comparison, winner.second), winner.margin.least, winner.margin.most);
}

bool comparison_idle_sentence(const struct comparison *comparison, char *out, size_t bytes)
{
    const struct plan *plan = comparison->plan;
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < plan->kinds_count && used < bytes; i++)
        if (score_is_idle(plan, i))
            used += (size_t)snprintf(out + used, bytes - used, "%s%s", used ? ", " : "",
                                     name_of(comparison, i));
    if (used > 0 && used < bytes)
        (void)snprintf(out + used, bytes - used,
                       ": no round was finished in these %.6g seconds, so there is no place among "
                       "the others; play longer (scenario.seconds), or give faster links.",
                       seconds_of(plan->scenario->span_ns));
    return used > 0;
}

/* Sort key of a strategy: its times to the targets, then its final result. */
struct rank {
    uint32_t strategy;
    double times[TARGETS_MAX]; /* seconds to the targets, hardest target first */
    double end;                /* mean final accuracy or loss */
    bool less_is_better;
};

static int by_rank(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    for (uint32_t t = 0; t < TARGETS_MAX; t++) {
        if (isnan(x->times[t]) != isnan(y->times[t]))
            return isnan(x->times[t]) - isnan(y->times[t]);
        if (!isnan(x->times[t]) && x->times[t] != y->times[t])
            return x->times[t] < y->times[t] ? -1 : 1;
    }
    if (isnan(x->end) || isnan(y->end))
        return isnan(x->end) - isnan(y->end);
    const bool is_first = x->less_is_better ? x->end < y->end : x->end > y->end;
    return x->end == y->end ? 0 : is_first ? -1 : 1;
}

/* Returns the strategies in the order of the tables; the caller frees the array. */
static struct rank *ranks_of(const struct comparison *comparison)
{
    const struct plan *plan = comparison->plan;
    struct rank *ranks = memory_new(plan->kinds_count, sizeof *ranks);
    for (uint32_t i = 0; i < plan->kinds_count; i++) {
        ranks[i] = (struct rank){.strategy = i,
                                 .end = score_end(plan, i).mean,
                                 .less_is_better = !is_accuracy(comparison)};
        for (uint32_t t = 0; t < TARGETS_MAX; t++)
            ranks[i].times[t] = NAN;
        for (uint32_t t = 0; t < comparison->targets_count; t++)
            ranks[i].times[comparison->targets_count - 1 - t] =
                score_times(plan, i, comparison->targets[t]).mean;
    }
    qsort(ranks, plan->kinds_count, sizeof *ranks, by_rank);
    return ranks;
}

/* Adds a cell: the mean of `band`, divided by `unit`. If not all seeds have a value, the cell is
 * the number of seeds that have one. */
static void add_reach(struct table *table, const struct band *band, double unit, uint32_t seeds)
{
    if (isfinite(band->mean))
        table_add(table, "%.1f", band->mean / unit);
    else if (band->count > 0)
        table_add(table, "%u of %u", band->count, seeds);
    else
        table_add(table, "-");
}

static void fill_times(struct table *table, const struct comparison *comparison,
                       char heads[static TARGETS_MAX][TUNING_BYTES])
{
    const struct plan *plan = comparison->plan;
    const char *names[TABLE_COLUMNS_MAX + 1] = {"strategy", "at the end", "+-"};
    for (uint32_t t = 0; t < comparison->targets_count; t++) {
        target_text(comparison, t, heads[t]);
        names[3 + 2 * t] = heads[t];
        names[4 + 2 * t] = "MB";
    }
    table_init(table, "Time and traffic to each target", names, 1);
    table->note = "Seconds to each target and megabytes sent by a node, means over the seeds.";
    struct rank *ranks = ranks_of(comparison);
    for (uint32_t r = 0; r < plan->kinds_count; r++) {
        const uint32_t i = ranks[r].strategy;
        const struct band end = score_end(plan, i);
        table_add(table, "%s", name_of(comparison, i));
        if (score_is_idle(plan, i))
            table_add(table, "no round");
        else
            table_add_figure(table, is_accuracy(comparison) ? "%.2f" : "%.3f",
                             shown(comparison, end.mean));
        table_add_figure(table, is_accuracy(comparison) ? "%.2f" : "%.3f",
                         shown(comparison, (end.most - end.least) / 2));
        for (uint32_t t = 0; t < comparison->targets_count; t++) {
            const struct band times = score_times(plan, i, comparison->targets[t]);
            const struct band bytes = score_bytes(plan, i, comparison->targets[t]);
            add_reach(table, &times, 1, plan->seeds);
            table_add_figure(table, "%.3g", bytes.mean / MEGABYTE);
        }
    }
    free(ranks);
}

/* Returns the mean over the seeds; NAN = a seed has no value. */
static double mean_of(const struct plan *plan, uint32_t strategy,
                      double (*figure)(const struct record *record))
{
    double values[PLAN_SEEDS_MAX];
    for (uint32_t k = 0; k < plan->seeds; k++) {
        const struct record *record = plan_record(plan, strategy, k);
        values[k] = record ? figure(record) : NAN;
    }
    return score_band(values, plan->seeds).mean;
}

static double computing(const struct record *record)
{
    return 100 * record->computing;
}

static double link_use(const struct record *record)
{
    return 100 * record->link_use;
}

static double busiest_use(const struct record *record)
{
    return 100 * record->busiest_use;
}

static double sent_mb(const struct record *record)
{
    return record->sent_bytes / MEGABYTE;
}

static double last_distance(const struct record *record)
{
    return record->count > 0 ? 100 * record->points[record->count - 1].distance : NAN;
}

static void fill_costs(struct table *table, const struct comparison *comparison)
{
    static const char *const HEADS[] = {"strategy",  "computed %", "links %", "busiest %",
                                        "MB a node", "apart %",    NULL};
    static double (*const FIGURES[])(const struct record *) = {computing, link_use, busiest_use,
                                                               sent_mb, last_distance};
    const struct plan *plan = comparison->plan;
    table_init(table, "Costs", HEADS, 1);
    table->note =
        "Fractions of the time: machines computing, links busy (mean, and the busiest). Apart: "
        "consensus distance at the last evaluation.";
    struct rank *ranks = ranks_of(comparison);
    for (uint32_t r = 0; r < plan->kinds_count; r++) {
        table_add(table, "%s", name_of(comparison, ranks[r].strategy));
        for (size_t f = 0; f < sizeof FIGURES / sizeof FIGURES[0]; f++)
            table_add_figure(table, "%.3g", mean_of(plan, ranks[r].strategy, FIGURES[f]));
    }
    free(ranks);
}

static void fill_settings(struct table *table, const struct comparison *comparison)
{
    static const char *const HEADS[] = {"strategy", "best of the trials", NULL};
    const struct plan *plan = comparison->plan;
    table_init(table, "Settings", HEADS, 2);
    table->note =
        "The same number of trials for each strategy, with one seed; the curve with the best "
        "mean over time was chosen.";
    for (uint32_t i = 0; comparison->is_tuned && i < plan->kinds_count; i++) {
        const bool has_two = plan->settings_count[i] > 1;
        table_add(table, "%s", name_of(comparison, i));
        table_add(table, "%s%s%s", plan->settings_count[i] ? plan->settings[i][0] : "none",
                  has_two ? ", " : "", has_two ? plan->settings[i][1] : "");
    }
}

static void write_tables(const struct comparison *comparison,
                         void (*take)(void *self, const struct table *table), void *self)
{
    char heads[TARGETS_MAX][TUNING_BYTES];
    struct table table;
    fill_times(&table, comparison, heads);
    take(self, &table);
    table_free(&table);
    fill_costs(&table, comparison);
    take(self, &table);
    table_free(&table);
    fill_settings(&table, comparison);
    take(self, &table);
    table_free(&table);
}

static void say_facts(const struct comparison *comparison, char *out, size_t bytes)
{
    const struct scenario *scenario = comparison->plan->scenario;
    (void)snprintf(out, bytes, "%s, %u seed%s, %.6g virtual seconds, %u nodes",
                   is_accuracy(comparison) ? "Accuracy" : "Loss", comparison->plan->seeds,
                   comparison->plan->seeds == 1 ? "" : "s", seconds_of(scenario->span_ns),
                   scenario->nodes_count);
}

void comparison_print(FILE *out, const struct comparison *comparison)
{
    const struct scenario *scenario = comparison->plan->scenario;
    char text[SENTENCE_BYTES];
    table_print_words(out, scenario->about[0] ? scenario->about : scenario->name, 0);
    say_facts(comparison, text, sizeof text);
    (void)fprintf(out, "%s\n", text);
    write_tables(comparison, table_print, out);
    (void)fputc('\n', out);
    for (uint32_t t = 0; t < comparison->targets_count; t++) {
        comparison_sentence(comparison, t, text, sizeof text);
        table_print_words(out, text, 0);
    }
    if (comparison_idle_sentence(comparison, text, sizeof text))
        table_print_words(out, text, 0);
}

/* Averages the p-th evaluation over the seeds. Returns false if a seed has no such evaluation. */
static bool mean_point(const struct plan *plan, uint32_t strategy, uint32_t p,
                       struct record_point *mean, struct band *band)
{
    double values[PLAN_SEEDS_MAX];
    *mean = (struct record_point){0};
    for (uint32_t k = 0; k < plan->seeds; k++) {
        const struct record *record = plan_record(plan, strategy, k);
        if (!record || p >= record->count)
            return false;
        values[k] = score_value(&record->points[p], plan->measure);
        mean->at_s = record->points[p].at_s;
        mean->sent_bytes += record->points[p].sent_bytes / plan->seeds;
    }
    *band = score_band(values, plan->seeds);
    return true;
}

static bool has_curve(const struct plan *plan, uint32_t strategy)
{
    struct record_point mean;
    struct band band;
    return mean_point(plan, strategy, 0, &mean, &band);
}

static void write_curves(FILE *out, const void *context)
{
    const struct comparison *comparison = context;
    const struct plan *plan = comparison->plan;
    (void)fprintf(out, "strategy,at_s,%s,least,most,sent_bytes\n",
                  is_accuracy(comparison) ? "accuracy" : "loss");
    for (uint32_t i = 0; i < plan->kinds_count; i++) {
        struct record_point mean;
        struct band band;
        for (uint32_t p = 0; mean_point(plan, i, p, &mean, &band); p++)
            (void)fprintf(out, "%s,%.7g,%.7g,%.7g,%.7g,%.0f\n", name_of(comparison, i), mean.at_s,
                          band.mean, band.least, band.most, mean.sent_bytes);
    }
}

static void put_figure(json_t *object, const char *key, double value)
{
    CHECK(json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null()) == 0);
}

static json_t *reach_json(const struct comparison *comparison, uint32_t strategy, uint32_t target)
{
    const struct plan *plan = comparison->plan;
    const double level = comparison->targets[target];
    const struct band times = score_times(plan, strategy, level);
    json_t *object = json_object();
    put_figure(object, "target", level);
    put_figure(object, "mean_s", times.mean);
    put_figure(object, "least_s", times.least);
    put_figure(object, "most_s", times.most);
    put_figure(object, "mean_bytes", score_bytes(plan, strategy, level).mean);
    CHECK(json_object_set_new(object, "seeds", json_integer(times.count)) == 0);
    return object;
}

static json_t *strategy_json(const struct comparison *comparison, uint32_t strategy)
{
    const struct plan *plan = comparison->plan;
    const struct band end = score_end(plan, strategy);
    json_t *object = json_object(), *targets = json_array(), *settings = json_array();
    CHECK(json_object_set_new(object, "strategy", json_string(name_of(comparison, strategy))) == 0);
    for (uint32_t s = 0; s < plan->settings_count[strategy]; s++)
        CHECK(json_array_append_new(settings, json_string(plan->settings[strategy][s])) == 0);
    CHECK(json_object_set_new(object, "settings", settings) == 0);
    put_figure(object, "end_mean", end.mean);
    put_figure(object, "end_least", end.least);
    put_figure(object, "end_most", end.most);
    put_figure(object, "computing", mean_of(plan, strategy, computing) / 100);
    put_figure(object, "link_use", mean_of(plan, strategy, link_use) / 100);
    put_figure(object, "busiest_use", mean_of(plan, strategy, busiest_use) / 100);
    put_figure(object, "sent_bytes", mean_of(plan, strategy, sent_mb) * MEGABYTE);
    put_figure(object, "distance", mean_of(plan, strategy, last_distance) / 100);
    for (uint32_t t = 0; t < comparison->targets_count; t++)
        CHECK(json_array_append_new(targets, reach_json(comparison, strategy, t)) == 0);
    CHECK(json_object_set_new(object, "targets", targets) == 0);
    return object;
}

void comparison_json(FILE *out, const struct comparison *comparison)
{
    const struct plan *plan = comparison->plan;
    json_t *strategies = json_array();
    for (uint32_t i = 0; i < plan->kinds_count; i++)
        CHECK(json_array_append_new(strategies, strategy_json(comparison, i)) == 0);
    json_t *root =
        json_pack("{s:s, s:s, s:i, s:s, s:o}", "scenario", plan->scenario->name, "measure",
                  is_accuracy(comparison) ? "accuracy" : "loss", "seeds", (int)plan->seeds,
                  "command", comparison->command, "strategies", strategies);
    CHECK(root);
    (void)json_dumpf(root, out, JSON_INDENT(1));
    (void)fputc('\n', out);
    json_decref(root);
}

static void write_json(FILE *out, const void *comparison)
{
    comparison_json(out, comparison);
}

static void put_curves(json_t *snapshot, const struct comparison *comparison, bool by_time)
{
    const struct plan *plan = comparison->plan;
    const double factor = is_accuracy(comparison) ? 100 : 1;
    json_t *figure = page_snapshot_figure(
        snapshot, &(struct page_snapshot_figure){
                      .name = by_time ? "time" : "bytes",
                      .title = by_time ? "Over time" : "Over bytes",
                      .about = by_time ? "Means over the seeds; shaded: range over the seeds."
                                       : "Against the bytes sent by a node. Strategies that send "
                                         "nothing are left out.",
                      .x = by_time ? "virtual time (s)" : "sent by a node (MB)",
                      .y = is_accuracy(comparison) ? "accuracy (%)" : "loss",
                      .is_log_x = !by_time});
    for (uint32_t i = 0; i < plan->kinds_count; i++) {
        struct record_point mean;
        struct band band;
        if (!has_curve(plan, i) || (!by_time && !(mean_of(plan, i, sent_mb) > 0)))
            continue;
        json_t *series = page_snapshot_series(figure, name_of(comparison, i),
                                              plan->kinds[i] == STRATEGY_GOSSIP ? "bold" : "line");
        for (uint32_t p = 0; mean_point(plan, i, p, &mean, &band); p++)
            page_snapshot_point_between(series, by_time ? mean.at_s : mean.sent_bytes / MEGABYTE,
                                        factor * band.mean, factor * band.least,
                                        factor * band.most);
    }
}

static json_t *comparison_snapshot(const struct comparison *comparison)
{
    const struct scenario *scenario = comparison->plan->scenario;
    char text[SENTENCE_BYTES];
    (void)snprintf(text, sizeof text, "%s, strategies compared", scenario->name);
    json_t *snapshot = page_snapshot_new("comparison", text,
                                         scenario->about[0] ? scenario->about : scenario->name);
    say_facts(comparison, text, sizeof text);
    page_snapshot_text(snapshot, "limit", text);
    for (uint32_t t = 0; t < comparison->targets_count; t++) {
        comparison_sentence(comparison, t, text, sizeof text);
        page_snapshot_verdict(snapshot, "first", text);
    }
    if (comparison_idle_sentence(comparison, text, sizeof text))
        page_snapshot_fact(snapshot, "not ranked", text);
    if (scenario->source[0])
        page_snapshot_fact(snapshot, "figures from", scenario->source);
    put_curves(snapshot, comparison, true);
    put_curves(snapshot, comparison, false);
    write_tables(comparison, table_snapshot, snapshot);
    page_snapshot_text(snapshot, "command", comparison->command);
    return snapshot;
}

static void write_page(FILE *out, const void *snapshot)
{
    page_write(out, snapshot);
}

enum error comparison_write(const struct comparison *comparison, struct problem *problem)
{
    const char *dir = comparison->plan->dir;
    enum error error = report_folder_write(dir, "compare.json", write_json, comparison, problem);
    if (error == OK)
        error = report_folder_write(dir, "curves.csv", write_curves, comparison, problem);
    if (error != OK)
        return error;
    json_t *snapshot = comparison_snapshot(comparison);
    error = report_folder_write(dir, "report.html", write_page, snapshot, problem);
    json_decref(snapshot);
    return error;
}
