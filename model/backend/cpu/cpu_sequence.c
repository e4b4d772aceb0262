/* Operations on sequences except matrix products and attention. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

static void cpu_embed_forward(struct backend *backend, size_t rows, int size, const int32_t *token,
                              struct numbers tables, struct numbers ys)
{
    const float *table = floats_of(tables);
    float *y = floats_of(ys);
    (void)backend;
    const size_t width = (size_t)size;
    for (size_t row = 0; row < rows; row++) {
        CHECK(token[row] >= 0);
        memcpy(y + row * width, table + (size_t)token[row] * width, width * sizeof *y);
    }
}

static void cpu_embed_backward(struct backend *backend, size_t rows, int size, const int32_t *token,
                               struct numbers dys, float *dtable)
{
    const float *dy = floats_of(dys);
    (void)backend;
    for (size_t row = 0; row < rows; row++, dy += size) {
        float *to = dtable + (size_t)token[row] * (size_t)size;
        for (int i = 0; i < size; i++)
            to[i] += dy[i];
    }
}

static void add(size_t count, const float *a, const float *b, float *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = a[i] + b[i];
}

static void cpu_add(struct backend *backend, size_t count, struct numbers a, struct numbers b,
                    struct numbers y)
{
    (void)backend;
    add(count, floats_of(a), floats_of(b), floats_of(y));
}

static void cpu_add_shared(struct backend *backend, int batch, size_t count, struct numbers xs,
                           const float *shared, struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    (void)backend;
    for (int i = 0; i < batch; i++)
        add(count, x + (size_t)i * count, shared, y + (size_t)i * count);
}

static void cpu_sum_shared(struct backend *backend, int batch, size_t count, struct numbers dys,
                           float *dshared)
{
    const float *dy = floats_of(dys);
    (void)backend;
    memset(dshared, 0, count * sizeof *dshared);
    for (int i = 0; i < batch; i++)
        add(count, dy + (size_t)i * count, dshared, dshared);
}

static void cpu_copy_floats(struct backend *backend, size_t count, struct numbers from,
                            struct numbers to)
{
    (void)backend;
    memcpy(floats_of(to), floats_of(from), count * sizeof(float));
}

static void cpu_clear(struct backend *backend, size_t count, float *to)
{
    (void)backend;
    memset(to, 0, count * sizeof *to);
}

EACH_WIDTH static void drop_row(uint32_t begin, uint32_t below, uint32_t size, float scale,
                                const float *restrict x, float *restrict y)
{
    for (uint32_t i = 0; i < size; i++)
        y[i] = dropout_drops(begin, i, below) ? 0 : x[i] * scale;
}

static void cpu_drop(struct backend *backend, const struct dropout *dropout, const uint32_t *draws,
                     struct numbers xs, struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    (void)backend;
    const uint32_t below = dropout_below(dropout->rate);
    const float scale = 1 / (1 - dropout->rate);
    for (int i = 0; i < dropout->batch; i++, x += dropout->size, y += dropout->size)
        drop_row(dropout_begin(draws[i], dropout->layer), below, (uint32_t)dropout->size, scale, x,
                 y);
}

/* Computes the layer norm of a row. The variance is summed from differences to the mean, so that
 * a large mean costs no precision. */
EACH_WIDTH static void norm_row(int size, const float *restrict x, const float *restrict w,
                                const float *restrict b, float *restrict y, float *restrict stats)
{
    const float mean = vector_sum(x, size) / (float)size;
    for (int i = 0; i < size; i++)
        y[i] = x[i] - mean;
    const float variance = vector_dot(y, y, size) / (float)size;
    const float scale = 1 / sqrtf(variance + NORM_EPSILON);
    for (int i = 0; i < size; i++)
        y[i] = y[i] * scale * w[i] + b[i];
    stats[0] = mean;
    stats[1] = scale;
}

EACH_WIDTH static void rms_row(int size, const float *restrict x, const float *restrict w,
                               float *restrict y, float *restrict stats)
{
    const float square = vector_dot(x, x, size) / (float)size;
    const float scale = 1 / sqrtf(square + NORM_EPSILON);
    for (int i = 0; i < size; i++)
        y[i] = x[i] * scale * w[i];
    stats[0] = 0;
    stats[1] = scale;
}

static void cpu_norm_forward(struct backend *backend, size_t rows, int size, struct numbers xs,
                             const float *w, const float *b, struct numbers ys, float *stats)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    (void)backend;
    for (size_t row = 0; row < rows; row++, x += size, y += size, stats += 2) {
        if (b)
            norm_row(size, x, w, b, y, stats);
        else
            rms_row(size, x, w, y, stats);
    }
}

