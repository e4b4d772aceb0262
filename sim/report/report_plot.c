/* plot.gp: which plots there are, and how gnuplot draws them from the CSV files. */
#include <math.h>
#include <stdlib.h>

#include "report/escape.h"
#include "report/report_private.h"

#define LEGEND_MAX      12  /* with more curves: a colour per group, and the median */
#define GROUPS_MAX      8   /* with more groups: one colour for all */
#define CURVE_POINTS    600 /* points of a curve at most */
#define BARS_MAX        20
#define LABELLED_FAULTS 12

static const char *const COLOURS[LEGEND_MAX] = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
    "#332288", "#882255", "#999933", "#44AA99", "#666666", "#AA4499",
};

/* A plot with a curve for each node: a column of nodes.csv. */
struct curves {
    const char *column; /* NULL: the plot has a function of its own */
    enum figure figure; /* what the column holds */
    double factor;      /* from the column to the axis */
    const char *axis;   /* label and range of the axis, as commands */
};

/* A plot, and how it is drawn. */
struct drawing {
    struct plot plot;
    bool (*is_there)(const struct outcome *outcome);        /* the outcome has something to show */
    void (*draw)(FILE *out, const struct outcome *outcome); /* writes its commands */
    bool by_time;                                           /* the horizontal axis is time */
    struct curves curves;
};

struct scale {
    double divisor;
    const char *unit;
};

static struct scale bytes_scale(double most)
{
    static const struct scale SCALES[] = {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}};
    size_t i = 0;
    while (i < 3 && most >= 2000 * SCALES[i].divisor)
        i++;
    return SCALES[i];
}

static double last_s(const struct outcome *outcome)
{
    const struct moment *last = report_last(outcome);
    return last && last->at_s > 0 ? last->at_s : seconds_of(outcome->scenario->span_ns);
}

/* A dashed line at each expected accuracy, up to its time. */
static void draw_expected(FILE *out, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    for (uint32_t i = 0; i < scenario->expects_count; i++) {
        const struct expect *expect = &scenario->expects[i];
        const double by_s = expect->by_ns ? seconds_of(expect->by_ns) : last_s(outcome);
        if (expect->metric != METRIC_ACCURACY)
            continue;
        (void)fprintf(out,
                      ", \\\n     [0:%.6g] '+' using 1:(%.6g) with lines lw 1.5 dt 2 "
                      "lc rgb '#444444' title ",
                      by_s, 100 * expect->value);
        escape_gnuplot(out, expect->text);
    }
}

static void draw_accuracy(FILE *out, const struct outcome *outcome)
{
    (void)fputs("set ylabel 'accuracy of the base (%)'\n"
                "set datafile missing NaN\nset offsets 0, 0, graph 0.06, graph 0.02\n"
                "plot 'series.csv' using 'at_s':(100*column('accuracy')) with linespoints lw 2 "
                "pt 7 ps 0.5 lc rgb '#0072B2' title 'accuracy'",
                out);
    draw_expected(out, outcome);
    (void)fputs("\nunset datafile missing\nunset offsets\n", out);
}

static bool has_bytes(const struct outcome *outcome)
{
    const struct moment *last = report_last(outcome);
    return report_has_accuracy(outcome) && last && last->sent_bytes > 0;
}

static void draw_against(FILE *out, const char *column, const struct scale *scale,
                         const char *colour, const char *title)
{
    (void)fprintf(out,
                  "'series.csv' using (column('%s')/%.0f):(100*column('accuracy')) "
                  "with linespoints lw 2 pt 7 ps 0.5 lc rgb '%s' title '%s'",
                  column, scale->divisor, colour, title);
}

static void draw_bytes(FILE *out, const struct outcome *outcome)
{
    const struct moment *last = report_last(outcome);
    const struct scale scale = bytes_scale((double)last->sent_bytes);
    (void)fprintf(
        out,
        "set xlabel 'of all nodes together (%s)'\nset ylabel 'accuracy of the base (%%)'\n"
        "set xrange [0:*]\nset datafile missing NaN\nset offsets 0, 0, graph 0.06, graph "
        "0.02\nplot ",
        scale.unit);
    draw_against(out, "sent_bytes", &scale, "#0072B2", "all that was sent");
    if (last->rumor_bytes_published > 0) {
        (void)fputs(", \\\n     ", out);
        draw_against(out, "rumor_bytes_published", &scale, "#D55E00", "rumors, each once");
    }
    (void)fputs("\nunset datafile missing\nunset offsets\n", out);
}

