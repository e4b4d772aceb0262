#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/cpu/cpu.h"
#include "base/error.h"

#define LARGE_BYTES ((size_t)2 << 20)

struct cpu {
    struct backend table; /* first: a pointer to it is a pointer to the struct */
    float *scratch;       /* room for the largest operation met */
    size_t scratch_count;
};

/* Large memory in large pages, if the system has them: a rumor touches entries all over it. */
static void *cpu_take(struct backend *backend, size_t bytes)
{
    (void)backend;
    const size_t align = bytes < LARGE_BYTES ? 64 : LARGE_BYTES;
    const size_t whole = (bytes + align - 1) & ~(align - 1); /* aligned_alloc wants a multiple */
    void *memory = whole >= bytes ? aligned_alloc(align, whole ? whole : align) : NULL;
    if (memory == NULL) {
        (void)fprintf(stderr, "hearsay: no memory for %zu bytes: take a smaller model or batch\n",
                      bytes);
        abort();
    }
    if (align == LARGE_BYTES)
        (void)madvise(memory, whole, MADV_HUGEPAGE);
    return memset(memory, 0, whole);
}

static void cpu_give(struct backend *backend, void *memory)
{
    (void)backend;
    free(memory);
}

static void cpu_copy(struct backend *backend, void *to, const void *from, size_t bytes)
{
    (void)backend;
    if (bytes > 0)
        memcpy(to, from, bytes);
}

static void *cpu_keep(struct backend *backend, const void *from, size_t bytes, bool *far)
{
    void *memory = cpu_take(backend, bytes);
    cpu_copy(backend, memory, from, bytes);
    *far = false;
    return memory;
}

/* A call costs next to nothing here: there is nothing to record. */
static bool cpu_sequence_begin(struct backend *backend, struct sequence *sequence)
{
    (void)backend, (void)sequence;
    return false;
}

static void cpu_sequence_nothing(struct backend *backend, struct sequence *sequence)
{
    (void)backend, (void)sequence;
}

static void cpu_close(struct backend *backend)
{
    struct cpu *cpu = (struct cpu *)backend;
    free(cpu->scratch);
    free(cpu);
}

/* It grows only when an operation larger than all before is met: during the first batch. */
float *cpu_scratch(struct backend *backend, size_t count)
{
    struct cpu *cpu = (struct cpu *)backend;
    if (count > cpu->scratch_count) {
        cpu_give(backend, cpu->scratch);
        cpu->scratch = cpu_take(backend, count * sizeof(float));
        cpu->scratch_count = count;
    }
    return cpu->scratch;
}

/* c[m,n] = a·b + beta·c, row major; a[m,k] and b[k,n], or transposed as they lie in memory. */
static void gemm(CBLAS_TRANSPOSE turn_a, CBLAS_TRANSPOSE turn_b, int m, int n, int k,
                 const float *a, const float *b, float beta, float *c)
{
    int stride_a = turn_a == CblasNoTrans ? k : m;
    int stride_b = turn_b == CblasNoTrans ? n : k;
    cblas_sgemm(CblasRowMajor, turn_a, turn_b, m, n, k, 1, a, stride_a, b, stride_b, beta, c, n);
}

static void cpu_dense_forward(struct backend *backend, int batch, int in, int out, const float *x,
                              const float *w, const float *b, enum activation activation, float *y)
{
    for (int i = 0; i < batch && b; i++)
        memcpy(y + (size_t)i * (size_t)out, b, (size_t)out * sizeof *y);
    gemm(CblasNoTrans, CblasTrans, batch, out, in, x, w, b ? 1 : 0, y);
    cpu_activate(backend, activation, (size_t)batch * (size_t)out, y, y);
}

static void cpu_dense_backward(struct backend *backend, int batch, int in, int out, const float *x,
                               const float *w, const float *y, enum activation activation,
                               float *dy, float *dx, float *dw, float *restrict db)
{
    cpu_activate_backward(backend, activation, (size_t)batch * (size_t)out, y, dy, dy);
    gemm(CblasTrans, CblasNoTrans, out, in, batch, dy, x, 0, dw);
    if (db)
        memset(db, 0, (size_t)out * sizeof *db);
    for (int i = 0; i < batch && db; i++) {
        const float *row = dy + (size_t)i * (size_t)out;
        for (int j = 0; j < out; j++)
            db[j] += row[j];
    }
    if (dx != NULL)
        gemm(CblasNoTrans, CblasNoTrans, batch, in, out, dy, w, 0, dx);
}

/* One image on its way into a matrix product, or out of it. */
struct patches {
    struct shape shape; /* of the image with its padding */
    float *padded;      /* [shape] */
    int height;         /* channels·kernel·kernel: what one output is made of */
    int width;          /* height·width of the output: its places */
    float *columns;     /* [height, width] */
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

/* Where the first output meets weight i of a filter; the other outputs follow as they lie. */
static float *padded_corner(const struct patches *patches, int kernel, int i)
{
    return padded_at(patches, i / (kernel * kernel), i / kernel % kernel, i % kernel);
}

/* Line i of the columns: what weight i of a filter is multiplied with at each place, so that the
 * convolution is one matrix product (Chellapilla, Puri, Simard 2006). */
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
        const float *from = padded_corner(patches, conv->kernel, i);
        for (int row = 0; row < out.height; row++, to += out.width, from += patches->shape.width)
            memcpy(to, from, (size_t)out.width * sizeof *to);
    }
}

