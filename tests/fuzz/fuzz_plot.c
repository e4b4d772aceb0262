/* Files that `hearsay plot` reads: logs of nodes, CSV and plays. All points of an accepted file fit
 * an axis, are in order, and read back equal when they are written as CSV. Charts of them have no
 * character that a terminal or an SVG file must not contain. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/plot/plot_json.h"
#include "commands/plot/series.h"
#include "fuzz/file.h"
#include "fuzz/fuzz.h"
#include "plot/chart_svg.h"
#include "plot/chart_text.h"
#include "plot/utf8.h"

static const char *const WHAT[] = {"loss", "test-loss", "accuracy", "share", "y"};
static const char *const BY[] = {
    [BY_TIME] = "time", [BY_SAMPLES] = "samples", [BY_BYTES] = "bytes"};
#define WHATS (sizeof WHAT / sizeof *WHAT)

static struct file file;
static struct series_set set, again;

/* The last text that the harness has written. */
static char *text;
static size_t text_bytes;

static void end(void)
{
    free(text);
}

void fuzz_begin(void)
{
    file_init(&file);
    CHECK(atexit(end) == 0);
}

static FILE *begin_text(void)
{
    free(text);
    text = NULL;
    FILE *out = open_memstream(&text, &text_bytes);
    CHECK(out);
    return out;
}

static void end_text(FILE *out)
{
    CHECK(fclose(out) == 0 && text && strlen(text) == text_bytes);
}

static bool is_control(const char *at)
{
    return (unsigned char)*at < ' ' || *at == 0x7f;
}

static enum error read_file(struct series_set *to, const struct series_set *like)
{
    struct problem problem = {""};
    *to = (struct series_set){.what = like->what, .by = like->by, .files = like->files};
    const enum error error = series_read(to, file.path, "me", &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    for (const char *at = problem.text; *at; at++)
        CHECK(!is_control(at));
    return error;
}

static void look_at(const struct series *series)
{
    for (size_t i = 0; i < series->count; i++) {
        CHECK(series_may_be(series->x[i]) && series_may_be(series->y[i]));
        CHECK(isfinite(series->wall_s[i]));
        CHECK(i == 0 || series->x[i - 1] <= series->x[i]);
    }
}

static void same_points(const struct series *a, const struct series *b)
{
    CHECK(strcmp(a->name, b->name) == 0 && a->count == b->count);
    for (size_t i = 0; i < a->count; i++)
        CHECK(a->x[i] == b->x[i] && a->y[i] == b->y[i]);
}

static void write_name(FILE *out, const char *name)
{
    (void)fputc('"', out);
    for (; *name; name++)
        (void)fprintf(out, *name == '"' ? "\"\"" : "%c", *name);
    (void)fputc('"', out);
}

/* Curves without points have no lines, so the written file lacks them. */
static void comes_back(void)
{
    FILE *out = begin_text();
    size_t lines = 0, k = 0;
    (void)fprintf(out, "curve,%s,%s\r\n", BY[set.by], set.what);
    for (size_t c = 0; c < set.count; c++)
        for (size_t i = 0; i < set.item[c].count; i++, lines++) {
            write_name(out, set.item[c].name);
            (void)fprintf(out, ",%.17g,%.17g\r\n", set.item[c].x[i], set.item[c].y[i]);
        }
    end_text(out);
    file_put(&file, text, text_bytes);
    CHECK(read_file(&again, &set) == (lines > 0 ? OK : MISSING));
    for (size_t c = 0; c < set.count; c++)
        if (set.item[c].count > 0) {
            CHECK(k < again.count);
            same_points(&set.item[c], &again.item[k++]);
        }
    CHECK(k == again.count);
    series_free(&again);
}

static void has_json(void)
{
    FILE *out = begin_text();
    plot_json_write(out, &set, BY[set.by]);
    end_text(out);
    json_t *page = json_loads(text, 0, NULL);
    const json_t *curves = json_object_get(page, "curves");
    CHECK(json_array_size(curves) == set.count);
    for (size_t k = 0; k < set.count; k++)
        CHECK(json_array_size(json_object_get(json_array_get(curves, k), "y")) ==
              set.item[k].count);
    json_decref(page);
}

/* XML 1.0 (section 2.2) excludes invalid UTF-8, control characters, U+FFFE and U+FFFF. */
static void is_printable(bool is_xml)
{
    for (const char *at = text; *at;) {
        const size_t bytes = utf8_length(at);
        CHECK(*at == '\n' || !is_control(at));
        CHECK(!is_xml || (bytes > 0 && strncmp(at, "\xef\xbf\xbe", 3) != 0 &&
                          strncmp(at, "\xef\xbf\xbf", 3) != 0));
        at += bytes > 0 ? bytes : 1;
    }
}

static void draw(bool is_utf8)
{
    struct curve curves[SERIES_MAX];
    const struct chart chart = {.title = "",
                                .x_name = BY[set.by],
                                .y_name = set.what,
                                .curves = curves,
                                .count = set.count};
    const struct chart_text_style style = {.rows = 12, .columns = 60, .is_utf8 = is_utf8};
    for (size_t k = 0; k < set.count; k++)
        curves[k] =
            (struct curve){set.item[k].name, set.item[k].x, set.item[k].y, set.item[k].count};
    FILE *out = begin_text();
    chart_text_write(out, &chart, &style);
    end_text(out);
    is_printable(false);
    out = begin_text();
    chart_svg_write(out, &chart);
    end_text(out);
    is_printable(true);
}

/* The first byte chooses the values, the axis and the number of files. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    const uint8_t shape = input_byte(&input);
    const struct series_set wanted = {.what = WHAT[shape % WHATS],
                                      .by = (enum series_by)(shape / WHATS % 3),
                                      .files = 1 + shape / 128u};
    file_put(&file, input.at, input.left);
    if (read_file(&set, &wanted) == OK) {
        CHECK(set.count >= 1 && set.count <= SERIES_MAX);
        for (size_t k = 0; k < set.count; k++)
            look_at(&set.item[k]);
        has_json();
        draw(shape & 64);
        if (set.files == 1)
            comes_back();
    }
    series_free(&set);
}
