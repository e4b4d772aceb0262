#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

/* Computes the outputs of one row of windows. Compares one position of all windows of the row at a
 * time, without a branch. The position of the maximum is nearly random, so mispredicted branches
 * would take most of the time. There are two inner loops, because compilers turn a loop that sets
 * both y and winner back into a branch. The function is inline, so that compilers see the constant
 * if the window is 2. */
static inline void pool_row(int window, int width, int out_width, const float *restrict x,
                            float *restrict y, uint8_t *restrict winner)
{
    for (int i = 0; i < out_width; i++) {
        y[i] = x[i * window];
        winner[i] = 0;
    }
    for (int place = 1; place < window * window; place++) {
        const float *candidate = x + (place / window) * width + place % window;
        for (int i = 0; i < out_width; i++) {
            const uint8_t holder = winner[i];
            winner[i] = candidate[i * window] > y[i] ? (uint8_t)place : holder;
        }
        for (int i = 0; i < out_width; i++) {
            const float best = y[i];
            y[i] = candidate[i * window] > best ? candidate[i * window] : best;
        }
    }
}

static void cpu_pool_forward(struct backend *backend, const struct pool *pool, int batch,
                             const float *x, float *y, uint8_t *winner)
{
    (void)backend;
    const int window = pool->window, width = pool->in.width;
    const struct shape out = pool_output(pool);
    const size_t planes = (size_t)batch * (size_t)out.channels;
    for (size_t plane = 0; plane < planes; plane++) {
        const float *from = x + plane * (size_t)pool->in.height * (size_t)width;
        for (int row = 0; row < out.height; row++) {
            if (window == 2)
                pool_row(2, width, out.width, from, y, winner);
            else
                pool_row(window, width, out.width, from, y, winner);
            from += (size_t)window * (size_t)width;
            y += out.width;
            winner += out.width;
        }
    }
}

/* Gives dy of each window to the window's largest input. All other inputs get gradient 0. */
static void cpu_pool_backward(struct backend *backend, const struct pool *pool, int batch,
                              const float *dy, const uint8_t *winner, float *dx)
{
    (void)backend;
    const int window = pool->window, width = pool->in.width;
    const struct shape out = pool_output(pool);
    const size_t planes = (size_t)batch * (size_t)out.channels;
    memset(dx, 0, (size_t)batch * shape_size(pool->in) * sizeof *dx);
    for (size_t plane = 0; plane < planes; plane++) {
        float *to = dx + plane * (size_t)pool->in.height * (size_t)width;
        for (int row = 0; row < out.height; row++) {
            for (int i = 0; i < out.width; i++) {
                const int place = *winner++;
                to[(place / window) * width + i * window + place % window] = *dy++;
            }
            to += (size_t)window * (size_t)width;
        }
    }
}

#define GELU_ROOT  0.79788456080286536f /* √(2/π) */
#define GELU_CUBIC 0.044715f

EACH_WIDTH static void gelu(size_t count, float *y)
{
    for (size_t i = 0; i < count; i++) {
        const float x = y[i], inner = GELU_ROOT * (x + GELU_CUBIC * x * x * x);
        y[i] = 0.5f * x * (1 + vector_tanh(inner));
    }
}

EACH_WIDTH static void gelu_backward(size_t count, const float *restrict kept, float *restrict dx)
{
    for (size_t i = 0; i < count; i++) {
        const float x = kept[i], inner = GELU_ROOT * (x + GELU_CUBIC * x * x * x);
        const float t = vector_tanh(inner);
        const float gradient = GELU_ROOT * (1 + 3 * GELU_CUBIC * x * x);
        dx[i] *= 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * gradient;
    }
}

EACH_WIDTH static void silu(size_t count, float *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] *= vector_sigmoid(y[i]);
}

EACH_WIDTH static void silu_backward(size_t count, const float *restrict kept, float *restrict dx)
{
    for (size_t i = 0; i < count; i++) {
        const float gate = vector_sigmoid(kept[i]);
        dx[i] *= gate * (1 + kept[i] * (1 - gate));
    }
}

/* RELU keeps a NaN; `y > 0 ? y : 0` would hide it as 0. */
static void cpu_activate(struct backend *backend, enum activation activation, size_t count,
                         struct numbers xs, struct numbers ys)
{
    const float *x = floats_of(xs);
    float *y = floats_of(ys);
    (void)backend;
    if (x != y)
        memcpy(y, x, count * sizeof *y); /* the loops below vectorise on a single array */
    switch (activation) {
    case LINEAR:
        return;
    case RELU:
        for (size_t i = 0; i < count; i++)
            y[i] = y[i] < 0 ? 0 : y[i];
        return;
    case SIGMOID:
        for (size_t i = 0; i < count; i++)
            y[i] = 1 / (1 + expf(-y[i]));
        return;
    case TANH:
        for (size_t i = 0; i < count; i++)
            y[i] = tanhf(y[i]);
        return;
    case GELU:
        gelu(count, y);
        return;
    case SILU:
        silu(count, y);
        return;
    }
    CHECK(false);
}

static void cpu_activate_backward(struct backend *backend, enum activation activation, size_t count,
                                  struct numbers kepts, struct numbers dys, struct numbers dxs)
{
    const float *restrict kept = floats_of(kepts);
    const float *dy = floats_of(dys);
    float *restrict dx = floats_of(dxs);
    (void)backend;
    if (dx != dy)
        memcpy(dx, dy, count * sizeof *dx);
    switch (activation) {
    case LINEAR:
        return;
    case RELU:
        for (size_t i = 0; i < count; i++) {
            const float gradient = dx[i];
            dx[i] = kept[i] > 0 ? gradient : 0;
        }
        return;
    case SIGMOID:
        for (size_t i = 0; i < count; i++)
            dx[i] *= kept[i] * (1 - kept[i]);
        return;
    case TANH:
        for (size_t i = 0; i < count; i++)
            dx[i] *= 1 - kept[i] * kept[i];
        return;
    case GELU:
        gelu_backward(count, kept, dx);
        return;
    case SILU:
        silu_backward(count, kept, dx);
        return;
    }
    CHECK(false);
}

const struct pool_operations cpu_pool = {
    .forward = cpu_pool_forward,
    .backward = cpu_pool_backward,
};

const struct activation_operations cpu_activation = {
    .forward = cpu_activate,
    .backward = cpu_activate_backward,
};
