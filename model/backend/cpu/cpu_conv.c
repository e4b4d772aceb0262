/* Convolutions without a matrix of patches. The images of a block lie below each other on sheets,
 * one for each channel, with zeros between and around them, so that what a weight meets lies at the
 * same distance from each place:
 *
 *   in sheet   . . . . . .      y[place] = Σ w[t] · in[offset[t] + place]
 *              . a b c . .      dx[place] = Σ w[t] · dy[place - offset[t]]
 *              . d e f . .      dw[t] = Σ dy[place] · in[offset[t] + place]
 *              . . . . . .
 *
 * All three are long sums over lines of memory (cpu_conv_tiles.h). dy lies on sheets of the same
 * geometry; y and dx come out on such, and what falls between the images is left behind. With a
 * stride of s a channel has s·s sheets, each with every s-th row and column, and weights meet the
 * sheet that has theirs.
 */
#include <stdint.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_conv_tiles.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

#define PLACES_AT_ONCE 1536 /* of a sheet: many, and yet those of all sheets fit a cache */
#define TAPS_AT_ONCE   256  /* whose weights fit the fastest cache */

/* Where the images of a block lie. */
struct sheets {
    int phases;       /* of the rows, and columns, of a stride: those that meet a weight */
    int width;        /* of a row, with its zeros */
    int area;         /* of an image, with its zeros */
    ptrdiff_t origin; /* from the corner of the first padded image to the first place */
    size_t margin;    /* zeros before the first place */
    size_t pitch;     /* from one sheet to the next */
    int images;       /* of a block at most */
};

/* One call of the operation. */
struct call {
    const struct conv *conv;
    struct shape out;
    int patch; /* weights of a filter */
    struct sheets sheets;
    const struct conv_tiles *tiles;
    ptrdiff_t *offset; /* of each tap: see struct conv_taps */
    ptrdiff_t *source; /* of each tap: where the first row has its weight */
    float *w;          /* the weights, tile by tile */
    float *in;         /* x, from the first place on: [channels][phases][phases] sheets */
    float *slope;      /* dy: [filters] sheets; backward only */
    float *made;       /* y: [filters] sheets; or of dx, one phase: [channels] sheets */
};

/* An odd number of cache lines: sheets do not all fall onto the same places of a cache. */
static size_t odd_lines(size_t floats)
{
    return (((floats + CONV_LANES - 1) / CONV_LANES) | 1) * CONV_LANES;
}

/* Without a stride the zeros behind a row are those before the next, and likewise for images. */
static struct sheets sheets_of(const struct conv *conv, int batch)
{
    const struct shape out = conv_output(conv);
    const int more = (conv->kernel - 1) / conv->stride; /* places beside the outputs */
    const int shared = conv->stride == 1 ? conv->pad : 0;
    const int width = out.width + more - shared, height = out.height + more - shared;
    struct sheets sheets = {.phases = conv->stride < conv->kernel ? conv->stride : conv->kernel,
                            .width = width,
                            .area = width * height,
                            .origin = (ptrdiff_t)shared * (width + 1)};
    const size_t area = (size_t)sheets.area, margin = (size_t)more * (size_t)(width + 1);
    sheets.margin = (margin + CONV_LANES - 1) / CONV_LANES * CONV_LANES;
    sheets.images = sheets.area < PLACES_AT_ONCE ? PLACES_AT_ONCE / sheets.area : 1;
    sheets.images = sheets.images < batch ? sheets.images : batch;
    sheets.pitch = odd_lines(2 * sheets.margin + (size_t)sheets.images * area + CONV_LANES);
    return sheets;
}

