/* Optimizers on the CPU: clipping, SGD, AdamW, LAMB, Muon. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cpu/cpu_vector.h"
#include "base/error.h"

/* Returns the norm of x[count]. Adds the sums of parts in double precision, because a float sum of
 * 100 million squares loses too much. */
static double length_of(size_t count, const float *x)
{
    double square = 0;
    for (size_t i = 0; i < count;) {
        const int part = count - i < 4096 ? (int)(count - i) : 4096;
        square += (double)vector_dot(x + i, x + i, part);
        i += (size_t)part;
    }
    return sqrt(square);
}

static void cpu_clip(struct backend *backend, const float *most, size_t count, const float *g,
                     float *factor)
{
    (void)backend;
    const double length = length_of(count, g);
    *factor = length <= (double)*most ? 1 : (float)((double)*most / length);
}

static float factor_of(const float *factor)
{
    return factor ? *factor : 1;
}

static void cpu_sgd(struct backend *backend, const struct sgd *sgd, const float *factor,
                    size_t count, float *restrict w, const float *restrict g, float *restrict m)
{
    (void)backend;
    const float rate = sgd->rate, momentum = sgd->momentum, decay = sgd->weight_decay;
    const float by = factor_of(factor);
    const size_t decayed = sgd->decayed;
    /* step: w -= rate · (own·g' + kept·m), with or without Nesterov */
    const float own = sgd->nesterov ? 1 : 0, kept = sgd->nesterov ? momentum : 1;
    for (size_t i = 0; i < count; i++) {
        const float gradient = by * g[i] + (i < decayed ? decay : 0) * w[i];
        m[i] = momentum * m[i] + gradient;
        w[i] -= rate * (own * gradient + kept * m[i]);
    }
}

/* Makes a step of AdamW. The corrections for m and v, which start at 0, are equal for all entries.
 * The correction for m becomes a factor of the rate, and the correction for v a factor of the
 * square root. */
static void cpu_adam(struct backend *backend, const struct adam *adam, const float *factor,
                     size_t count, float *restrict w, const float *restrict g, float *restrict m,
                     float *restrict v)
{
    (void)backend;
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    const float rate = (float)((double)adam->rate / (1 - pow(beta1, (double)adam->step)));
    const float root = (float)(1 / sqrt(1 - pow(beta2, (double)adam->step)));
    const float kept1 = adam->beta1, own1 = (float)(1 - beta1);
    const float kept2 = adam->beta2, own2 = (float)(1 - beta2);
    const float epsilon = adam->epsilon, shrink = adam->rate * adam->weight_decay;
    const size_t decayed = adam->decayed;
    const float by = factor_of(factor);
    for (size_t i = 0; i < count; i++) {
        const float gradient = by * g[i];
        m[i] = kept1 * m[i] + own1 * gradient;
        v[i] = kept2 * v[i] + own2 * (gradient * gradient);
        w[i] -= (i < decayed ? shrink : 0) * w[i] + rate * m[i] / (root * sqrtf(v[i]) + epsilon);
    }
}

/* Overwrites g with LAMB's direction u (optimizers.h). */
EACH_WIDTH static void lamb_direction(size_t count, const struct adam *adam, float by, float decay,
                                      const float *restrict w, float *restrict g, float *restrict m,
                                      float *restrict v)
{
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    const float first = (float)(1 / (1 - pow(beta1, (double)adam->step)));
    const float root = (float)(1 / sqrt(1 - pow(beta2, (double)adam->step)));
    const float kept1 = adam->beta1, own1 = (float)(1 - beta1);
    const float kept2 = adam->beta2, own2 = (float)(1 - beta2);
    for (size_t i = 0; i < count; i++) {
        const float gradient = by * g[i];
        m[i] = kept1 * m[i] + own1 * gradient;
        v[i] = kept2 * v[i] + own2 * (gradient * gradient);
        g[i] = first * m[i] / (root * sqrtf(v[i]) + adam->epsilon) + decay * w[i];
    }
}