static bool has_traffic(const struct outcome *outcome)
{
    const struct moment *last = report_last(outcome);
    return last && last->sent_bytes > 0;
}

static double busiest_second(const struct outcome *outcome)
{
    double most = 0;
    for (uint32_t i = 1; i < outcome->moments_count; i++) {
        const struct moment *now = &outcome->moments[i], *before = now - 1;
        const double passed_s = now->at_s - before->at_s;
        if (passed_s > 0)
            most = fmax(most, (double)(now->sent_bytes - before->sent_bytes) / passed_s);
    }
    return most;
}

static void draw_traffic(FILE *out, const struct outcome *outcome)
{
    const struct scale scale = bytes_scale(busiest_second(outcome));
    const char *rumors = outcome->scenario->strategy == STRATEGY_GOSSIP ? "rumors" : "models";
    (void)fprintf(out,
                  "set ylabel 'sent by all nodes (%s/s)'\nset yrange [0:*]\n"
                  "control(unused) = column('control_bytes_per_s')/%.0f\n"
                  "sent(unused) = control(0) + column('rumor_bytes_per_s')/%.0f\n"
                  "plot 'series.csv' using 'at_s':(control(0)):(sent(0)) with filledcurves "
                  "lc rgb '#56B4E9' title '%s', \\\n"
                  "     'series.csv' using 'at_s':(control(0)) with filledcurves y1=0 "
                  "lc rgb '#D55E00' title 'control'\n",
                  scale.unit, scale.divisor, scale.divisor, rumors);
}

static bool has_use(const struct outcome *outcome)
{
    uint32_t count;
    free(outcome_uses(outcome, &count));
    return count > 0;
}

/* Bars, busiest first. */
static void draw_use(FILE *out, const struct outcome *outcome)
{
    uint32_t count;
    free(outcome_uses(outcome, &count));
    const uint32_t bars = count < BARS_MAX ? count : BARS_MAX;
    (void)fprintf(
        out,
        "set xlabel 'use of its rate, second half of training (%%)'\nset xrange [0:105]\n"
        "set yrange [%u.5:-0.5]\nset grid noytics\nset ytics scale 0\n"
        "plot 'use.csv' every ::0::%u using (0):0:(0):(100*column('use')):($0-0.35):"
        "($0+0.35):ytic(1) with boxxyerror lc rgb '#0072B2' notitle, \\\n"
        "     '' every ::0::%u using (100*column('use')):0:"
        "(sprintf('%%.0f %%%%', 100*column('use'))) with labels left offset 0.5,0 notitle\n"
        "set grid ytics\nset ytics scale 1 autofreq\n",
        bars - 1, bars - 1, bars - 1);
}

static const char *curve_colour(const struct scenario *scenario, uint32_t i)
{
    if (scenario->nodes_count <= LEGEND_MAX)
        return COLOURS[i];
    if (scenario->groups_count > GROUPS_MAX)
        return "#9A9A9A";
    return COLOURS[scenario_group(scenario, i) - scenario->groups];
}

/* The legend names each node, or, with many nodes, the first of each group for its group. */
static void curve_title(FILE *out, const struct outcome *outcome, uint32_t i)
{
    const struct scenario *scenario = outcome->scenario;
    const struct group *group = scenario_group(scenario, i);
    const bool is_named = scenario->nodes_count <= LEGEND_MAX;
    const bool is_first = group->first == i && scenario->groups_count <= GROUPS_MAX;
    if (!is_named && !is_first) {
        (void)fputs("notitle", out);
        return;
    }
    (void)fputs("title ", out);
    escape_gnuplot(out, is_named ? outcome->nodes[i].name : group->name);
}