static struct call call_begin(struct backend *backend, const struct conv *conv, int batch,
                              bool is_backward)
{
    CHECK(conv->stride >= 1 && conv->groups >= 1 && batch >= 0);
    CHECK(conv->in.channels % conv->groups == 0 && conv->filters % conv->groups == 0);
    const size_t filters = (size_t)conv->filters, channels = (size_t)conv->in.channels;
    const size_t phases = (size_t)(conv->stride < conv->kernel ? conv->stride : conv->kernel);
    const size_t in = channels * phases * phases, slope = is_backward ? filters : 0;
    const size_t made = is_backward ? channels : filters, all = in + slope + made;
    const size_t weights = filters * (size_t)conv_patch(conv);
    const size_t met = (filters + channels) / (size_t)conv->groups; /* by one filter or channel */
    const size_t taps = met * (size_t)(conv->kernel * conv->kernel) + CONV_EXTRA;
    struct call call = {.conv = conv,
                        .out = conv_output(conv),
                        .patch = conv_patch(conv),
                        .sheets = sheets_of(conv, batch),
                        .tiles = conv_tiles()};
    const size_t pitch = call.sheets.pitch, pair = sizeof(ptrdiff_t) / sizeof(float);
    const size_t tables = odd_lines(2 * taps * pair + weights);
    float *room = cpu_scratch(backend, tables + all * pitch);
    call.offset = (ptrdiff_t *)(void *)room;
    call.source = call.offset + taps;
    call.w = (float *)(void *)(call.source + taps);
    memset(room + tables, 0, (in + slope) * pitch * sizeof *room);
    call.in = room + tables + call.sheets.margin;
    call.slope = call.in + in * pitch;
    call.made = call.slope + slope * pitch;
    return call;
}

/* How far from a place row i and column j of a filter lie, on their sheet of a channel. */
static ptrdiff_t distance(const struct call *call, int i, int j)
{
    const int stride = call->conv->stride;
    return (ptrdiff_t)(i / stride) * call->sheets.width + j / stride - call->sheets.origin;
}

static struct conv_taps taps_end(const struct call *call, int count)
{
    for (int i = 0; i < CONV_EXTRA; i++)
        call->offset[count + i] = call->offset[count - 1];
    return (struct conv_taps){count, call->offset};
}

/* What a filter of the first group meets in x. */
static struct conv_taps taps_forward(const struct call *call)
{
    const int kernel = call->conv->kernel, stride = call->conv->stride;
    const int phases = call->sheets.phases;
    for (int t = 0; t < call->patch; t++) {
        const int channel = t / (kernel * kernel), i = t / kernel % kernel, j = t % kernel;
        const int sheet = (channel * phases + i % stride) * phases + j % stride;
        call->offset[t] = sheet * (ptrdiff_t)call->sheets.pitch + distance(call, i, j);
        call->source[t] = t;
    }
    return taps_end(call, call->patch);
}

/* What a channel of the first group, its phase (down, right), meets in dy. */
static struct conv_taps taps_backward(const struct call *call, int down, int right)
{
    const struct conv *conv = call->conv;
    int count = 0;
    for (int f = 0; f < conv->filters / conv->groups; f++) {
        for (int i = down; i < conv->kernel; i += conv->stride) {
            for (int j = right; j < conv->kernel; j += conv->stride, count++) {
                call->offset[count] = f * (ptrdiff_t)call->sheets.pitch - distance(call, i, j);
                call->source[count] = (ptrdiff_t)f * call->patch + i * conv->kernel + j;
            }
        }
    }
    return taps_end(call, count);
}

/* The places of the images of a block that have numbers of planes of this size. Between the images
 * there are some to spare, or else all are taken as if those of one. */
static struct conv_places places_of(const struct call *call, int images, int height, int width)
{
    const int area = call->sheets.area, count = (height - 1) * call->sheets.width + width;
    if (count + CONV_LANES - 1 <= area)
        return (struct conv_places){images, area, count};
    return (struct conv_places){1, images * area, images * area};
}

/* Rows of a tile: as many as there are left, in powers of two. */
static int tile_rows(const struct call *call, int left)
{
    int rows = call->tiles->rows_max;
    while (rows > left)
        rows /= 2;
    return rows;
}

/* The weights of `rows` sheets that are made, each `stride` behind the one before, as the tiles
 * read them: the rows of a tile side by side, tap by tap. */