static void cpu_lamb(struct backend *backend, const struct adam *adam, const float *factor,
                     size_t count, bool decays, float *w, float *g, float *m, float *v)
{
    (void)backend;
    lamb_direction(count, adam, factor_of(factor), decays ? adam->weight_decay : 0, w, g, m, v);
    const double of_w = length_of(count, w), of_u = length_of(count, g);
    const double ratio = of_w > 0 && of_u > 0 ? of_w / of_u : 1;
    const float step = (float)((double)adam->rate * ratio);
    for (size_t i = 0; i < count; i++)
        w[i] -= step * g[i];
}

/* Scratch buffers of one iteration of Muon. side: the smaller side of the matrix x. */
struct muon_scratch {
    float *square;     /* [side, side] s = xxᵀ or xᵀx */
    float *polynomial; /* [side, side] MUON_B·s + MUON_C·s² */
    float *next;       /* [rows, columns] x after the iteration */
};

/* Makes one iteration of Muon: x = MUON_A·x + (MUON_B·s + MUON_C·s²)·x with s = xxᵀ. If x has more
 * rows than columns, it uses the smaller s = xᵀx and multiplies by it from the right. */
static void muon_turn(int rows, int columns, const struct muon_scratch *scratch, float *x)
{
    const bool is_high = rows > columns;
    const int side = is_high ? columns : rows;
    const size_t all = (size_t)rows * (size_t)columns, square = (size_t)side * (size_t)side;
    if (is_high)
        cpu_gemm(CblasTrans, CblasNoTrans, side, side, rows, x, x, 0, scratch->square);
    else
        cpu_gemm(CblasNoTrans, CblasTrans, side, side, columns, x, x, 0, scratch->square);
    memcpy(scratch->polynomial, scratch->square, square * sizeof *x);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, side, side, side, MUON_C,
                scratch->square, side, scratch->square, side, MUON_B, scratch->polynomial, side);
    for (size_t i = 0; i < all; i++)
        scratch->next[i] = MUON_A * x[i];
    if (is_high)
        cpu_gemm(CblasNoTrans, CblasNoTrans, rows, columns, side, x, scratch->polynomial, 1,
                 scratch->next);
    else
        cpu_gemm(CblasNoTrans, CblasNoTrans, rows, columns, side, scratch->polynomial, x, 1,
                 scratch->next);
    memcpy(x, scratch->next, all * sizeof *x);
}

static void cpu_muon(struct backend *backend, const struct sgd *sgd, const float *factor, int rows,
                     int columns, float *w, float *g, float *m)
{
    const size_t all = (size_t)rows * (size_t)columns;
    const size_t side = (size_t)int_min(rows, columns);
    float *scratch = cpu_scratch(backend, 2 * side * side + all);
    const struct muon_scratch parts = {
        .square = scratch, .polynomial = scratch + side * side, .next = scratch + 2 * side * side};
    const float by = factor_of(factor);
    for (size_t i = 0; i < all; i++) {
        g[i] *= by;
        m[i] = sgd->momentum * m[i] + g[i];
        g[i] = sgd->nesterov ? g[i] + sgd->momentum * m[i] : m[i];
    }
    const double length = length_of(all, g);
    const float scale = length > 0 ? (float)(1 / length) : 0;
    for (size_t i = 0; i < all; i++)
        g[i] *= scale;
    for (int turn = 0; turn < MUON_TURNS; turn++)
        muon_turn(rows, columns, &parts, g);
    const float step = sgd->rate * MUON_SCALE * sqrtf((float)int_max(rows, columns));
    const float shrink = sgd->rate * sgd->weight_decay;
    for (size_t i = 0; i < all; i++)
        w[i] -= step * g[i] + shrink * w[i];
}

const struct optimizer_operations cpu_optimize = {
    .clip = cpu_clip,
    .sgd = cpu_sgd,
    .adam = cpu_adam,
    .lamb = cpu_lamb,
    .muon = cpu_muon,
};
