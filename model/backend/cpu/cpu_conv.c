/* Convolutions on the CPU. Images are laid out on sheets (cpu_conv_sheets.h), and sums over them
 * are computed tile by tile (cpu_conv_tiles.h). Threads divide the images among them, or for dw the
 * filters, so the result does not depend on the number of threads.
 */
#include <stdint.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_conv_sheets.h"
#include "backend/cpu/cpu_conv_tiles.h"
#include "backend/cpu/cpu_team.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

/* Weights of each row that a tile multiplies at once, few enough to fit the L1 cache. */
#define TAPS_AT_ONCE 256

/* Arguments of a convolution's forward or backward pass, named as in backend.h. */
struct operands {
    struct backend *backend;
    const struct conv *conv;
    int batch;
    enum activation activation;
    const float *x;
    const float *w;
    const float *b;
    float *y;
    float *dy;
    float *dx;
    float *dw;
    float *db;
};

/* Computation of one result: y, dw, or one phase of dx. It reads input sheets and, except for dw,
 * writes output sheets (cpu_conv_sheets.h). A row of weights produces one output sheet. A tap is
 * one weight of a row, with the input that it multiplies. */
struct call {
    struct operands operands;
    struct team *team;
    struct sheets sheets;
    const struct conv_tiles *tiles;
    int patch;
    int phase;             /* phase of dx (cpu_conv_sheets.h) */
    struct conv_taps taps; /* taps of the first row of the first group */
    ptrdiff_t *offset;     /* [taps] distance from an output position to the tap's input */
    ptrdiff_t *source;     /* [taps] index of the tap's weight in its row */
    float *w;              /* weights of all groups, packed by pack_weights */
    float *scratches;      /* for each thread: its input sheets, then its output sheets */
    size_t read_floats;    /* size of a thread's input sheets, in floats */
    size_t scratch_floats; /* size of all sheets of a thread, in floats */
};

static size_t whole_lines(size_t floats)
{
    return (floats + CONV_LANES - 1) / CONV_LANES * CONV_LANES;
}

/* Returns a struct call whose threads each have `read` input sheets and `made` output sheets, for
 * blocks of at most images_max images. */
static struct call call_begin(const struct operands *operands, int images_max, size_t read,
                              size_t made)
{
    const struct conv *conv = operands->conv;
    CHECK(conv->stride >= 1 && conv->groups >= 1 && operands->batch >= 0);
    CHECK(conv->in.channels % conv->groups == 0 && conv->filters % conv->groups == 0);
    struct call call = {.operands = *operands,
                        .team = cpu_team(operands->backend),
                        .sheets = sheets_of(conv, images_max),
                        .tiles = conv_tiles(),
                        .patch = conv_patch(conv)};
    const size_t filters = (size_t)conv->filters, channels = (size_t)conv->in.channels;
    /* upper bound for both passes: channels that a filter reads plus filters that read a
     * channel */
    const size_t met = (filters + channels) / (size_t)conv->groups;
    const size_t taps = met * (size_t)(conv->kernel * conv->kernel) + CONV_EXTRA;
    const size_t weights = filters * (size_t)call.patch;
    const size_t tables = whole_lines(2 * taps * sizeof(ptrdiff_t) / sizeof(float) + weights);
    call.read_floats = read * call.sheets.pitch;
    call.scratch_floats = call.read_floats + made * call.sheets.pitch;
    const size_t threads = (size_t)team_threads(call.team);
    float *scratch = cpu_scratch(operands->backend, tables + threads * call.scratch_floats);
    call.offset = (ptrdiff_t *)(void *)scratch;
    call.source = call.offset + taps;
    call.w = (float *)(void *)(call.source + taps);
    call.scratches = scratch + tables;
    return call;
}

/* Clears a thread's input sheets, and returns their first position. */
static float *read_sheets(const struct call *call, int thread)
{
    float *scratch = call->scratches + (size_t)thread * call->scratch_floats;
    memset(scratch, 0, call->read_floats * sizeof *scratch);
    return scratch + call->sheets.margin;
}

static float *made_sheets(const struct call *call, int thread)
{
    return call->scratches + (size_t)thread * call->scratch_floats + call->read_floats +
           call->sheets.margin;
}