static void pack_weights(const struct call *call, int rows, int taps, const float *w,
                         ptrdiff_t stride, float *to)
{
    for (int tile; rows > 0; rows -= tile, w += tile * stride) {
        tile = tile_rows(call, rows);
        for (int t = 0; t < taps; t++)
            for (int row = 0; row < tile; row++)
                *to++ = w[row * stride + call->source[t]];
    }
}

static void make_sheets(const struct call *call, int rows, struct conv_places places,
                        struct conv_taps taps, const float *w, const float *in, float *out)
{
    for (int tile; rows > 0; rows -= tile, out += (size_t)tile * call->sheets.pitch) {
        tile = tile_rows(call, rows);
        for (int t = 0; t < taps.count; t += TAPS_AT_ONCE) {
            const int left = taps.count - t, count = left < TAPS_AT_ONCE ? left : TAPS_AT_ONCE;
            call->tiles->sum(tile, places, (struct conv_taps){count, taps.offset + t}, w, in, out,
                             call->sheets.pitch, t > 0);
            w += (size_t)tile * (size_t)count;
        }
    }
}

/* The part of a channel of an image that lies on the sheet of one phase. */
struct part {
    ptrdiff_t place; /* of its first number */
    size_t first;    /* that number in the image */
    int rows;
    int columns;
};

/* Steps from the first place at or behind `from` that `phase` is of, to before `end`. */
static int steps(int *from, int phase, int end, int stride)
{
    *from += (phase - *from % stride + stride) % stride;
    return *from < end ? (end - *from + stride - 1) / stride : 0;
}

/* Of an image of the block, the phase (down, right). What no weight meets is left out. */
static struct part part_of(const struct call *call, int image, int down, int right)
{
    const struct conv *conv = call->conv;
    const int stride = conv->stride, height = conv->in.height, width = conv->in.width;
    const int met_down = (call->out.height - 1) * stride + conv->kernel;
    const int met_right = (call->out.width - 1) * stride + conv->kernel;
    int row = conv->pad, column = conv->pad;
    struct part part;
    part.rows = steps(&row, down, met_down < height + row ? met_down : height + row, stride);
    part.columns =
        steps(&column, right, met_right < width + column ? met_right : width + column, stride);
    part.place = (ptrdiff_t)image * call->sheets.area + distance(call, row, column);
    part.first = (size_t)(row - conv->pad) * (size_t)width + (size_t)(column - conv->pad);
    return part;
}

/* As memcpy does, which is slow for so few. */
static inline void copy_row(float *to, const float *from, int count)
{
    for (; count >= 16; count -= 16, to += 16, from += 16)
        memcpy(to, from, 16 * sizeof *to);
    for (; count >= 4; count -= 4, to += 4, from += 4)
        memcpy(to, from, 4 * sizeof *to);
    for (; count > 0; count--)
        *to++ = *from++;
}

static void to_sheet(const struct call *call, struct part part, const float *plane, float *sheet)
{
    const int stride = call->conv->stride, width = call->conv->in.width;
    for (int row = 0; row < part.rows; row++) {
        const float *from = plane + part.first + (size_t)row * (size_t)stride * (size_t)width;
        float *to = sheet + part.place + (ptrdiff_t)row * call->sheets.width;
        if (stride == 1)
            copy_row(to, from, part.columns);
        for (int i = 0; i < part.columns && stride > 1; i++)
            to[i] = from[i * stride];
    }
}

static void from_sheet(const struct call *call, struct part part, const float *sheet, float *plane)
{
    const int stride = call->conv->stride, width = call->conv->in.width;
    for (int row = 0; row < part.rows; row++) {
        const float *from = sheet + part.place + (ptrdiff_t)row * call->sheets.width;
        float *to = plane + part.first + (size_t)row * (size_t)stride * (size_t)width;
        if (stride == 1)
            copy_row(to, from, part.columns);
        for (int i = 0; i < part.columns && stride > 1; i++)
            to[i * stride] = from[i];
    }
}

