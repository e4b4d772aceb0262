#include "commands/swarm/swarm_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "commands/swarm/swarm_score.h"
#include "plot/bar.h"
#include "plot/dots.h"

#define COLUMNS_LEAST 40
#define BAR_MAX       40
#define PLOT_ROWS     8
#define PLOT_ROWS_MIN 3
#define PLOT_MARGIN   9 /* columns left of the curve */
#define LINE_BYTES    256

/* ANSI (ECMA-48). */
#define GREEN        "\033[32m"
#define CYAN         "\033[36m"
#define USUAL        "\033[m"
#define REST_OF_LINE "\033[K"
#define REST_BELOW   "\033[J"
#define CLEAR        "\033[H\033[2J"

/* What the nodes say, added up. */

struct totals {
    uint64_t samples, published, received, sent, tested, evaluations;
    double score; /* summed over what was tested */
    double rate;  /* samples per second */
    double loss;  /* sum of those that know theirs */
    int losses;
};

static struct totals add_up(const struct swarm_node *nodes, int count, enum score_kind kind)
{
    struct totals totals = {.samples = swarm_goal_samples(nodes, count)};
    for (int i = 0; i < count; i++) {
        const struct swarm_node *node = &nodes[i];
        totals.published += node->rumors_published;
        totals.received += node->rumors_received;
        totals.sent += node->bytes_sent;
        if (node->pid == 0)
            continue;
        totals.tested += node->tested;
        if (node->tested > 0)
            totals.score += swarm_node_score(node, kind) * (double)node->tested;
        totals.evaluations += node->evaluations;
        if (isfinite(node->samples_per_second))
            totals.rate += node->samples_per_second;
        if (node->steps > 0 && isfinite(node->loss)) {
            totals.loss += node->loss;
            totals.losses++;
        }
    }
    return totals;
}

static double score_of(const struct totals *totals)
{
    return totals->score / (double)totals->tested;
}

static const char *score_or_dash(char out[static SCORE_TEXT], bool known, enum score_kind kind,
                                 double score)
{
    return known ? swarm_score_text(out, kind, score) : "-";
}

/* A value, or "-" while it is not known. */
static const char *known_or_dash(char out[static 16], bool known, const char *format, double value)
{
    if (known)
        (void)snprintf(out, 16, format, value);
    else
        (void)snprintf(out, 16, "-");
    return out;
}

static void print_line(FILE *out, const struct totals *totals, const struct swarm_goal *goal,
                       double seconds)
{
    char score[SCORE_TEXT], loss[16], rate[16], sent[16];
    (void)fprintf(out,
                  "%5.0f s  %s %s  loss %s  %s samples/s  %" PRIu64
                  " samples  sent %s  rumors published %" PRIu64 ", received %" PRIu64
                  "  limit used to %.0f %%\n",
                  seconds, swarm_score_name(goal->kind),
                  score_or_dash(score, totals->tested > 0, goal->kind, score_of(totals)),
                  known_or_dash(loss, totals->losses > 0, "%.3f", totals->loss / totals->losses),
                  known_or_dash(rate, totals->rate > 0, "%.0f", totals->rate), totals->samples,
                  swarm_amount((double)totals->sent, sent), totals->published, totals->received,
                  100 * swarm_goal_used(goal, totals->samples, seconds));
}

/* Drawing: every line ends in end_line(), which counts it. */

static void end_line(struct swarm_view *view, FILE *out)
{
    (void)fprintf(out, "%s" REST_OF_LINE "\n", view->has_color ? USUAL : "");
    view->lines++;
}

static void draw_text(struct swarm_view *view, FILE *out, int columns, const char *text)
{
    (void)fprintf(out, "%.*s", columns - 1, text);
    end_line(view, out);
}

