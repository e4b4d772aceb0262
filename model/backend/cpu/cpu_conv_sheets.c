#include "backend/cpu/cpu_conv_sheets.h"

#include <string.h>

#include "backend/cpu/cpu_vector.h"

/* Largest number of positions per sheet in a block of several images, so that all sheets fit a
 * cache. A larger image is a block by itself. */
#define PLACES_AT_ONCE 1536

/* Returns `floats` rounded up to an odd number of cache lines. With an even number, the same
 * position of many sheets would fall into one set of the cache. */
static size_t odd_lines(size_t floats)
{
    return (((floats + CONV_LANES - 1) / CONV_LANES) | 1) * CONV_LANES;
}

/* Computes the layout. With stride 1, the zeros after a row or an image are also the zeros before
 * the next row or image. */
struct sheets sheets_of(const struct conv *conv, int images_max)
{
    const struct shape out = conv_output(conv);
    /* Rows and columns of zeros after an image's outputs. */
    const int more = (conv->kernel - 1) / conv->stride;
    const int shared = conv->stride == 1 ? conv->pad : 0;
    const int width = out.width + more - shared, height = out.height + more - shared;
    struct sheets sheets = {.conv = *conv,
                            .out = out,
                            .phases = int_min(conv->stride, conv->kernel),
                            .width = width,
                            .area = width * height,
                            .origin = (ptrdiff_t)shared * (width + 1)};
    const size_t area = (size_t)sheets.area, margin = (size_t)more * (size_t)(width + 1);
    sheets.margin = (margin + CONV_LANES - 1) / CONV_LANES * CONV_LANES;
    sheets.images = sheets.area < PLACES_AT_ONCE ? PLACES_AT_ONCE / sheets.area : 1;
    sheets.images = int_min(sheets.images, images_max);
    sheets.pitch = odd_lines(2 * sheets.margin + (size_t)sheets.images * area + CONV_LANES);
    return sheets;
}

ptrdiff_t sheets_distance(const struct sheets *sheets, int i, int j)
{
    const int stride = sheets->conv.stride;
    return (ptrdiff_t)(i / stride) * sheets->width + j / stride - sheets->origin;
}

struct conv_places sheets_places(const struct sheets *sheets, int images, int height, int width)
{
    const int area = sheets->area, count = (height - 1) * sheets->width + width;
    if (count + CONV_LANES - 1 <= area)
        return (struct conv_places){images, area, count};
    return (struct conv_places){1, images * area, images * area};
}

/* The pixels of one image and channel that are on one phase's sheet (cpu_conv_sheets.h), except
 * pixels that no weight reads. */
struct part {
    ptrdiff_t place; /* position of the part's first pixel on the sheet */
    size_t first;    /* index of that pixel in the image's channel */
    int rows;
    int columns;
};

/* Raises *from to the next row (or column) of `phase`, whose rows are `stride` apart. Returns the
 * number of this phase's rows in *from .. end-1. */
static int steps(int *from, int phase, int end, int stride)
{
    *from += (phase - *from % stride + stride) % stride;
    return *from < end ? (end - *from + stride - 1) / stride : 0;
}

/* Returns the part of an image of the block that is on the sheet of phase (down, right): rows with
 * number % stride = down and columns with number % stride = right, padding included. */
static struct part part_of(const struct sheets *sheets, int image, int down, int right)
{
    const struct conv *conv = &sheets->conv;
    const int stride = conv->stride, height = conv->in.height, width = conv->in.width;
    const int met_down = (sheets->out.height - 1) * stride + conv->kernel;
    const int met_right = (sheets->out.width - 1) * stride + conv->kernel;
    int row = conv->pad, column = conv->pad;
    struct part part;
    part.rows = steps(&row, down, int_min(met_down, height + row), stride);
    part.columns = steps(&column, right, int_min(met_right, width + column), stride);
    part.place = (ptrdiff_t)image * sheets->area + sheets_distance(sheets, row, column);
    part.first = (size_t)(row - conv->pad) * (size_t)width + (size_t)(column - conv->pad);
    return part;
}