/* x of the images of a block. */
static void spread_inputs(const struct call *call, int images, const float *x)
{
    const struct shape in = call->conv->in;
    const size_t area = (size_t)in.height * (size_t)in.width;
    const int phases = call->sheets.phases;
    for (int image = 0; image < images; image++, x += shape_size(in)) {
        for (int phase = 0; phase < phases * phases; phase++) {
            const struct part part = part_of(call, image, phase / phases, phase % phases);
            for (int channel = 0; channel < in.channels; channel++)
                to_sheet(call, part, x + (size_t)channel * area,
                         call->in +
                             (size_t)(channel * phases * phases + phase) * call->sheets.pitch);
        }
    }
}

/* y[place] = sheet[place] + b for an image's channel. */
EACH_WIDTH static void collect_plane(const struct call *call, const float *sheet, float b, float *y)
{
    for (int row = 0; row < call->out.height; row++) {
        for (int column = 0; column < call->out.width; column++)
            y[column] = sheet[column] + b;
        sheet += call->sheets.width;
        y += call->out.width;
    }
}

static void collect_outputs(const struct call *call, int images, const float *b, float *y)
{
    const size_t area = (size_t)call->out.height * (size_t)call->out.width;
    for (int image = 0; image < images; image++) {
        for (int f = 0; f < call->conv->filters; f++, y += area)
            collect_plane(call,
                          call->made + (size_t)f * call->sheets.pitch +
                              (size_t)image * (size_t)call->sheets.area,
                          b ? b[f] : 0, y);
    }
}

static void collect_inputs(const struct call *call, int images, int phase, float *dx)
{
    const struct shape in = call->conv->in;
    const int phases = call->sheets.phases;
    for (int image = 0; image < images; image++) {
        const struct part part = part_of(call, image, phase / phases, phase % phases);
        for (int channel = 0; channel < in.channels; channel++, dx += in.height * in.width)
            from_sheet(call, part, call->made + (size_t)channel * call->sheets.pitch, dx);
    }
}

/* Sheets of a group of channels, or of filters. */
static size_t sheets_before(const struct call *call, int group, int all, int each)
{
    return (size_t)(all / call->conv->groups * group * each) * call->sheets.pitch;
}

static float *group_in(const struct call *call, int group)
{
    const int phases = call->sheets.phases;
    return call->in + sheets_before(call, group, call->conv->in.channels, phases * phases);
}

static float *group_slope(const struct call *call, int group)
{
    return call->slope + sheets_before(call, group, call->conv->filters, 1);
}

static int block_of(const struct call *call, int batch)
{
    return batch < call->sheets.images ? batch : call->sheets.images;
}

void cpu_conv_forward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                      const float *w, const float *b, enum activation activation, float *y)
{
    const struct call call = call_begin(backend, conv, batch, false);
    const struct conv_taps taps = taps_forward(&call);
    const int filters = conv->filters / conv->groups;
    const size_t group_weights = (size_t)filters * (size_t)call.patch;
    for (int group = 0; group < conv->groups; group++)
        pack_weights(&call, filters, taps.count, w + (size_t)group * group_weights, call.patch,
                     call.w + (size_t)group * group_weights);
    for (int images; batch > 0; batch -= images) {
        images = block_of(&call, batch);
        spread_inputs(&call, images, x);
        for (int group = 0; group < conv->groups; group++)
            make_sheets(&call, filters, places_of(&call, images, call.out.height, call.out.width),
                        taps, call.w + (size_t)group * group_weights, group_in(&call, group),
                        call.made + sheets_before(&call, group, conv->filters, 1));
        const size_t outputs = (size_t)images * shape_size(call.out);
        collect_outputs(&call, images, b, y);
        cpu_activate(backend, activation, outputs, y, y);
        x += (size_t)images * shape_size(conv->in);
        y += outputs;
    }
}

