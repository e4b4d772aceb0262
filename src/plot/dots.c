#include "plot/dots.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

#define DOTS_ACROSS 2 /* dots beside each other in one character */
#define DOTS_DOWN   4
#define LINE_EVERY  6 /* distance between the dots of dots_line, in dots */

/* Bit of each dot in a character of the Unicode block "Braille Patterns". */
static const uint8_t DOT[DOTS_DOWN][DOTS_ACROSS] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

static void set_dot(struct dots *dots, int x, int y)
{
    CHECK(x >= 0 && x < dots->columns * DOTS_ACROSS && y >= 0 && y < dots->rows * DOTS_DOWN);
    dots->cell[y / DOTS_DOWN][x / DOTS_ACROSS] |= DOT[y % DOTS_DOWN][x % DOTS_ACROSS];
}

static int place_of(double part, int dots)
{
    return (int)lround(fmin(fmax(part, 0), 1) * (dots - 1));
}

/* Returns the distance of a value from the top, in dots. */
static int height_of(const struct dots *dots, double value)
{
    const int last = dots->rows * DOTS_DOWN - 1;
    return last - place_of((value - dots->low) / (dots->high - dots->low), last + 1);
}

/* Returns the distance of an x from the left, in dots. */
static int across_of(const struct dots *dots, double x)
{
    return place_of((x - dots->left) / (dots->right - dots->left), dots->columns * DOTS_ACROSS);
}

static void check_size(const struct dots *dots)
{
    CHECK(dots->rows > 0 && dots->rows <= DOTS_ROWS_MAX);
    CHECK(dots->columns > 0 && dots->columns <= DOTS_COLUMNS_MAX);
    CHECK(dots->low < dots->high && dots->left < dots->right);
}

void dots_line(struct dots *dots, double value)
{
    check_size(dots);
    for (int x = 0; x < dots->columns * DOTS_ACROSS; x += LINE_EVERY)
        set_dot(dots, x, height_of(dots, value));
}

/* Draws a straight line without gaps. */
static void join(struct dots *dots, int x0, int y0, int x1, int y1)
{
    const int across = abs(x1 - x0), down = abs(y1 - y0);
    const int longest = across > down ? across : down;
    for (int k = 0; k <= longest; k++) {
        const double part = longest > 0 ? (double)k / longest : 0;
        set_dot(dots, x0 + (int)lround(part * (x1 - x0)), y0 + (int)lround(part * (y1 - y0)));
    }
}

void dots_curve(struct dots *dots, const double *x, const double *y, size_t count)
{
    int before_x = 0, before_y = 0;
    bool has_before = false;
    check_size(dots);
    for (size_t i = 0; i < count; i++) {
        if (x[i] < dots->left || x[i] > dots->right)
            continue;
        const int at_x = across_of(dots, x[i]), at_y = height_of(dots, y[i]);
        join(dots, has_before ? before_x : at_x, has_before ? before_y : at_y, at_x, at_y);
        before_x = at_x;
        before_y = at_y;
        has_before = true;
    }
}

/* Returns a blank for no dot, ' for dots in the upper half only, . for the lower half only, : for
 * both halves. */
static char ascii_of(uint8_t dots)
{
    const uint8_t upper = 0x01 | 0x08 | 0x02 | 0x10;
    if (dots == 0)
        return ' ';
    if (!(dots & upper))
        return '.';
    return dots & (uint8_t)~upper ? ':' : '\'';
}

bool dots_print_cell(const struct dots *dots, FILE *out, int row, int column)
{
    CHECK(row >= 0 && row < dots->rows && column >= 0 && column < dots->columns);
    const uint8_t cell = dots->cell[row][column];
    if (!dots->is_utf8 || cell == 0)
        (void)fputc(dots->is_utf8 ? ' ' : ascii_of(cell), out);
    else
        (void)fprintf(out, "\xe2%c%c", 0xa0 | cell >> 6, 0x80 | (cell & 0x3f));
    return cell != 0;
}

void dots_print_row(const struct dots *dots, FILE *out, int row)
{
    for (int column = 0; column < dots->columns; column++)
        (void)dots_print_cell(dots, out, row, column);
}