/* Copies `count` numbers; faster than memcpy for a few numbers. */
static inline void copy_row(float *to, const float *from, int count)
{
    for (; count >= 16; count -= 16, to += 16, from += 16)
        memcpy(to, from, 16 * sizeof *to);
    for (; count >= 4; count -= 4, to += 4, from += 4)
        memcpy(to, from, 4 * sizeof *to);
    for (; count > 0; count--)
        *to++ = *from++;
}

static void to_sheet(const struct sheets *sheets, struct part part, const float *plane,
                     float *sheet)
{
    const int stride = sheets->conv.stride, width = sheets->conv.in.width;
    for (int row = 0; row < part.rows; row++) {
        const float *from = plane + part.first + (size_t)row * (size_t)stride * (size_t)width;
        float *to = sheet + part.place + (ptrdiff_t)row * sheets->width;
        if (stride == 1)
            copy_row(to, from, part.columns);
        for (int i = 0; i < part.columns && stride > 1; i++)
            to[i] = from[i * stride];
    }
}

static void from_sheet(const struct sheets *sheets, struct part part, const float *sheet,
                       float *plane)
{
    const int stride = sheets->conv.stride, width = sheets->conv.in.width;
    for (int row = 0; row < part.rows; row++) {
        const float *from = sheet + part.place + (ptrdiff_t)row * sheets->width;
        float *to = plane + part.first + (size_t)row * (size_t)stride * (size_t)width;
        if (stride == 1)
            copy_row(to, from, part.columns);
        for (int i = 0; i < part.columns && stride > 1; i++)
            to[i * stride] = from[i];
    }
}

void sheets_spread_inputs(const struct sheets *sheets, int images, const float *x, float *in)
{
    const struct shape shape = sheets->conv.in;
    const size_t area = (size_t)shape.height * (size_t)shape.width;
    const int phases = sheets->phases;
    for (int image = 0; image < images; image++, x += shape_size(shape)) {
        for (int phase = 0; phase < phases * phases; phase++) {
            const struct part part = part_of(sheets, image, phase / phases, phase % phases);
            for (int channel = 0; channel < shape.channels; channel++)
                to_sheet(sheets, part, x + (size_t)channel * area,
                         in + (size_t)(channel * phases * phases + phase) * sheets->pitch);
        }
    }
}

void sheets_spread_gradients(const struct sheets *sheets, int images, int first, int end,
                             const float *dy, float *gradient)
{
    const struct shape out = sheets->out;
    for (int f = first; f < end; f++, gradient += sheets->pitch) {
        float *to = gradient;
        for (int image = 0; image < images; image++, to += sheets->area) {
            const float *from =
                dy + (size_t)(image * sheets->conv.filters + f) * (size_t)(out.height * out.width);
            for (int row = 0; row < out.height; row++, from += out.width)
                copy_row(to + row * sheets->width, from, out.width);
        }
        memset(to, 0, CONV_LANES * sizeof *to);
    }
}

EACH_WIDTH static void collect_plane(const struct sheets *sheets, const float *sheet, float b,
                                     float *y)
{
    for (int row = 0; row < sheets->out.height; row++) {
        for (int column = 0; column < sheets->out.width; column++)
            y[column] = sheet[column] + b;
        sheet += sheets->width;
        y += sheets->out.width;
    }
}

void sheets_collect_outputs(const struct sheets *sheets, int images, const float *made,
                            const float *b, float *y)
{
    const size_t area = (size_t)sheets->out.height * (size_t)sheets->out.width;
    for (int image = 0; image < images; image++) {
        for (int f = 0; f < sheets->conv.filters; f++, y += area)
            collect_plane(sheets,
                          made + (size_t)f * sheets->pitch + (size_t)image * (size_t)sheets->area,
                          b ? b[f] : 0, y);
    }
}

void sheets_collect_inputs(const struct sheets *sheets, int images, int phase, const float *made,
                           float *dx)
{
    const struct shape in = sheets->conv.in;
    const int phases = sheets->phases;
    for (int image = 0; image < images; image++) {
        const struct part part = part_of(sheets, image, phase / phases, phase % phases);
        for (int channel = 0; channel < in.channels; channel++, dx += in.height * in.width)
            from_sheet(sheets, part, made + (size_t)channel * sheets->pitch, dx);
    }
}
