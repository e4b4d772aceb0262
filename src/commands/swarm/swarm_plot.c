#include "commands/swarm/swarm_plot.h"

#include <math.h>

#include "base/error.h"

#define DOTS_ACROSS 2 /* in a character */
#define DOTS_DOWN   4
#define LINE_EVERY  6 /* dots from one of a dotted line to the next */

/* Unicode, "Braille Patterns": which bit is which dot. */
static const uint8_t DOT[DOTS_DOWN][DOTS_ACROSS] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

static void set_dot(struct plot *plot, int x, int y)
{
    CHECK(x >= 0 && x < plot->columns * DOTS_ACROSS && y >= 0 && y < plot->rows * DOTS_DOWN);
    plot->cell[y / DOTS_DOWN][x / DOTS_ACROSS] |= DOT[y % DOTS_DOWN][x % DOTS_ACROSS];
}

/* The dot, counted from above, that a value lies at. */
static int height_of(const struct plot *plot, double value)
{
    const int last = plot->rows * DOTS_DOWN - 1;
    const double part = (value - plot->low) / (1 - plot->low);
    return last - (int)lround(fmin(fmax(part, 0), 1) * last);
}

static void check_size(const struct plot *plot)
{
    CHECK(plot->rows > 0 && plot->rows <= PLOT_ROWS_MAX);
    CHECK(plot->columns > 0 && plot->columns <= PLOT_COLUMNS_MAX);
    CHECK(plot->low >= 0 && plot->low < 1);
}

void plot_line(struct plot *plot, double value)
{
    check_size(plot);
    for (int x = 0; x < plot->columns * DOTS_ACROSS; x += LINE_EVERY)
        set_dot(plot, x, height_of(plot, value));
}

/* The value at a moment between the first point and the last; *k is the point before it. */
static double value_at(const double *at_s, const double *value, int points, double s, int *k)
{
    while (*k + 2 < points && at_s[*k + 1] <= s)
        ++*k;
    if (*k + 1 >= points || at_s[*k + 1] <= at_s[*k])
        return value[*k];
    const double part = (s - at_s[*k]) / (at_s[*k + 1] - at_s[*k]);
    return value[*k] + fmin(fmax(part, 0), 1) * (value[*k + 1] - value[*k]);
}

void plot_curve(struct plot *plot, const double *at_s, const double *value, int points,
                double end_s)
{
    check_size(plot);
    const int width = plot->columns * DOTS_ACROSS;
    int k = 0, before = -1;
    for (int x = 0; x < width && points > 0 && end_s > 0; x++) {
        const double s = end_s * (x + 0.5) / width;
        if (s < at_s[0])
            continue;
        const int y = height_of(plot, value_at(at_s, value, points, s, &k));
        const int from = before < 0 ? y : before + (y > before) - (y < before); /* a thin line */
        for (int dot = from < y ? from : y; dot <= (from < y ? y : from); dot++)
            set_dot(plot, x, dot);
        before = y;
    }
}

/* Dots in the upper half, the lower, or both. */
static char ascii_of(uint8_t dots)
{
    const uint8_t upper = 0x01 | 0x08 | 0x02 | 0x10;
    if (dots == 0)
        return ' ';
    if (!(dots & upper))
        return '.';
    return dots & (uint8_t)~upper ? ':' : '\'';
}

void plot_print_row(const struct plot *plot, FILE *out, int row)
{
    CHECK(row >= 0 && row < plot->rows);
    for (int x = 0; x < plot->columns; x++) {
        const uint8_t dots = plot->cell[row][x];
        if (!plot->is_utf8 || dots == 0)
            (void)fputc(plot->is_utf8 ? ' ' : ascii_of(dots), out);
        else
            (void)fprintf(out, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
    }
}

void plot_bar(FILE *out, double part, int columns, bool is_utf8)
{
    static const char *const EIGHTHS[] = {"░", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    CHECK(columns > 0);
    const int eighths = (int)floor(fmin(fmax(part, 0), 1) * columns * 8);
    for (int x = 0; x < columns; x++) {
        const int fill = eighths - 8 * x;
        if (!is_utf8)
            (void)fputc(fill >= 4 ? '#' : '.', out);
        else
            (void)fputs(fill >= 8 ? "█" : EIGHTHS[fill > 0 ? fill : 0], out);
    }
}
