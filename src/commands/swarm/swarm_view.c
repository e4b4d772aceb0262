#include "commands/swarm/swarm_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/min_max.h"
#include "commands/swarm/swarm_score.h"
#include "plot/bar.h"
#include "plot/strip.h"

#define COLUMNS_LEAST 40
#define BAR_MAX       40
#define PLOT_ROWS     8 /* maximum number of rows of the curves, including their heading */
#define PLOT_ROWS_MIN 4
#define TWO_COLUMNS   60 /* minimum columns for two curves side by side */
#define NODE_BAR      10
#define LATELY_SHOWN  2
#define LATELY_ROWS   12 /* minimum free rows for which the latest changes are shown */
#define LINE_BYTES    256

/* ANSI escape sequences (ECMA-48). */
#define GREEN        "\033[32m"
#define CYAN         "\033[36m"
#define USUAL        "\033[m"
#define REST_OF_LINE "\033[K"
#define REST_BELOW   "\033[J"
#define CLEAR        "\033[H\033[2J"

/* Sums over the nodes. `tested` and all later members leave out nodes that are not running. */
struct totals {
    uint64_t samples, published, received, sent, tested, evaluations;
    double score; /* sum over all tested samples of the score of the node that tested them */
    double rate;  /* samples per second */
    double loss;  /* sum of the losses that are known */
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
                  "  limit %.0f %% used\n",
                  seconds, swarm_score_name(goal->kind),
                  score_or_dash(score, totals->tested > 0, goal->kind, score_of(totals)),
                  known_or_dash(loss, totals->losses > 0, "%.3f", totals->loss / totals->losses),
                  known_or_dash(rate, totals->rate > 0, "%.0f", totals->rate), totals->samples,
                  swarm_amount((double)totals->sent, sent), totals->published, totals->received,
                  100 * swarm_goal_used(goal, totals->samples, seconds));
}

/* Ends a line of the picture and counts it. Every drawn line ends with this call. */
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
    const int width = int_min(screen->columns / 2, BAR_MAX);
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
        (void)snprintf(text, sizeof text, "%s, target %.4g", known, swarm_score_bits(goal->target));
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

/* Returns the lower end of the plot: the largest multiple of 0.1 that exceeds neither 0.9 nor a
 * shown value. */
static double lowest(const struct timeline *score, double target)
{
    double low = fmin(target, 0.9);
    for (size_t i = 0; i < score->count; i++)
        low = fmin(low, score->value[i]);
    return floor(10 * low) / 10;
}

/* Makes the curve of the score. Its vertical axis ends at 1. A dotted line marks the target. */
static void score_strip(struct swarm_view *view, struct strip *strip, const struct terminal *screen,
                        const struct swarm_goal *goal, double seconds, int rows, int columns)
{
    *strip = (struct strip){
        .dots = {.low = lowest(&view->score, goal->target), .high = 1, .is_utf8 = screen->is_utf8}};
    if (goal->kind == SCORE_OF_TEXT)
        (void)snprintf(strip->bottom, sizeof strip->bottom, "%.1f b",
                       swarm_score_bits(strip->dots.low));
    else
        (void)snprintf(strip->bottom, sizeof strip->bottom, "%.0f %%", 100 * strip->dots.low);
    (void)snprintf(strip->top, sizeof strip->top, "%s",
                   goal->kind == SCORE_OF_TEXT ? "0 bits" : "100 %");
    strip_within(strip, &view->score, seconds, rows, columns);
    dots_line(&strip->dots, goal->target);
}

