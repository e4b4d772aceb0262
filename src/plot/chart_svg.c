#include "plot/chart_svg.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plot/ticks.h"
#include "plot/utf8.h"

/* Sizes in pixels, and approximate numbers of ticks. */
#define WIDTH       800
#define FRAME       360 /* height of the frame around the curves */
#define LEFT        72
#define RIGHT       20
#define LINE        20 /* height of a line of text */
#define BELOW       52 /* below the frame, for tick labels and axis name */
#define LETTER      7  /* approximate width of a letter */
#define SAMPLE      22 /* line beside a name in the legend */
#define TICKS_DOWN  6
#define TICKS_RIGHT 8

/* Okabe and Ito, "Color universal design" (2008), with grey instead of yellow and black: colours
 * that colour-blind readers can tell apart. Further curves are dashed. */
static const char *const COLOURS[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#555555"};
static const char *const DASHES[] = {"", "6 3", "2 2", "9 3 2 3"};
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct place {
    struct bounds bounds;
    double top; /* upper side of the frame, in pixels from the top */
};

static double across(const struct place *place, double x)
{
    const struct bounds *bounds = &place->bounds;
    return LEFT + (WIDTH - LEFT - RIGHT) * (x - bounds->left) / (bounds->right - bounds->left);
}

/* Returns the pixel row of a value, which is always inside the frame. */
static double down(const struct place *place, double y)
{
    const struct bounds *bounds = &place->bounds;
    const double part = (y - bounds->low) / (bounds->high - bounds->low);
    return place->top + FRAME * (1 - (part < 0 ? 0 : part > 1 ? 1 : part));
}

static void write_text(FILE *out, const char *text)
{
    while (*text) {
        const size_t bytes = utf8_length(text);
        if (*text == '&' || *text == '<' || *text == '>')
            (void)fputs(*text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;", out);
        else if (!utf8_is_printable(text))
            (void)fputc('?', out);
        else
            (void)fwrite(text, 1, bytes, out);
        text += bytes > 0 ? bytes : 1;
    }
}

static void write_line(FILE *out, double x0, double y0, double x1, double y1, const char *colour)
{
    (void)fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\"/>\n", x0, y0, x1, y1,
                  colour);
}

static void write_label(FILE *out, double x, double y, const char *anchor, const char *text)
{
    (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#222\">", x, y,
                  anchor);
    write_text(out, text);
    (void)fputs("</text>\n", out);
}

static void write_stroke(FILE *out, size_t k)
{
    const char *dashes = DASHES[k / COUNT(COLOURS) % COUNT(DASHES)];
    (void)fprintf(out, " stroke=\"%s\"", COLOURS[k % COUNT(COLOURS)]);
    if (dashes[0])
        (void)fprintf(out, " stroke-dasharray=\"%s\"", dashes);
}

/* Each column is as wide as the longest name needs. */
struct legend {
    size_t columns, rows;
    double width; /* width of a column, in pixels */
};

static struct legend legend_of(const struct chart *chart)
{
    size_t longest = 0;
    for (size_t k = 0; k < chart->count; k++)
        if (utf8_columns(chart->curves[k].name) > longest)
            longest = utf8_columns(chart->curves[k].name);
    const double width = SAMPLE + 18 + LETTER * (double)longest;
    size_t columns = (size_t)((WIDTH - LEFT - RIGHT) / width);
    columns = columns > 0 ? columns : 1;
    return (struct legend){columns, (chart->count + columns - 1) / columns, width};
}

static void write_legend(FILE *out, const struct chart *chart, const struct legend *legend,
                         double top)
{
    for (size_t k = 0; k < chart->count; k++) {
        const double x = LEFT + legend->width * (double)(k % legend->columns);
        const double y = top + LINE * (0.7 + (double)(k / legend->columns));
        (void)fprintf(out, "<path d=\"M%.1f %.1fh%d\" stroke-width=\"2\"", x, y - 4, SAMPLE);
        write_stroke(out, k);
        (void)fputs("/>\n", out);
        write_label(out, x + SAMPLE + 6, y, "start", chart->curves[k].name);
    }
}

static void write_grid(FILE *out, const struct place *place, const struct ticks *up,
                       const struct ticks *right)
{
    char text[TICKS_TEXT_BYTES];
    const double bottom = place->top + FRAME;
    for (int i = 0; i < up->count; i++) {
        const double y = down(place, ticks_at(up, i));
        write_line(out, LEFT, y, WIDTH - RIGHT, y, "#ddd");
        write_label(out, LEFT - 8, y + 4, "end", ticks_text(up, i, text));
    }
    for (int i = 0; i < right->count; i++) {
        const double x = across(place, ticks_at(right, i));
        write_line(out, x, place->top, x, bottom, "#ddd");
        write_label(out, x, bottom + 18, "middle", ticks_text(right, i, text));
    }
    (void)fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" stroke=\"#888\"/>\n",
                  LEFT, place->top, WIDTH - LEFT - RIGHT, FRAME);
}

