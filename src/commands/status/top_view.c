#include "commands/status/top_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "base/memory.h"
#include "base/min_max.h"
#include "commands/status/status.h"
#include "plot/bar.h"
#include "plot/strip.h"
#include "plot/utf8.h"

#define BAR_MIN     6
#define BAR_MAX     32
#define BAR_BESIDE  54 /* columns of a member's line besides its bar */
#define STRIP_LEAST 24 /* minimum columns of the terminal for which the loss curve is drawn */

/* ANSI escape sequences (ECMA-48). */
#define GREEN "\033[32m"
#define CYAN  "\033[36m"
#define USUAL "\033[m"

/* A part of the screen, before it is cut to the size of the terminal. */
struct part {
    char *text; /* freed by top_view_draw */
    size_t bytes;
    int lines;
};

static void end_part(struct part *part, FILE *out)
{
    CHECK(fclose(out) == 0);
    for (const char *at = part->text; (at = strchr(at, '\n')); at++)
        part->lines++;
}

static FILE *begin_part(struct part *part)
{
    *part = (struct part){0};
    FILE *out = open_memstream(&part->text, &part->bytes);
    if (!out)
        memory_missing(BUFSIZ);
    return out;
}

static struct part part_of(void (*print)(FILE *out, const json_t *page), const json_t *page)
{
    struct part part;
    FILE *out = begin_part(&part);
    print(out, page);
    end_part(&part, out);
    return part;
}

/* Returns NAN if the key is absent. */
static double real_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Writes a text of the page to out. Other nodes may have sent it, so characters that are not
 * printable ASCII become "?". */
