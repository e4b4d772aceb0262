#include "commands/data/data_show.h"

#include <math.h>

#include "base/error.h"
#include "base/min_max.h"

#define LINE_MAX_COLUMNS 78
#define PICTURE_COLUMNS  28 /* maximum columns of dots in a picture */
#define GAP              2
#define NUMBERS_SHOWN    12
/* smallest height and width, in pixels, of a sample shown as a picture */
#define SIDE_MIN 4

static const char SHADES[] = " .:-=+*#%@";

/* Layout of pictures in the terminal. Each line of text shows two rows of dots. */
struct canvas {
    int scale;   /* pixels per dot, in both directions */
    int columns; /* dots in a row of a picture */
    int lines;
    int across; /* pictures side by side */
};

static struct canvas canvas_of(struct shape shape)
{
    struct canvas canvas = {.scale = (shape.width + PICTURE_COLUMNS - 1) / PICTURE_COLUMNS};
    canvas.columns = (shape.width + canvas.scale - 1) / canvas.scale;
    canvas.lines = (shape.height + 2 * canvas.scale - 1) / (2 * canvas.scale);
    canvas.across = LINE_MAX_COLUMNS / (canvas.columns + GAP);
    return canvas;
}

/* Returns the mean of one channel over the pixels that a dot covers, scaled to 0 .. 1. Returns 0
 * outside the image, and if high <= low. */
static double dot(const struct data_show *show, const struct canvas *canvas, const float *sample,
                  int channel, int row, int column)
{
    const struct shape shape = show->shape;
    const int scale = canvas->scale;
    double sum = 0;
    int count = 0;
    for (int r = row * scale; r < (row + 1) * scale && r < shape.height; r++)
        for (int c = column * scale; c < (column + 1) * scale && c < shape.width; c++) {
            const size_t at = ((size_t)channel * (size_t)shape.height + (size_t)r);
            sum += (double)sample[at * (size_t)shape.width + (size_t)c];
            count++;
        }
    if (count == 0 || show->high <= show->low)
        return 0;
    return fmin(fmax((sum / count - show->low) / (show->high - show->low), 0), 1);
}

struct colour {
    double part[3]; /* red, green and blue, 0 .. 1 */
};

/* Returns the colour of a dot. An image with three channels is red, green and blue; any other image
 * is shown in grey, from its first channel. */
static struct colour colour_at(const struct data_show *show, const struct canvas *canvas,
                               const float *sample, int row, int column)
{
    struct colour colour;
    for (int i = 0; i < 3; i++)
        colour.part[i] = dot(show, canvas, sample, show->shape.channels == 3 ? i : 0, row, column);
    return colour;
}

/* Returns the luma of a colour (ITU-R BT.601). */
static double shade_of(struct colour colour)
{
    return 0.299 * colour.part[0] + 0.587 * colour.part[1] + 0.114 * colour.part[2];
}

static void draw_cell(FILE *out, const struct data_show *show, struct colour above,
                      struct colour below)
{
    const int last = (int)sizeof SHADES - 2;
    if (show->in_colour)
        (void)fprintf(out, "\33[38;2;%.0f;%.0f;%.0f;48;2;%.0f;%.0f;%.0fm▀", 255 * above.part[0],
                      255 * above.part[1], 255 * above.part[2], 255 * below.part[0],
                      255 * below.part[1], 255 * below.part[2]);
    else
        (void)fputc(SHADES[lround((shade_of(above) + shade_of(below)) / 2 * last)], out);
}

static void draw_line(FILE *out, const struct data_show *show, const struct canvas *canvas,
                      const float *sample, int line)
{
    for (int column = 0; column < canvas->columns; column++)
        draw_cell(out, show, colour_at(show, canvas, sample, 2 * line, column),
                  colour_at(show, canvas, sample, 2 * line + 1, column));
    if (show->in_colour)
        (void)fputs("\33[0m", out);
}

static void draw_pictures(FILE *out, const struct data_show *show, int from, int to)
{
    const struct canvas canvas = canvas_of(show->shape);
    const size_t size = shape_size(show->shape);
    for (int line = 0; line < canvas.lines; line++) {
        for (int i = from; i < to; i++) {
            (void)fprintf(out, "%*s", GAP, "");
            draw_line(out, show, &canvas, show->samples + (size_t)i * size, line);
        }
        (void)fputc('\n', out);
    }
    for (int i = from; show->caption && i < to; i++)
        (void)fprintf(out, "%*s%-*.*s", GAP, "", canvas.columns, canvas.columns, show->caption[i]);
    if (show->caption)
        (void)fputc('\n', out);
}

static void print_numbers(FILE *out, const struct data_show *show, int i)
{
    const size_t size = shape_size(show->shape);
    const float *numbers = show->samples + (size_t)i * size;
    (void)fprintf(out, "%*s", GAP, "");
    for (size_t k = 0; k < size && k < NUMBERS_SHOWN; k++)
        (void)fprintf(out, "%s%.4g", k > 0 ? "  " : "", (double)numbers[k]);
    (void)fprintf(out, "%s%s%s\n", size > NUMBERS_SHOWN ? "  ..." : "",
                  show->caption ? "  ->  " : "", show->caption ? show->caption[i] : "");
}

void data_show_samples(FILE *out, const struct data_show *show)
{
    CHECK(show->count <= DATA_SHOW_MAX);
    const bool is_picture = show->shape.height >= SIDE_MIN && show->shape.width >= SIDE_MIN;
    const int across = is_picture ? canvas_of(show->shape).across : 1;
    for (int i = 0; i < show->count; i += across) {
        if (is_picture)
            draw_pictures(out, show, i, int_min(i + across, show->count));
        else
            print_numbers(out, show, i);
    }
}

void data_show_text(FILE *out, const char *text, size_t bytes)
{
    (void)fprintf(out, "%*s", GAP, "");
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '\n')
            (void)fprintf(out, "\n%*s", GAP, "");
        else
            (void)fputc(byte == '\t' || byte >= 0x80 || (byte >= ' ' && byte < 0x7f) ? byte : '.',
                        out);
    }
    (void)fputc('\n', out);
}
