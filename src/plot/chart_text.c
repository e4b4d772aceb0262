#include "plot/chart_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/min_max.h"
#include "plot/dots.h"
#include "plot/ticks.h"
#include "plot/utf8.h"

#define MARGIN     9 /* characters left of the frame, for the tick labels */
#define TICK_ROWS  3 /* rows between two labels */
#define TICK_WIDTH 12
#define USUAL      "\033[m"

/* ANSI (ECMA-48) escape sequences for cyan, yellow, green, magenta, blue and red. */
static const char *const COLOURS[] = {"\033[36m", "\033[33m", "\033[32m",
                                      "\033[35m", "\033[34m", "\033[31m"};
#define COLOURS_COUNT (sizeof COLOURS / sizeof *COLOURS)

/* One layer of dots per curve; later curves cover earlier ones. */
struct picture {
    const struct chart *chart;
    const struct chart_text_style *style;
    struct dots *layers; /* [chart->count] */
    int rows, columns;   /* size of the frame in characters */
};

static char letter_of(size_t k)
{
    return (char)(k < 26 ? 'a' + (int)k : k < 52 ? 'A' + (int)k - 26 : '0' + (int)(k - 52) % 10);
}

static bool has_letters(const struct picture *picture)
{
    return picture->chart->count > 1 && !picture->style->has_color;
}

/* Returns the topmost curve with a dot in this cell; chart->count if there is none. */
static size_t curve_at(const struct picture *picture, int row, int column)
{
    for (size_t k = picture->chart->count; k-- > 0;)
        if (picture->layers[k].cell[row][column])
            return k;
    return picture->chart->count;
}

static void print_row(FILE *out, const struct picture *picture, int row)
{
    size_t colour = picture->chart->count;
    for (int column = 0; column < picture->columns; column++) {
        const size_t k = curve_at(picture, row, column);
        if (k == picture->chart->count) {
            (void)fputc(' ', out);
            continue;
        }
        if (picture->style->has_color && k != colour)
            (void)fputs(COLOURS[k % COLOURS_COUNT], out);
        colour = k;
        if (has_letters(picture))
            (void)fputc(letter_of(k), out);
        else
            (void)dots_print_cell(&picture->layers[k], out, row, column);
    }
    if (picture->style->has_color)
        (void)fputs(USUAL, out);
    (void)fputc('\n', out);
}

static void print_rows(FILE *out, const struct picture *picture, const struct ticks *up)
{
    const char *side = picture->style->is_utf8 ? "│" : "|";
    for (int row = 0; row < picture->rows; row++) {
        char text[TICKS_TEXT_BYTES] = "";
        for (int i = 0; i < up->count; i++) {
            const double part = (ticks_at(up, i) - picture->layers[0].low) /
                                (picture->layers[0].high - picture->layers[0].low);
            if ((int)((1 - part) * (picture->rows - 1) + 0.5) == row)
                (void)ticks_text(up, i, text);
        }
        (void)fprintf(out, "%*.*s %s", MARGIN - 2, MARGIN - 2, text, side);
        print_row(out, picture, row);
    }
}

/* Leaves out labels that do not fit. */
static void print_axis(FILE *out, const struct picture *picture, const struct ticks *right)
{
    const struct bounds bounds = chart_bounds(picture->chart);
    char text[TICKS_TEXT_BYTES];
    int at = 0;
    (void)fprintf(out, "%*s%s", MARGIN - 1, "", picture->style->is_utf8 ? "└" : "+");
    for (int column = 0; column < picture->columns; column++)
        (void)fputs(picture->style->is_utf8 ? "─" : "-", out);
    (void)fprintf(out, "\n%*s", MARGIN, "");
    for (int i = 0; i < right->count; i++) {
        const double part = (ticks_at(right, i) - bounds.left) / (bounds.right - bounds.left);
        const int length = (int)strlen(ticks_text(right, i, text));
        const int middle = (int)(part * (picture->columns - 1) + 0.5) - length / 2;
        const int column = int_min(int_max(middle, 0), picture->columns - length);
        if (column < at + (at > 0))
            continue;
        (void)fprintf(out, "%*s%s", column - at, "", text);
        at = column + length;
    }
    (void)fprintf(out, "\n%*s%s\n", MARGIN, "", picture->chart->x_name);
}

static void print_legend(FILE *out, const struct picture *picture)
{
    const int room = picture->style->columns;
    int at = 0;
    for (size_t k = 0; k < picture->chart->count; k++) {
        const char *name = picture->chart->curves[k].name;
        const int width = (int)utf8_columns(name) + 5;
        if (at > 0 && at + width > room) {
            (void)fputc('\n', out);
            at = 0;
        }
        if (has_letters(picture))
            (void)fprintf(out, "  %c  ", letter_of(k));
        else
            (void)fprintf(
                out, "%s  %s%s ", picture->style->has_color ? COLOURS[k % COLOURS_COUNT] : "",
                picture->style->is_utf8 ? "──" : "--", picture->style->has_color ? USUAL : "");
        utf8_print(out, name);
        at += width;
    }
    (void)fputc('\n', out);
}

static void draw_layers(struct picture *picture, const struct ticks *up)
{
    const struct chart *chart = picture->chart;
    const struct bounds bounds = chart_bounds(chart);
    for (size_t k = 0; k < chart->count; k++) {
        picture->layers[k] = (struct dots){.rows = picture->rows,
                                           .columns = picture->columns,
                                           .left = bounds.left,
                                           .right = bounds.right,
                                           .low = chart->has_range ? chart->low : up->first,
                                           .high = chart->has_range ? chart->high : ticks_last(up),
                                           .is_utf8 = picture->style->is_utf8};
        struct curve thin = curve_thin(&chart->curves[k], &bounds, (size_t)picture->columns * 2);
        dots_curve(&picture->layers[k], thin.x, thin.y, thin.count);
        free((void *)thin.x);
        free((void *)thin.y);
    }
}

void chart_text_write(FILE *out, const struct chart *chart, const struct chart_text_style *style)
{
    CHECK(chart->count > 0 && style->columns >= CHART_TEXT_COLUMNS_MIN);
    CHECK(style->rows >= CHART_TEXT_ROWS_MIN);
    struct picture picture = {.chart = chart,
                              .style = style,
                              .layers = memory_new(chart->count, sizeof *picture.layers),
                              .rows = int_min(style->rows - 4, DOTS_ROWS_MAX),
                              .columns = int_min(style->columns - MARGIN - 1, DOTS_COLUMNS_MAX)};
    const struct bounds bounds = chart_bounds(chart);
    const int about = int_max(picture.rows / TICK_ROWS, 2);
    const struct ticks up = chart->has_range ? ticks_within(bounds.low, bounds.high, about)
                                             : ticks_around(bounds.low, bounds.high, about);
    const int across = int_max(picture.columns / TICK_WIDTH, 2);
    const struct ticks right = ticks_within(bounds.left, bounds.right, across);
    draw_layers(&picture, &up);
    if (chart->title[0])
        (void)fprintf(out, "%*s%s\n", MARGIN, "", chart->title);
    (void)fprintf(out, "%*s %s\n", MARGIN - 1, "", chart->y_name);
    print_rows(out, &picture, &up);
    print_axis(out, &picture, &right);
    print_legend(out, &picture);
    free(picture.layers);
}