static void text_of(char *out, size_t room, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    size_t i = 0;
    for (; text && text[i] && i < room - 1; i++)
        out[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    out[i] = 0;
}

static double samples_of_all(const json_t *members)
{
    double all = 0;
    for (size_t i = 0; i < json_array_size(members); i++) {
        const double samples = real_of(json_array_get(members, i), "samples");
        all += isfinite(samples) ? samples : 0;
    }
    return all;
}

static void print_member(FILE *out, const json_t *member, double all,
                         const struct terminal *terminal, int bar)
{
    char id[9], state[6], part[8] = "-";
    const double samples = real_of(member, "samples");
    const bool is_known = isfinite(samples) && all > 0;
    text_of(id, sizeof id, member, "id");
    if (json_is_true(json_object_get(member, "is_self")))
        (void)strcpy(state, "this");
    else
        text_of(state, sizeof state, member, "state");
    if (is_known)
        (void)snprintf(part, sizeof part, "%.0f %%", 100 * samples / all);
    (void)fprintf(out, "%-8s %-5s %s", id, state, terminal->has_color ? GREEN : "");
    bar_print(out, is_known ? samples / all : 0, bar, terminal->is_utf8);
    (void)fprintf(
        out, "%s %5s %8.8s %9.9s %6.6s %6.6s\n", terminal->has_color ? USUAL : "", part,
        amount_of(samples, "").text, amount_of(real_of(member, "samples_per_second"), "/s").text,
        amount_span(real_of(member, "age_s")).text, amount_span(real_of(member, "lag_s")).text);
}

static struct part members_part(const json_t *page, const struct terminal *terminal)
{
    const json_t *members = json_object_get(page, "members");
    const double all = samples_of_all(members);
    const int room = terminal->columns - BAR_BESIDE;
    const int bar = room < BAR_MIN ? BAR_MIN : int_min(room, BAR_MAX);
    struct part part;
    FILE *out = begin_part(&part);
    (void)fprintf(out, "%-8s %-5s %-*s %5s %8s %9s %6s %6s\n", "MEMBER", "STATE", bar, "SAMPLES",
                  "", "", "SAMPLES/S", "SEEN", "LAG");
    for (size_t i = 0; i < json_array_size(members); i++)
        print_member(out, json_array_get(members, i), all, terminal, bar);
    end_part(&part, out);
    return part;
}

/* Prints the part of a line that fits in `columns`. Escape sequences take no columns. */
static void draw_line(FILE *out, const char *line, size_t bytes, int columns)
{
    const char *const end = line + bytes;
    int used = 0;
    while (line < end) {
        size_t length = line[0] == '\033' ? strcspn(line, "m") + 1 : utf8_length(line);
        length = length > 0 ? length : 1;
        if (line[0] == '\033' || ++used <= columns)
            (void)fwrite(line, 1, length, out);
        line += length;
    }
    (void)fputc('\n', out);
}

/* Prints a table in at most `lines` lines, including its heading. If lines are left out, the last
 * line says how many. */
static void draw_part(FILE *out, const struct part *part, int lines, int columns)
{
    const char *text = part->text;
    int left = part->lines;
    for (int line = 0; line < lines && left > 0; line++, left--) {
        const size_t bytes = strcspn(text, "\n");
        if (line == lines - 1 && left > 1)
            (void)fprintf(out, "  and %d more\n", left);
        else
            draw_line(out, text, bytes, columns);
        text += bytes + 1;
    }
}

static void draw_loss(struct top_view *view, FILE *out, double now_s, int rows,
                      const struct terminal *terminal)
{
    struct strip strip;
    if (rows == 0)
        return;
    const double span_s = now_s - view->loss.at_s[0];
    char title[80];
    (void)snprintf(title, sizeof title, "  loss of the training steps here, over the last %s",
                   amount_span(span_s).text);
    draw_line(out, title, strlen(title), terminal->columns);
    rows--;
    strip_of(&strip, &view->loss, now_s, rows, terminal->columns, terminal->is_utf8);
    for (int row = 0; row < rows; row++) {
        strip_print_row(&strip, out, row, terminal->has_color ? CYAN : "");
        (void)fprintf(out, "%s\n", terminal->has_color ? USUAL : "");
    }
}

static void draw_changes(const struct lately *lately, FILE *out, double now_s, int rows,
                         int columns)
{
    char line[LATELY_TEXT_BYTES + 24];
    for (int i = 0; i < rows && (size_t)i < lately->count; i++) {
        const char *text = lately_line(lately, (size_t)i, now_s, line);
        draw_line(out, text, strlen(text), columns);
    }
}

struct rows {
    int node, loss, links, members, changes;
};

static int at_most(int wanted, int limit)
{
    return wanted < limit ? wanted : int_max(limit, 0);
}

/* Divides the rows among the parts of the screen: first the node, then the curve and the changes if
 * enough rows remain for the tables. A table that needs less than half of the remaining rows leaves
 * the others to the other table. */
static struct rows share_rows(const struct top_view *view, int rows, int columns, int node,
                              int links, int members)
{
    struct rows out = {.node = at_most(node, rows)};
    int left = rows - out.node - 2; /* one empty line before each table */
    if (view->loss.count > 1 && columns >= STRIP_LEAST && left >= 10)
        out.loss = left >= 24 ? 7 : left >= 16 ? 5 : 3;
    left -= out.loss;
    if (left >= 7)
        out.changes = at_most((int)view->changes.lately.count, left >= 16 ? LATELY_LINES : 1);
    left -= out.changes;
    out.links = at_most(links, left - at_most(members, left - left / 2));
    out.members = at_most(members, left - out.links);
    return out;
}

void top_view_see(struct top_view *view, json_t *page, double now_s)
{
    timeline_add(&view->loss, now_s, real_of(page, "loss"));
    changes_see(&view->changes, page, now_s);
}

void top_view_draw(struct top_view *view, FILE *out, const json_t *page, double now_s,
                   const struct terminal *terminal)
{
    CHECK(terminal->rows > 0 && terminal->columns > 0);
    struct part node = part_of(status_print_node, page);
    struct part links = part_of(status_print_links, page);
    struct part members = members_part(page, terminal);
    const struct rows rows =
        share_rows(view, terminal->rows, terminal->columns, node.lines, links.lines, members.lines);
    draw_part(out, &node, rows.node, terminal->columns);
    draw_loss(view, out, now_s, rows.loss, terminal);
    if (rows.links > 0 || rows.members > 0) {
        (void)fputc('\n', out);
        draw_part(out, &links, rows.links, terminal->columns);
        (void)fputc('\n', out);
        draw_part(out, &members, rows.members, terminal->columns);
    }
    draw_changes(&view->changes.lately, out, now_s, rows.changes, terminal->columns);
    free(node.text);
    free(links.text);
    free(members.text);
}

void top_view_free(struct top_view *view)
{
    changes_free(&view->changes);
}