/* Computes dx of a row of a norm, and adds its contribution to dw and db. With scale = 1 /
 * deviation, n = (x - mean) · scale and s = dy · w: dx = scale · (s - mean(s) - n · mean(s·n)). In
 * an RMS norm (db is NULL) the term mean(s) is left out. dx temporarily holds s. */
EACH_WIDTH static void norm_row_backward(int size, const float *restrict x, const float *restrict w,
                                         const float *restrict stats, const float *restrict dy,
                                         float *restrict dx, float *restrict dw, float *restrict db)
{
    const float mean = stats[0], scale = stats[1];
    float along[LANES] = {0}, sum = 0;
    int i = 0;
    for (; i + LANES <= size; i += LANES)
        for (int k = 0; k < LANES; k++) {
            const float n = (x[i + k] - mean) * scale;
            const float s = dy[i + k] * w[i + k];
            along[k] += s * n;
            dw[i + k] += dy[i + k] * n;
            dx[i + k] = s;
        }
    for (; i < size; i++) {
        const float n = (x[i] - mean) * scale;
        dx[i] = dy[i] * w[i];
        dw[i] += dy[i] * n;
        along[0] += dx[i] * n;
    }
    if (db) {
        sum = vector_sum(dx, size) / (float)size;
        for (int j = 0; j < size; j++)
            db[j] += dy[j];
    }
    const float gradient = lanes_sum(along) / (float)size;
    for (int j = 0; j < size; j++)
        dx[j] = scale * (dx[j] - sum - (x[j] - mean) * scale * gradient);
}

static void cpu_add_norm_forward(struct backend *backend, size_t rows, int size, struct numbers a,
                                 struct numbers b, struct numbers sum, const float *w,
                                 const float *norm_b, struct numbers y, float *stats)
{
    cpu_add(backend, rows * (size_t)size, a, b, sum);
    cpu_norm_forward(backend, rows, size, sum, w, norm_b, y, stats);
}

static void cpu_norm_backward(struct backend *backend, size_t rows, int size, struct numbers xs,
                              const float *w, const float *stats, struct numbers dys,
                              struct numbers passeds, struct numbers dxs, float *dw, float *db)
{
    const size_t width = (size_t)size;
    const float *x = floats_of(xs);
    const float *dy = floats_of(dys);
    const float *passed = floats_of(passeds);
    float *dx = floats_of(dxs), *own = passed ? cpu_scratch(backend, width) : NULL;
    memset(dw, 0, width * sizeof *dw);
    if (db)
        memset(db, 0, width * sizeof *db);
    for (size_t row = 0; row < rows; row++, x += size, dy += size, dx += size, stats += 2) {
        norm_row_backward(size, x, w, stats, dy, own ? own : dx, dw, db);
        if (own)
            add(width, own, passed + row * width, dx);
    }
}

EACH_WIDTH static void swiglu_row(int size, const float *restrict x, float *restrict y)
{
    for (int i = 0; i < size; i++)
        y[i] = x[i] * vector_sigmoid(x[i]) * x[size + i];
}

static void cpu_swiglu_forward(struct backend *backend, size_t rows, int size, struct numbers xs,
                               struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    (void)backend;
    for (size_t row = 0; row < rows; row++, x += 2 * size, y += size)
        swiglu_row(size, x, y);
}

EACH_WIDTH static void swiglu_row_backward(int size, const float *restrict x,
                                           const float *restrict dy, float *restrict dx)
{
    for (int i = 0; i < size; i++) {
        const float gate = vector_sigmoid(x[i]), silu = x[i] * gate;
        dx[i] = dy[i] * x[size + i] * (gate + silu * (1 - gate));
        dx[size + i] = dy[i] * silu;
    }
}

static void cpu_swiglu_backward(struct backend *backend, size_t rows, int size, struct numbers xs,
                                struct numbers dys, struct numbers dxs)
{
    const float *x = floats_of(xs);
    const float *dy = floats_of(dys);
    float *dx = floats_of(dxs);
    (void)backend;
    for (size_t row = 0; row < rows; row++, x += 2 * size, dx += 2 * size, dy += size)
        swiglu_row_backward(size, x, dy, dx);
}

const struct element_operations cpu_elements = {
    .add_shared = cpu_add_shared,
    .sum_shared = cpu_sum_shared,
    .add = cpu_add,
    .copy = cpu_copy_floats,
    .drop = cpu_drop,
    .clear = cpu_clear,
};

const struct sequence_operations cpu_sequence = {
    .embed = cpu_embed_forward,
    .embed_backward = cpu_embed_backward,
    .norm = cpu_norm_forward,
    .norm_backward = cpu_norm_backward,
    .add_norm = cpu_add_norm_forward,
    .swiglu = cpu_swiglu_forward,
    .swiglu_backward = cpu_swiglu_backward,
};