static void write_names(FILE *out, const struct chart *chart, const struct place *place)
{
    const double middle = place->top + FRAME / 2.0;
    write_label(out, (LEFT + WIDTH - RIGHT) / 2.0, place->top + FRAME + 42, "middle",
                chart->x_name);
    (void)fprintf(out,
                  "<text transform=\"translate(16 %.1f) rotate(-90)\" "
                  "text-anchor=\"middle\" fill=\"#222\">",
                  middle);
    write_text(out, chart->y_name);
    (void)fputs("</text>\n", out);
}

static void write_curve(FILE *out, const struct place *place, const struct curve *curve, size_t k)
{
    struct curve thin = curve_thin(curve, &place->bounds, (WIDTH - LEFT - RIGHT) / 2);
    if (thin.count == 1) { /* a dot, because a line would be invisible */
        (void)fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"", across(place, thin.x[0]),
                      down(place, thin.y[0]));
        write_stroke(out, k);
        (void)fputs("/>\n", out);
    } else if (thin.count > 1) {
        (void)fputs("<polyline stroke-width=\"1.6\" stroke-linejoin=\"round\"", out);
        write_stroke(out, k);
        (void)fputs(" points=\"", out);
        for (size_t i = 0; i < thin.count; i++)
            (void)fprintf(out, "%s%.1f,%.1f", i > 0 ? " " : "", across(place, thin.x[i]),
                          down(place, thin.y[i]));
        (void)fputs("\"/>\n", out);
    }
    free((void *)thin.x);
    free((void *)thin.y);
}

void chart_svg_write(FILE *out, const struct chart *chart)
{
    CHECK(chart->count <= CHART_CURVES_MAX);
    struct place place = {.bounds = chart_bounds(chart)};
    const struct legend legend = legend_of(chart);
    const struct ticks up = chart->has_range
                                ? ticks_within(chart->low, chart->high, TICKS_DOWN)
                                : ticks_around(place.bounds.low, place.bounds.high, TICKS_DOWN);
    const struct ticks right = ticks_within(place.bounds.left, place.bounds.right, TICKS_RIGHT);
    const double title = chart->title[0] ? 1.4 * LINE : 0.4 * LINE;
    place.top = title + LINE * (double)legend.rows + 8;
    if (!chart->has_range) {
        place.bounds.low = up.first;
        place.bounds.high = ticks_last(&up);
    }
    const double height = place.top + FRAME + BELOW;
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
                  "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n<title>",
                  WIDTH, height, WIDTH, height);
    write_text(out, chart->title[0] ? chart->title : chart->y_name);
    (void)fprintf(out, "</title>\n<rect width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n", WIDTH,
                  height);
    (void)fputs("<g fill=\"none\">\n", out);
    if (chart->title[0])
        write_label(out, WIDTH / 2.0, LINE, "middle", chart->title);
    write_grid(out, &place, &up, &right);
    for (size_t k = 0; k < chart->count; k++)
        write_curve(out, &place, &chart->curves[k], k);
    write_legend(out, chart, &legend, title);
    write_names(out, chart, &place);
    (void)fputs("</g>\n</svg>\n", out);
}