/* dy of the images of a block. */
static void spread_slopes(const struct call *call, int images, const float *dy)
{
    const struct sheets *sheets = &call->sheets;
    for (int image = 0; image < images; image++) {
        for (int f = 0; f < call->conv->filters; f++) {
            float *to = call->slope + (size_t)f * sheets->pitch + (size_t)(image * sheets->area);
            for (int row = 0; row < call->out.height; row++, dy += call->out.width)
                copy_row(to + row * sheets->width, dy, call->out.width);
        }
    }
    for (int f = 0; f < call->conv->filters && images < sheets->images; f++)
        memset(call->slope + (size_t)f * sheets->pitch + (size_t)(images * sheets->area), 0,
               CONV_LANES * sizeof *dy);
}

static void make_dw(const struct call *call, int batch, const float *x, const float *dy, float *dw)
{
    const struct conv *conv = call->conv;
    const int filters = conv->filters / conv->groups;
    const struct conv_taps taps = taps_forward(call);
    memset(dw, 0, (size_t)conv->filters * (size_t)call->patch * sizeof *dw);
    for (int images; batch > 0; batch -= images) {
        images = block_of(call, batch);
        spread_inputs(call, images, x);
        spread_slopes(call, images, dy);
        for (int group = 0; group < conv->groups; group++)
            call->tiles->dot(filters, places_of(call, images, call->out.height, call->out.width),
                             taps, group_slope(call, group), call->sheets.pitch,
                             group_in(call, group),
                             dw + (size_t)(group * filters) * (size_t)call->patch);
        x += (size_t)images * shape_size(conv->in);
        dy += (size_t)images * shape_size(call->out);
    }
}

/* One phase of dx, of all images. */
static void make_dx(const struct call *call, int phase, int batch, const float *w, const float *dy,
                    float *dx)
{
    const struct conv *conv = call->conv;
    const int phases = call->sheets.phases, channels = conv->in.channels / conv->groups;
    const struct conv_taps taps = taps_backward(call, phase / phases, phase % phases);
    const size_t packed = (size_t)channels * (size_t)taps.count; /* of a group */
    for (int group = 0; group < conv->groups; group++)
        pack_weights(call, channels, taps.count,
                     w + (size_t)(group * (conv->filters / conv->groups)) * (size_t)call->patch,
                     conv->kernel * conv->kernel, call->w + (size_t)group * packed);
    for (int images; batch > 0; batch -= images) {
        images = block_of(call, batch);
        const struct conv_places places =
            conv->stride == 1 ? places_of(call, images, conv->in.height, conv->in.width)
                              : (struct conv_places){1, 0, images * call->sheets.area};
        spread_slopes(call, images, dy);
        for (int group = 0; group < conv->groups; group++)
            make_sheets(call, channels, places, taps, call->w + (size_t)group * packed,
                        group_slope(call, group),
                        call->made + sheets_before(call, group, conv->in.channels, 1));
        collect_inputs(call, images, phase, dx);
        dx += (size_t)images * shape_size(conv->in);
        dy += (size_t)images * shape_size(call->out);
    }
}

/* db = Σ of each filter's planes. */
EACH_WIDTH static void add_planes(int batch, int filters, int places, const float *dy, float *db)
{
    memset(db, 0, (size_t)filters * sizeof *db);
    for (int image = 0; image < batch; image++)
        for (int f = 0; f < filters; f++, dy += places)
            db[f] += vector_sum(dy, places);
}

void cpu_conv_backward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                       const float *w, const float *y, enum activation activation, float *dy,
                       float *dx, float *dw, float *db)
{
    const struct call call = call_begin(backend, conv, batch, true);
    cpu_activate_backward(backend, activation, (size_t)batch * shape_size(call.out), y, dy, dy);
    if (db)
        add_planes(batch, conv->filters, call.out.height * call.out.width, dy, db);
    make_dw(&call, batch, x, dy, dw);
    if (dx && conv->stride > 1)
        memset(dx, 0, (size_t)batch * shape_size(conv->in) * sizeof *dx);
    for (int phase = 0; phase < call.sheets.phases * call.sheets.phases && dx; phase++)
        make_dx(&call, phase, batch, w, dy, dx);
}