static void draw_bar(struct swarm_view *view, FILE *out, const struct terminal *screen,
                     const char *name, double part, const char *text)
{
    const int width = screen->columns / 2 < BAR_MAX ? screen->columns / 2 : BAR_MAX;
    (void)fprintf(out, "%-8s  %s", name, screen->has_color ? GREEN : "");
    bar_print(out, part, width, screen->is_utf8);
    (void)fprintf(out, "%s  %.*s", screen->has_color ? USUAL : "", screen->columns - width - 13,
                  text);
    end_line(view, out);
}

static void draw_bars(struct swarm_view *view, FILE *out, const struct terminal *screen,
                      const struct totals *totals, const struct swarm_goal *goal, double seconds)
{
    char text[LINE_BYTES], score[SCORE_TEXT], rate[16], sent[16];
    const double now = totals->tested > 0 ? score_of(totals) : 0;
    const char *known = score_or_dash(score, totals->tested > 0, goal->kind, now);
    if (goal->kind == SCORE_OF_TEXT)
        (void)snprintf(text, sizeof text, "%s, to be %.4g", known, swarm_score_bits(goal->target));
    else
        (void)snprintf(text, sizeof text, "%s of %.4g %%", known, 100 * goal->target);
    draw_bar(view, out, screen, swarm_score_name(goal->kind),
             goal->target > 0 ? now / goal->target : 1, text);
    const double used = swarm_goal_used(goal, totals->samples, seconds);
    (void)snprintf(text, sizeof text, "%.0f %% used", 100 * used);
    draw_bar(view, out, screen, "limit", used, text);
    char limit[64];
    swarm_goal_limit(goal, limit, sizeof limit);
    (void)snprintf(text, sizeof text,
                   "%.0f s, %" PRIu64 " samples at %s a second, %s sent; the limit is %s", seconds,
                   totals->samples, known_or_dash(rate, totals->rate > 0, "%.0f", totals->rate),
                   swarm_amount((double)totals->sent, sent), limit);
    draw_text(view, out, screen->columns, text);
}

/* The bottom of the plot: the next tenth below all that is to be seen. */
static double lowest(const struct timeline *score, double target)
{
    double low = fmin(target, 0.9);
    for (size_t i = 0; i < score->count; i++)
        low = fmin(low, score->value[i]);
    return floor(10 * low) / 10;
}

static void draw_curve(struct swarm_view *view, FILE *out, const struct terminal *screen,
                       const struct swarm_goal *goal, double seconds, int rows)
{
    const int width = screen->columns - PLOT_MARGIN - 2;
    struct dots dots = {.rows = rows,
                        .columns = width < DOTS_COLUMNS_MAX ? width : DOTS_COLUMNS_MAX,
                        .right = fmax(seconds, 1),
                        .low = lowest(&view->score, goal->target),
                        .high = 1,
                        .is_utf8 = screen->is_utf8};
    char low[16];
    if (goal->kind == SCORE_OF_TEXT)
        (void)snprintf(low, sizeof low, "%.1f b", swarm_score_bits(dots.low));
    else
        (void)snprintf(low, sizeof low, "%.0f %%", 100 * dots.low);
    dots_line(&dots, goal->target);
    const size_t points = timeline_until(&view->score, seconds);
    dots_curve(&dots, view->score.at_s, view->score.value, points);
    for (int row = 0; row < rows; row++) {
        const char *top = goal->kind == SCORE_OF_TEXT ? "0 bits" : "100 %";
        const char *side = row == 0 ? top : row == rows - 1 ? low : "";
        (void)fprintf(out, "%*s %s%s", PLOT_MARGIN - 2, side, screen->is_utf8 ? "│" : "|",
                      screen->has_color ? CYAN : "");
        dots_print_row(&dots, out, row);
        end_line(view, out);
    }
}

static const char *state_of(const struct swarm_node *node)
{
    if (node->pid == 0)
        return swarm_node_finished(node) ? "finished" : "ended";
    if (!node->address[0])
        return "starting";
    return node->steps == 0 ? "joining" : "training";
}