static size_t in_sheets(const struct conv *conv)
{
    const size_t phases = (size_t)int_min(conv->stride, conv->kernel);
    return (size_t)conv->in.channels * phases * phases;
}

static void set_taps(struct call *call, int count)
{
    for (int i = 0; i < CONV_EXTRA; i++)
        call->offset[count + i] = call->offset[count - 1];
    call->taps = (struct conv_taps){count, call->offset};
}

/* Sets the taps of a filter, which read sheets of x. */
static void set_taps_of_filter(struct call *call)
{
    const int kernel = call->operands.conv->kernel, stride = call->operands.conv->stride;
    const int phases = call->sheets.phases;
    for (int t = 0; t < call->patch; t++) {
        const int channel = t / (kernel * kernel), i = t / kernel % kernel, j = t % kernel;
        const int sheet = (channel * phases + i % stride) * phases + j % stride;
        call->offset[t] =
            sheet * (ptrdiff_t)call->sheets.pitch + sheets_distance(&call->sheets, i, j);
        call->source[t] = t;
    }
    set_taps(call, call->patch);
}

/* Sets the taps of a channel in the phase of dx, which read sheets of dy. */
static void set_taps_of_channel(struct call *call)
{
    const struct conv *conv = call->operands.conv;
    const int down = call->phase / call->sheets.phases, right = call->phase % call->sheets.phases;
    int count = 0;
    for (int f = 0; f < conv->filters / conv->groups; f++) {
        for (int i = down; i < conv->kernel; i += conv->stride) {
            for (int j = right; j < conv->kernel; j += conv->stride, count++) {
                call->offset[count] =
                    f * (ptrdiff_t)call->sheets.pitch - sheets_distance(&call->sheets, i, j);
                call->source[count] = (ptrdiff_t)f * call->patch + i * conv->kernel + j;
            }
        }
    }
    set_taps(call, count);
}

/* Returns the number of rows in the next tile: a power of two, at most `left`. */
static int tile_rows(const struct call *call, int left)
{
    int rows = call->tiles->rows_max;
    while (rows > left)
        rows /= 2;
    return rows;
}

/* Packs the weights of a group in the order in which tiles read them: for each tile, tap by tap,
 * the weights of its rows side by side. The rows of `w` are `stride` numbers apart. */
static void pack_group(const struct call *call, int rows, const float *w, ptrdiff_t stride,
                       float *to)
{
    for (int tile; rows > 0; rows -= tile, w += tile * stride) {
        tile = tile_rows(call, rows);
        for (int t = 0; t < call->taps.count; t++)
            for (int row = 0; row < tile; row++)
                *to++ = w[row * stride + call->source[t]];
    }
}

static void pack_weights(const struct call *call, int rows, ptrdiff_t stride)
{
    const struct conv *conv = call->operands.conv;
    const size_t weights = (size_t)(conv->filters / conv->groups) * (size_t)call->patch;
    for (int group = 0; group < conv->groups; group++)
        pack_group(call, rows, call->operands.w + (size_t)group * weights, stride,
                   call->w + (size_t)(group * rows) * (size_t)call->taps.count);
}

/* Computes `rows` output sheets of each group; each group has `met` input sheets. */
static void make_sheets(const struct call *call, int rows, int met, struct conv_places places,
                        const float *in, float *out)
{
    const float *w = call->w;
    const size_t pitch = call->sheets.pitch;
    const int all = rows * call->operands.conv->groups;
    for (int row = 0, tile; row < all; row += tile) {
        tile = tile_rows(call, rows - row % rows);
        for (int t = 0, count; t < call->taps.count; t += count) {
            count = int_min(call->taps.count - t, TAPS_AT_ONCE);
            call->tiles->sum(tile, places, (struct conv_taps){count, call->offset + t}, w,
                             in + (size_t)(row / rows * met) * pitch, out + (size_t)row * pitch,
                             pitch, t > 0);
            w += (size_t)tile * (size_t)count;
        }
    }
}

/* Computes which of `count` items a thread processes: *first .. *end-1. Items are divided among
 * threads in whole units of `unit` items. */