static void draw_curve(FILE *out, const struct outcome *outcome, const char *column, double factor,
                       uint32_t i)
{
    const uint32_t nodes = outcome->scenario->nodes_count;
    const uint32_t stride = 1 + outcome->moments_count / CURVE_POINTS;
    const bool is_few = nodes <= LEGEND_MAX;
    (void)fprintf(out,
                  "'nodes.csv' every %u::%u using 'at_s':(%.0f*known(%s)) with lines lw %s "
                  "dt %d lc rgb '%s' ",
                  stride * nodes, i, factor, column, is_few ? "2" : "0.7",
                  is_few && i >= LEGEND_MAX / 2 ? 4 : 1, curve_colour(outcome->scenario, i));
    curve_title(out, outcome, i);
}

static void draw_curves(FILE *out, const struct outcome *outcome, const struct curves *curves)
{
    const uint32_t nodes = outcome->scenario->nodes_count;
    const char *column = curves->column;
    const double factor = curves->factor;
    (void)fprintf(out, "%splot ", curves->axis);
    for (uint32_t i = 0; i < nodes; i++) {
        if (i > 0)
            (void)fputs(", \\\n     ", out);
        draw_curve(out, outcome, column, factor, i);
    }
    if (nodes > LEGEND_MAX)
        (void)fprintf(out,
                      ", \\\n     'series.csv' using 'at_s':(%.0f*column('%s_median')) with lines "
                      "lw 3 lc rgb 'black' title 'median of all'",
                      factor, column);
    (void)fputc('\n', out);
}

static const struct drawing DRAWINGS[REPORT_PLOTS] = {
    {.plot = {"accuracy", "Accuracy over time",
              "Accuracy of the swarm's base, on a part of the test set, at the end on all of it."},
     .is_there = report_has_accuracy,
     .draw = draw_accuracy,
     .by_time = true},
    {.plot = {"bytes", "Accuracy against bytes",
              "What the accuracy cost: rumors counted once, and everything that was sent."},
     .is_there = has_bytes,
     .draw = draw_bytes},
    {.plot = {"use", "The busiest links",
              "The bottleneck: a link that is always full holds back what is published over it."},
     .is_there = has_use,
     .draw = draw_use},
    {.plot = {"up", "Uplinks over time", "Utilisation of each node's uplink, second by second."},
     .by_time = true,
     .curves = {"up_use", FIGURE_UP, 100,
                "set ylabel 'use of the uplink (%)'\nset yrange [0:105]\n"}},
    {.plot = {"down", "Downlinks over time",
              "Utilisation of each node's downlink, second by second."},
     .by_time = true,
     .curves = {"down_use", FIGURE_DOWN, 100,
                "set ylabel 'use of the downlink (%)'\nset yrange [0:105]\n"}},
    {.plot = {"lag", "Lag over time",
              "Age of the oldest rumor that a node knows to exist and does not hold yet."},
     .by_time = true,
     .curves = {"lag_s", FIGURE_LAG, 1, "set ylabel 'lag (s)'\nset yrange [0:*]\n"}},
    {.plot = {"share", "Share of each node",
              "The weight of each node's progress: its speed, and how much of it the links let "
              "through."},
     .by_time = true,
     .curves = {"share", FIGURE_SHARE, 100, "set ylabel 'share (%)'\nset yrange [0:*]\n"}},
    {.plot = {"traffic", "Traffic over time", "What all nodes sent, second by second."},
     .is_there = has_traffic,
     .draw = draw_traffic,
     .by_time = true},
};

const struct plot *report_plot(uint32_t i)
{
    CHECK(i < REPORT_PLOTS);
    return &DRAWINGS[i].plot;
}

bool report_plot_drawn(const struct outcome *outcome, uint32_t i)
{
    CHECK(i < REPORT_PLOTS);
    const struct drawing *drawing = &DRAWINGS[i];
    return drawing->curves.column ? report_has_figure(outcome, drawing->curves.figure)
                                  : drawing->is_there(outcome);
}

static void begin_script(FILE *out)
{
    (void)fputs("# Draws the plots of this folder from its CSV files.\n"
                "#   gnuplot plot.gp                    PNG\n"
                "#   gnuplot -e \"kind='svg'\" plot.gp    SVG\n"
                "if (!exists('kind')) kind = 'png'\n"
                "set datafile separator comma\n"
                "set datafile columnheaders\n"
                "set samples 200\n"
                "set border 3 lc rgb '#555555'\n"
                "set tics nomirror out\n"
                "set grid xtics ytics lc rgb '#DDDDDD' lt 1 lw 0.6\n"
                "set style fill transparent solid 0.7 noborder\n"
                "# Columns of nodes.csv; a curve has a gap where a field is empty.\n"
                "samples_per_s = 3; share = 4; lag_s = 5; behind = 6; up_use = 7; down_use = 8\n"
                "known(i) = valid(i) ? column(i) : NaN\n"
                "set key above center Left reverse samplen 2\n",
                out);
}