/* Draws the score and, if there is space, the loss to the right of it, below a line of headings. */
static void draw_curves(struct swarm_view *view, FILE *out, const struct terminal *screen,
                        const struct swarm_goal *goal, double seconds, int lines)
{
    struct strip score, loss;
    const bool has_two = screen->columns >= TWO_COLUMNS;
    const int rows = lines - 1, columns = screen->columns - 1;
    const int left = has_two ? columns / 2 : columns;
    const char *colour = screen->has_color ? CYAN : "", *usual = screen->has_color ? USUAL : "";
    score_strip(view, &score, screen, goal, seconds, rows, left);
    strip_of(&loss, &view->loss, seconds, rows, has_two ? columns - left : columns,
             screen->is_utf8);
    (void)fprintf(out, "%*s%-*s%s", STRIP_MARGIN, "", has_two ? left : 0,
                  swarm_score_name(goal->kind), has_two ? "loss" : "");
    end_line(view, out);
    for (int row = 0; row < rows; row++) {
        strip_print_row(&score, out, row, colour);
        if (has_two) {
            (void)fputs(usual, out);
            strip_print_row(&loss, out, row, colour);
        }
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

/* A line of the table while its cells are printed. The first cell that does not fit and all later
 * ones are left out. */
struct cells {
    FILE *out;
    int left; /* columns that are still free */
};

static bool has_room(struct cells *cells, int width)
{
    const bool has = width <= cells->left;
    cells->left = has ? cells->left - width : 0;
    return has;
}

static void put(struct cells *cells, int width, const char *text)
{
    if (has_room(cells, width))
        (void)fprintf(cells->out, "%*.*s", width, width, text);
}

static void put_bar(struct cells *cells, const struct terminal *screen, double part)
{
    if (!has_room(cells, NODE_BAR + 2))
        return;
    (void)fprintf(cells->out, "  %s", screen->has_color ? GREEN : "");
    bar_print(cells->out, part, NODE_BAR, screen->is_utf8);
    (void)fputs(screen->has_color ? USUAL : "", cells->out);
}

static int width_of_score(enum score_kind kind)
{
    return kind == SCORE_OF_TEXT ? 17 : 10;
}

static void draw_heading(struct swarm_view *view, FILE *out, int columns, enum score_kind kind)
{
    struct cells cells = {out, columns - 1};
    put(&cells, 14, "node  state   ");
    put(&cells, 7, "per s");
    put(&cells, NODE_BAR + 2, "samples   ");
    put(&cells, 8, "");
    put(&cells, width_of_score(kind), swarm_score_name(kind));
    put(&cells, 8, "loss");
    put(&cells, 10, "sent");
    put(&cells, 7, "peers");
    end_line(view, out);
}

/* Draws the line of node i. samples: number of samples that all nodes have learned. */
static void draw_node(struct swarm_view *view, FILE *out, const struct terminal *screen,
                      const struct swarm_node *node, enum score_kind kind, int i, uint64_t samples)
{
    char text[LINE_BYTES], score[SCORE_TEXT];
    struct cells cells = {out, screen->columns - 1};
    const bool is_up = node->pid != 0;
    (void)snprintf(text, sizeof text, "%4d  %-8s", i, state_of(node));
    put(&cells, 14, text);
    put(&cells, 7,
        known_or_dash(text, is_up && node->samples_per_second > 0, "%.0f",
                      node->samples_per_second));
    put_bar(&cells, screen, samples > 0 ? (double)node->samples / (double)samples : 0);
    (void)snprintf(text, sizeof text, "%" PRIu64, node->samples);
    put(&cells, 8, text);
    put(&cells, width_of_score(kind),
        score_or_dash(score, node->tested > 0, kind, swarm_node_score(node, kind)));
    put(&cells, 8,
        known_or_dash(text, node->steps > 0 && isfinite(node->loss), "%.3f", node->loss));
    put(&cells, 10, swarm_amount((double)node->bytes_sent, text));
    (void)snprintf(text, sizeof text, "%" PRIu64, node->neighbours);
    put(&cells, 7, text);
    end_line(view, out);
}

/* lines: maximum number of lines, including the heading. */
static void draw_nodes(struct swarm_view *view, FILE *out, const struct terminal *screen,
                       const struct swarm_node *nodes, int count, enum score_kind kind, int lines)
{
    char text[LINE_BYTES];
    const int shown = count <= lines - 1 ? count : lines - 2;
    const uint64_t samples = swarm_goal_samples(nodes, count);
    draw_heading(view, out, screen->columns, kind);
    for (int i = 0; i < shown; i++)
        draw_node(view, out, screen, &nodes[i], kind, i + 1, samples);
    if (shown < count) {
        (void)snprintf(text, sizeof text, "      and %d more", count - shown);
        draw_text(view, out, screen->columns, text);
    }
}

static void draw_lately(struct swarm_view *view, FILE *out, int columns, int lines, double seconds)
{
    char line[LATELY_TEXT_BYTES + 24];
    for (int i = 0; i < lines; i++)
        draw_text(view, out, columns, lately_line(&view->lately, (size_t)i, seconds, line));
}

static void draw(struct swarm_view *view, FILE *out, const struct terminal *screen,
                 const struct swarm_node *nodes, int count, const struct swarm_goal *goal,
                 double seconds)
{
    const struct totals totals = add_up(nodes, count, goal->kind);
    const int bars = 3, blanks = 2;
    const int left = screen->rows - 1 - bars - blanks; /* one row stays for the cursor */
    int lately = left >= LATELY_ROWS ? (int)view->lately.count : 0;
    lately = int_min(lately, LATELY_SHOWN);
    const int room = left - lately - 1 - count;
    int curve = int_min(room, PLOT_ROWS);
    if (view->lines > 0 && view->columns != screen->columns)
        (void)fputs(CLEAR, out); /* the terminal was resized and has wrapped the old lines */
    else if (view->lines > 0)
        (void)fprintf(out, "\r\033[%dA", view->lines);
    view->lines = 0;
    view->columns = screen->columns;
    view->has_color = screen->has_color;
    draw_bars(view, out, screen, &totals, goal, seconds);
    if (curve >= PLOT_ROWS_MIN) {
        draw_text(view, out, screen->columns, "");
        draw_curves(view, out, screen, goal, seconds, curve);
    } else {
        curve = 0;
    }
    if (left - lately - curve >= 3) {
        draw_text(view, out, screen->columns, "");
        draw_nodes(view, out, screen, nodes, count, goal->kind, left - lately - curve);
    }
    draw_lately(view, out, screen->columns, lately, seconds);
    (void)fputs(REST_BELOW, out);
}

/* Notes each node whose state has changed since the last call. */
static void see_nodes(struct swarm_view *view, const struct swarm_node *nodes, int count,
                      double seconds)
{
    for (int i = 0; i < count; i++) {
        const char *state = state_of(&nodes[i]);
        if (view->state[i] && strcmp(view->state[i], state) != 0)
            lately_note(&view->lately, seconds, "node %d: %s", i + 1, state);
        view->state[i] = state;
    }
}

void swarm_view_show(struct swarm_view *view, FILE *out, const struct terminal *screen,
                     const struct swarm_node *nodes, int count, const struct swarm_goal *goal,
                     double seconds)
{
    CHECK(count >= 0 && count <= SWARM_NODES_MAX);
    const struct totals totals = add_up(nodes, count, goal->kind);
    see_nodes(view, nodes, count, seconds);
    if (totals.losses > 0)
        timeline_add(&view->loss, seconds, totals.loss / totals.losses);
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