static void draw_node(struct swarm_view *view, FILE *out, int columns,
                      const struct swarm_node *node, enum score_kind kind, int i)
{
    char line[LINE_BYTES], rate[16], score[SCORE_TEXT], loss[16], sent[16], received[16];
    const bool is_up = node->pid != 0;
    (void)snprintf(line, sizeof line, "%4d  %-8s%8s%10" PRIu64 "%*s%8s%10s%10s%7" PRIu64, i,
                   state_of(node),
                   known_or_dash(rate, is_up && node->samples_per_second > 0, "%.0f",
                                 node->samples_per_second),
                   node->samples, kind == SCORE_OF_TEXT ? 17 : 10,
                   score_or_dash(score, node->tested > 0, kind, swarm_node_score(node, kind)),
                   known_or_dash(loss, node->steps > 0 && isfinite(node->loss), "%.3f", node->loss),
                   swarm_amount((double)node->bytes_sent, sent),
                   swarm_amount((double)node->bytes_received, received), node->neighbours);
    draw_text(view, out, columns, line);
}

/* In so many lines, the heading's among them. */
static void draw_nodes(struct swarm_view *view, FILE *out, int columns,
                       const struct swarm_node *nodes, int count, enum score_kind kind, int lines)
{
    char text[LINE_BYTES];
    const int shown = count <= lines - 1 ? count : lines - 2;
    (void)snprintf(text, sizeof text, "%4s  %-8s%8s%10s%*s%8s%10s%10s%7s", "node", "state", "per s",
                   "samples", kind == SCORE_OF_TEXT ? 17 : 10, swarm_score_name(kind), "loss",
                   "sent", "received", "peers");
    draw_text(view, out, columns, text);
    for (int i = 0; i < shown; i++)
        draw_node(view, out, columns, &nodes[i], kind, i + 1);
    if (shown < count) {
        (void)snprintf(text, sizeof text, "      and %d more", count - shown);
        draw_text(view, out, columns, text);
    }
}

static void draw(struct swarm_view *view, FILE *out, const struct terminal *screen,
                 const struct swarm_node *nodes, int count, const struct swarm_goal *goal,
                 double seconds)
{
    const struct totals totals = add_up(nodes, count, goal->kind);
    const int bars = 3, blanks = 2;
    const int left = screen->rows - 1 - bars - blanks; /* the cursor stands below */
    int curve = left - 1 - count < PLOT_ROWS ? left - 1 - count : PLOT_ROWS;
    if (view->lines > 0 && view->columns != screen->columns)
        (void)fputs(CLEAR, out); /* the terminal has wrapped what stood there */
    else if (view->lines > 0)
        (void)fprintf(out, "\r\033[%dA", view->lines);
    view->lines = 0;
    view->columns = screen->columns;
    view->has_color = screen->has_color;
    draw_bars(view, out, screen, &totals, goal, seconds);
    if (curve >= PLOT_ROWS_MIN) {
        draw_text(view, out, screen->columns, "");
        draw_curve(view, out, screen, goal, seconds, curve);
    } else {
        curve = 0;
    }
    if (left - curve >= 3) {
        draw_text(view, out, screen->columns, "");
        draw_nodes(view, out, screen->columns, nodes, count, goal->kind, left - curve);
    }
    (void)fputs(REST_BELOW, out);
}

void swarm_view_show(struct swarm_view *view, FILE *out, const struct terminal *screen,
                     const struct swarm_node *nodes, int count, const struct swarm_goal *goal,
                     double seconds)
{
    CHECK(count >= 0 && count <= SWARM_NODES_MAX);
    const struct totals totals = add_up(nodes, count, goal->kind);
    if (totals.tested > 0 && totals.evaluations != view->evaluations) {
        view->evaluations = totals.evaluations;
        timeline_add(&view->score, seconds, score_of(&totals));
    }
    if (screen->columns >= COLUMNS_LEAST && screen->rows > 0)
        draw(view, out, screen, nodes, count, goal, seconds);
    else
        print_line(out, &totals, goal, seconds);
    (void)fflush(out);
}