/* A shaded span, or a line for an instant. */
static void mark_span(FILE *out, const struct fault *fault, uint32_t tag)
{
    if (fault->to_ns > fault->from_ns)
        (void)fprintf(out,
                      "set object %u rectangle from %.6g, graph 0 to %.6g, graph 1 behind "
                      "fc rgb '#C8A878' fs transparent solid 0.25 noborder\n",
                      tag, seconds_of(fault->from_ns), seconds_of(fault->to_ns));
    else
        (void)fprintf(out,
                      "set arrow %u from %.6g, graph 0 to %.6g, graph 1 nohead back lw 1.2 "
                      "lc rgb '#C8A878'\n",
                      tag, seconds_of(fault->from_ns), seconds_of(fault->from_ns));
}

static int compare_begins(const void *a, const void *b)
{
    const struct fault *left = *(const struct fault *const *)a;
    const struct fault *right = *(const struct fault *const *)b;
    return (left->from_ns > right->from_ns) - (left->from_ns < right->from_ns);
}

/* Labels stand upright where their fault begins, side by side if two begin together. Too many would
 * hide the curves, and are left out. */
static void mark_faults(FILE *out, const struct outcome *outcome)
{
    const struct scenario *scenario = outcome->scenario;
    const struct fault *sorted[SCENARIO_FAULTS_MAX];
    const double step_s = last_s(outcome) * 0.022;
    double free_s = 0;
    for (uint32_t i = 0; i < scenario->faults_count; i++)
        sorted[i] = &scenario->faults[i];
    qsort(sorted, scenario->faults_count, sizeof sorted[0], compare_begins);
    for (uint32_t i = 0; i < scenario->faults_count; i++) {
        char text[REPORT_TEXT_BYTES];
        const double at_s = fmax(seconds_of(sorted[i]->from_ns), free_s);
        mark_span(out, sorted[i], i + 1);
        free_s = at_s + step_s;
        if (scenario->faults_count > LABELLED_FAULTS)
            continue;
        report_fault_text(scenario, sorted[i], text);
        (void)fprintf(out, "set label %u ", i + 1);
        escape_gnuplot(out, text);
        (void)fprintf(out,
                      " at %.6g, graph 0.03 rotate by 90 left front font ',10' "
                      "textcolor rgb '#5A4010'\n",
                      at_s + step_s / 2);
    }
}

/* Each plot resets what the one before has set. */
static void begin_plot(FILE *out, const struct outcome *outcome, const struct drawing *drawing)
{
    (void)fprintf(out,
                  "\n# %s\nunset output\n"
                  "if (kind eq 'svg') set terminal svg size 860,400 font 'sans-serif,14' "
                  "noenhanced background 'white' name '%s'\n"
                  "if (kind eq 'png') set terminal pngcairo size 1290,600 fontscale 1.35 "
                  "linewidth 1.5 noenhanced background 'white'\n"
                  "set output '%s.'.kind\n"
                  "unset object\nunset arrow\nunset label\nunset xlabel\nunset ylabel\n"
                  "set yrange [*:*]\n",
                  drawing->plot.title, drawing->plot.name, drawing->plot.name);
    if (!drawing->by_time)
        return;
    (void)fprintf(out, "set xlabel 'virtual time (s)'\nset xrange [0:%.6g]\n", last_s(outcome));
    mark_faults(out, outcome);
}

void report_script(FILE *out, const struct outcome *outcome)
{
    begin_script(out);
    for (uint32_t i = 0; i < REPORT_PLOTS; i++) {
        if (!report_plot_drawn(outcome, i))
            continue;
        begin_plot(out, outcome, &DRAWINGS[i]);
        if (DRAWINGS[i].curves.column)
            draw_curves(out, outcome, &DRAWINGS[i].curves);
        else
            DRAWINGS[i].draw(out, outcome);
    }
    (void)fputs("unset output\n", out);
}