/* The way back: each input gets the sum of what its copies got. */
static void image_from_patches(const struct conv *conv, const struct patches *patches, float *dx)
{
    const struct shape in = conv->in, out = conv_output(conv);
    memset(patches->padded, 0, shape_size(patches->shape) * sizeof *dx);
    const float *from = patches->columns;
    for (int i = 0; i < patches->height; i++) {
        float *to = padded_corner(patches, conv->kernel, i);
        for (int row = 0; row < out.height; row++, to += patches->shape.width) {
            for (int column = 0; column < out.width; column++)
                to[column] += *from++;
        }
    }
    for (int channel = 0; channel < in.channels; channel++) {
        for (int row = 0; row < in.height; row++, dx += in.width)
            memcpy(dx, padded_at(patches, channel, row + conv->pad, conv->pad),
                   (size_t)in.width * sizeof *dx);
    }
}

static void cpu_conv_forward(struct backend *backend, const struct conv *conv, int batch,
                             const float *x, const float *w, const float *b,
                             enum activation activation, float *y)
{
    const struct patches patches = patches_take(backend, conv);
    const size_t in_size = shape_size(conv->in);
    for (int i = 0; i < batch; i++, x += in_size) {
        patches_from_image(conv, &patches, x);
        float *image = y;
        for (int f = 0; f < conv->filters; f++) {
            for (int place = 0; place < patches.width; place++)
                *y++ = b[f];
        }
        gemm(CblasNoTrans, CblasNoTrans, conv->filters, patches.width, patches.height, w,
             patches.columns, 1, image);
        cpu_activate(backend, activation, (size_t)(y - image), image, image);
    }
}

/* Eight sums side by side, in a fixed order: vectorises, and loses less than one long sum. */
static float sum(const float *x, int count)
{
    float lanes[8] = {0};
    int i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int half = 0; half < 8; half++)
            lanes[half] += x[i + half];
    }
    float rest = 0;
    for (; i < count; i++)
        rest += x[i];
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])) + rest;
}

static void cpu_conv_backward(struct backend *backend, const struct conv *conv, int batch,
                              const float *x, const float *w, const float *y,
                              enum activation activation, float *dy, float *dx, float *dw,
                              float *db)
{
    const struct patches patches = patches_take(backend, conv);
    const size_t in_size = shape_size(conv->in), out_size = shape_size(conv_output(conv));
    memset(db, 0, (size_t)conv->filters * sizeof *db);
    for (int i = 0; i < batch; i++, x += in_size, y += out_size) {
        const float *image = dy;
        cpu_activate_backward(backend, activation, out_size, y, dy, dy);
        for (int f = 0; f < conv->filters; f++, dy += patches.width)
            db[f] += sum(dy, patches.width);
        patches_from_image(conv, &patches, x);
        gemm(CblasNoTrans, CblasTrans, conv->filters, patches.height, patches.width, image,
             patches.columns, i > 0, dw);
        if (dx == NULL)
            continue;
        gemm(CblasTrans, CblasNoTrans, patches.height, patches.width, conv->filters, w, image, 0,
             patches.columns);
        image_from_patches(conv, &patches, dx);
        dx += in_size;
    }
}

struct backend *backend_cpu(int threads)
{
    CHECK(threads >= 1);
    struct cpu *cpu = calloc(1, sizeof *cpu);
    CHECK(cpu != NULL);
    openblas_set_num_threads(threads);
    cpu->table = (struct backend){
        .name = "cpu",
        .take = cpu_take,
        .give = cpu_give,
        .upload = cpu_copy,
        .download = cpu_copy,
        .keep = cpu_keep,
        .close = cpu_close,
        .sequence_begin = cpu_sequence_begin,
        .sequence_end = cpu_sequence_nothing,
        .sequence_drop = cpu_sequence_nothing,
        .dense_forward = cpu_dense_forward,
        .dense_backward = cpu_dense_backward,
        .conv_forward = cpu_conv_forward,
        .conv_backward = cpu_conv_backward,
        .embed_forward = cpu_embed_forward,
        .embed_backward = cpu_embed_backward,
        .add_shared = cpu_add_shared,
        .sum_shared = cpu_sum_shared,
        .add = cpu_add,
        .copy = cpu_copy_floats,
        .clear = cpu_clear,
        .norm_forward = cpu_norm_forward,
        .norm_backward = cpu_norm_backward,
        .attention_forward = cpu_attention_forward,
        .attention_backward = cpu_attention_backward,
        .rotate = cpu_rotate,
        .swiglu_forward = cpu_swiglu_forward,
        .swiglu_backward = cpu_swiglu_backward,
        .pool_forward = cpu_pool_forward,
        .pool_backward = cpu_pool_backward,
        .activate = cpu_activate,
        .activate_backward = cpu_activate_backward,
        .cross_entropy = cpu_cross_entropy,
        .clip = cpu_clip,
        .sgd = cpu_sgd,
        .adam = cpu_adam,
        .gather = cpu_gather,
        .gather_tokens = cpu_gather_tokens,
        .exchange.survey = cpu_survey,
        .exchange.refine = cpu_refine,
        .exchange.cut = cpu_cut,
        .exchange.apply = cpu_apply,
        .exchange.apply_own = cpu_apply_own,
        .exchange.rebase = cpu_rebase,
        .exchange.digest = cpu_digest,
    };
    return &cpu->table;
}