static void take_part(const struct call *call, int thread, int count, int unit, int *first,
                      int *end)
{
    const int64_t threads = team_threads(call->team), units = (count + unit - 1) / unit;
    *first = (int)(units * thread / threads) * unit;
    *end = (int)(units * (thread + 1) / threads) * unit;
    *end = int_min(*end, count);
}

static int block_of(const struct call *call, int left)
{
    return int_min(left, call->sheets.images);
}

/* Computes y for a thread's images. */
static void make_y(void *state, int thread)
{
    const struct call *call = state;
    const struct operands *of = &call->operands;
    const struct conv *conv = of->conv;
    const struct shape out = call->sheets.out;
    float *in = read_sheets(call, thread), *made = made_sheets(call, thread);
    int image, end;
    take_part(call, thread, of->batch, 1, &image, &end);
    for (int images; image < end; image += images) {
        images = block_of(call, end - image);
        float *y = of->y + (size_t)image * shape_size(out);
        sheets_spread_inputs(&call->sheets, images, of->x + (size_t)image * shape_size(conv->in),
                             in);
        make_sheets(call, conv->filters / conv->groups, (int)in_sheets(conv) / conv->groups,
                    sheets_places(&call->sheets, images, out.height, out.width), in, made);
        sheets_collect_outputs(&call->sheets, images, made, of->b, y);
        cpu_activation.forward(of->backend, of->activation, (size_t)images * shape_size(out),
                               floats(y), floats(y));
    }
}

static void cpu_conv_forward(struct backend *backend, const struct conv *conv, int batch,
                             const float *x, const float *w, const float *b,
                             enum activation activation, float *y)
{
    const struct operands operands = {.backend = backend,
                                      .conv = conv,
                                      .batch = batch,
                                      .activation = activation,
                                      .x = x,
                                      .w = w,
                                      .b = b,
                                      .y = y};
    const int threads = team_threads(cpu_team(backend));
    struct call call = call_begin(&operands, (batch + threads - 1) / threads, in_sheets(conv),
                                  (size_t)conv->filters);
    set_taps_of_filter(&call);
    pack_weights(&call, conv->filters / conv->groups, call.patch);
    team_run(call.team, make_y, &call);
}

/* Overwrites dy with the gradient before the activation, for a thread's images. */
static void make_dy(void *state, int thread)
{
    const struct call *call = state;
    const struct operands *of = &call->operands;
    const size_t size = shape_size(call->sheets.out);
    int image, end;
    take_part(call, thread, of->batch, 1, &image, &end);
    if (image < end)
        cpu_activation.backward(of->backend, of->activation, (size_t)(end - image) * size,
                                floats(of->y + (size_t)image * size),
                                floats(of->dy + (size_t)image * size),
                                floats(of->dy + (size_t)image * size));
}

/* Computes db of filters first .. end-1: the sum of each filter's planes of dy. */
EACH_WIDTH static void add_planes(const struct call *call, int first, int end)
{
    const struct operands *of = &call->operands;
    const int places = call->sheets.out.height * call->sheets.out.width;
    memset(of->db + first, 0, (size_t)(end - first) * sizeof *of->db);
    for (int image = 0; image < of->batch; image++) {
        const float *planes = of->dy + (size_t)image * shape_size(call->sheets.out);
        for (int f = first; f < end; f++)
            of->db[f] += vector_sum(planes + (size_t)f * (size_t)places, places);
    }
}

/* Adds a block's contribution to dw of filters first .. end-1. gradient: sheets of dy of these
 * filters. */
static void add_block(const struct call *call, int images, int first, int end, const float *in,
                      const float *gradient)
{
    const struct conv *conv = call->operands.conv;
    const struct shape out = call->sheets.out;
    const struct conv_places places = sheets_places(&call->sheets, images, out.height, out.width);
    const int in_group = conv->filters / conv->groups;
    for (int f = first, next; f < end; f = next) {
        const int group = f / in_group;
        next = int_min((group + 1) * in_group, end);
        call->tiles->dot(next - f, places, call->taps,
                         gradient + (size_t)(f - first) * call->sheets.pitch, call->sheets.pitch,
                         in + (size_t)group * (in_sheets(conv) / (size_t)conv->groups) *
                                  call->sheets.pitch,
                         call->operands.dw + (size_t)f * (size_t)call->patch);
    }
}

