/* Convolutions: an image's patches become the columns of a matrix, and one product of it with the
 * filters is all there is to compute (Chellapilla, Puri, Simard 2006). */
#include <cblas.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

/* One image on its way into a matrix product, or out of it. */
struct patches {
    struct shape shape; /* of the image with its padding */
    float *padded;      /* [shape] */
    int height;     /* channels·kernel·kernel: lines of the columns, those of a group together */
    int width;      /* height·width of the output: its places */
    float *columns; /* [height, width] */
};

static struct patches patches_take(struct backend *backend, const struct conv *conv)
{
    const struct shape in = conv->in, out = conv_output(conv);
    struct patches patches = {
        .shape = {.channels = in.channels,
                  .height = in.height + 2 * conv->pad,
                  .width = in.width + 2 * conv->pad},
        .height = in.channels * conv->kernel * conv->kernel,
        .width = out.height * out.width,
    };
    const size_t padded_count = shape_size(patches.shape);
    patches.padded =
        cpu_scratch(backend, padded_count + (size_t)patches.height * (size_t)patches.width);
    patches.columns = patches.padded + padded_count;
    return patches;
}

static float *padded_at(const struct patches *patches, int channel, int row, int column)
{
    const struct shape shape = patches->shape;
    return patches->padded +
           ((size_t)channel * (size_t)shape.height + (size_t)row) * (size_t)shape.width + column;
}

/* Where the output at the start of a row meets weight i of all filters. */
static float *padded_row(const struct conv *conv, const struct patches *patches, int i, int row)
{
    const int kernel = conv->kernel;
    return padded_at(patches, i / (kernel * kernel), i / kernel % kernel + row * conv->stride,
                     i % kernel);
}

/* Line i of the columns: what weight i is multiplied with at each place. */
static void patches_from_image(const struct conv *conv, const struct patches *patches,
                               const float *x)
{
    const struct shape in = conv->in, out = conv_output(conv);
    memset(patches->padded, 0, shape_size(patches->shape) * sizeof *x);
    for (int channel = 0; channel < in.channels; channel++) {
        for (int row = 0; row < in.height; row++, x += in.width)
            memcpy(padded_at(patches, channel, row + conv->pad, conv->pad), x,
                   (size_t)in.width * sizeof *x);
    }
    float *to = patches->columns;
    for (int i = 0; i < patches->height; i++) {
        for (int row = 0; row < out.height; row++, to += out.width) {
            const float *from = padded_row(conv, patches, i, row);
            if (conv->stride == 1)
                memcpy(to, from, (size_t)out.width * sizeof *to);
            for (int column = 0; column < out.width && conv->stride > 1; column++)
                to[column] = from[column * conv->stride];
        }
    }
}

/* The way back: each input gets the sum of what its copies got. */
static void image_from_patches(const struct conv *conv, const struct patches *patches, float *dx)
{
    const struct shape in = conv->in, out = conv_output(conv);
    memset(patches->padded, 0, shape_size(patches->shape) * sizeof *dx);
    const float *from = patches->columns;
    for (int i = 0; i < patches->height; i++) {
        for (int row = 0; row < out.height; row++) {
            float *to = padded_row(conv, patches, i, row);
            for (int column = 0; column < out.width; column++, to += conv->stride)
                *to += *from++;
        }
    }
    for (int channel = 0; channel < in.channels; channel++) {
        for (int row = 0; row < in.height; row++, dx += in.width)
            memcpy(dx, padded_at(patches, channel, row + conv->pad, conv->pad),
                   (size_t)in.width * sizeof *dx);
    }
}

/* What one group of filters is multiplied with. */
struct part {
    int filters;
    int patch;  /* weights of a filter */
    int places; /* of the output */
    const float *w;
    float *columns; /* [patch, places] */
};

static struct part part_of(const struct conv *conv, const struct patches *patches, const float *w,
                           int group)
{
    struct part part = {.filters = conv->filters / conv->groups,
                        .patch = conv_patch(conv),
                        .places = patches->width};
    part.w = w + (size_t)group * (size_t)part.filters * (size_t)part.patch;
    part.columns = patches->columns + (size_t)group * (size_t)part.patch * (size_t)part.places;
    return part;
}

void cpu_conv_forward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                      const float *w, const float *b, enum activation activation, float *y)
{
    const struct patches patches = patches_take(backend, conv);
    const size_t in_size = shape_size(conv->in), out_size = shape_size(conv_output(conv));
    for (int i = 0; i < batch; i++, x += in_size, y += out_size) {
        patches_from_image(conv, &patches, x);
        for (size_t at = 0; at < out_size && b; at++)
            y[at] = b[at / (size_t)patches.width];
        for (int group = 0; group < conv->groups; group++) {
            const struct part part = part_of(conv, &patches, w, group);
            cpu_gemm(CblasNoTrans, CblasNoTrans, part.filters, part.places, part.patch, part.w,
                     part.columns, b ? 1 : 0,
                     y + (size_t)group * (size_t)part.filters * (size_t)part.places);
        }
        cpu_activate(backend, activation, out_size, y, y);
    }
}

void cpu_conv_backward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                       const float *w, const float *y, enum activation activation, float *dy,
                       float *dx, float *dw, float *db)
{
    const struct patches patches = patches_take(backend, conv);
    const size_t in_size = shape_size(conv->in), out_size = shape_size(conv_output(conv));
    if (db)
        memset(db, 0, (size_t)conv->filters * sizeof *db);
    for (int i = 0; i < batch; i++, x += in_size, y += out_size, dy += out_size) {
        cpu_activate_backward(backend, activation, out_size, y, dy, dy);
        for (int f = 0; f < conv->filters && db; f++)
            db[f] += vector_sum(dy + (size_t)f * (size_t)patches.width, patches.width);
        patches_from_image(conv, &patches, x);
        for (int group = 0; group < conv->groups; group++) {
            const struct part part = part_of(conv, &patches, w, group);
            const float *slope = dy + (size_t)group * (size_t)part.filters * (size_t)part.places;
            cpu_gemm(CblasNoTrans, CblasTrans, part.filters, part.patch, part.places, slope,
                     part.columns, i > 0, dw + (part.w - w));
            if (dx != NULL)
                cpu_gemm(CblasTrans, CblasNoTrans, part.patch, part.places, part.filters, part.w,
                         slope, 0, part.columns);
        }
        if (dx != NULL)
            image_from_patches(conv, &patches, dx + (size_t)i * in_size);
    }
}