/* Computes dw and db for a thread's filters. */
static void make_dw(void *state, int thread)
{
    const struct call *call = state;
    const struct operands *of = &call->operands;
    int first, end;
    take_part(call, thread, of->conv->filters, 4, &first, &end);
    if (first >= end)
        return;
    if (of->db)
        add_planes(call, first, end);
    memset(of->dw + (size_t)first * (size_t)call->patch, 0,
           (size_t)(end - first) * (size_t)call->patch * sizeof *of->dw);
    float *in = read_sheets(call, thread);
    float *gradient = in + in_sheets(of->conv) * call->sheets.pitch;
    for (int image = 0, images; image < of->batch; image += images) {
        images = block_of(call, of->batch - image);
        sheets_spread_inputs(&call->sheets, images,
                             of->x + (size_t)image * shape_size(of->conv->in), in);
        sheets_spread_gradients(&call->sheets, images, first, end,
                                of->dy + (size_t)image * shape_size(call->sheets.out), gradient);
        add_block(call, images, first, end, in, gradient);
    }
}

/* Computes one phase of dx for a thread's images. */
static void make_dx(void *state, int thread)
{
    const struct call *call = state;
    const struct operands *of = &call->operands;
    const struct conv *conv = of->conv;
    const size_t size = shape_size(conv->in);
    float *gradient = read_sheets(call, thread), *made = made_sheets(call, thread);
    int image, end;
    take_part(call, thread, of->batch, 1, &image, &end);
    for (int images; image < end; image += images) {
        images = block_of(call, end - image);
        const struct conv_places places =
            conv->stride == 1
                ? sheets_places(&call->sheets, images, conv->in.height, conv->in.width)
                : (struct conv_places){1, 0, images * call->sheets.area};
        sheets_spread_gradients(&call->sheets, images, 0, conv->filters,
                                of->dy + (size_t)image * shape_size(call->sheets.out), gradient);
        make_sheets(call, conv->in.channels / conv->groups, conv->filters / conv->groups, places,
                    gradient, made);
        sheets_collect_inputs(&call->sheets, images, call->phase, made,
                              of->dx + (size_t)image * size);
    }
}

/* Computes dx phase by phase, since each phase has its own taps and sheets. */
static void backward_to_input(const struct operands *operands)
{
    const struct conv *conv = operands->conv;
    const int threads = team_threads(cpu_team(operands->backend));
    struct call call = call_begin(operands, (operands->batch + threads - 1) / threads,
                                  (size_t)conv->filters, (size_t)conv->in.channels);
    if (conv->stride > 1) /* pixels that no filter reads have gradient 0 */
        memset(operands->dx, 0,
               (size_t)operands->batch * shape_size(conv->in) * sizeof *operands->dx);
    for (; call.phase < call.sheets.phases * call.sheets.phases; call.phase++) {
        set_taps_of_channel(&call);
        pack_weights(&call, conv->in.channels / conv->groups, conv->kernel * conv->kernel);
        team_run(call.team, make_dx, &call);
    }
}

static void cpu_conv_backward(struct backend *backend, const struct conv *conv, int batch,
                              const float *x, const float *w, const float *y,
                              enum activation activation, float *dy, float *dx, float *dw,
                              float *db)
{
    const struct operands operands = {.backend = backend,
                                      .conv = conv,
                                      .batch = batch,
                                      .activation = activation,
                                      .x = x,
                                      .w = w,
                                      .y = (float *)y, /* the backward pass only reads y */
                                      .dy = dy,
                                      .dx = dx,
                                      .dw = dw,
                                      .db = db};
    struct call call = call_begin(&operands, batch, in_sheets(conv) + (size_t)conv->filters, 0);
    team_run(call.team, make_dy, &call);
    set_taps_of_filter(&call);
    team_run(call.team, make_dw, &call);
    if (dx)
        backward_to_input(&operands);
}

const struct conv_operations cpu_conv = {
    .forward = cpu_conv_forward,
    .backward = cpu_conv_backward,
};
