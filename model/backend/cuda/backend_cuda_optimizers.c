/* Optimizers on a GPU: calls the kernels, and computes Muon's matrix products. */
#include <math.h>

#include "backend/cuda/cuda_matmul.h"
#include "backend/cuda/cuda_optimizers.h"

static void cuda_clip(struct backend *backend, const float *most, size_t count, const float *g,
                      float *factor)
{
    struct cuda *cuda = cuda_on(backend);
    double *squares = cuda_scratch(cuda, CLIP_PARTS * sizeof *squares);
    cuda_check(kernel_clip(cuda->stream, most, count, squares, g, factor), "clipping");
}

static void cuda_sgd(struct backend *backend, const struct sgd *sgd, const float *factor,
                     size_t count, float *w, const float *g, float *m)
{
    cuda_check(kernel_sgd(cuda_on(backend)->stream, sgd, factor, count, w, g, m), "SGD");
}

static void cuda_adam(struct backend *backend, const struct adam *adam, const float *factor,
                      size_t count, float *w, const float *g, float *m, float *v)
{
    cuda_check(kernel_adam(cuda_on(backend)->stream, adam, factor, count, w, g, m, v), "Adam");
}

static void cuda_lamb(struct backend *backend, const struct adam *adam, const float *factor,
                      size_t count, bool decays, float *w, float *g, float *m, float *v)
{
    struct cuda *cuda = cuda_on(backend);
    double *squares = cuda_scratch(cuda, 2 * CLIP_PARTS * sizeof *squares);
    cuda_check(kernel_lamb(cuda->stream, adam, factor, count, decays, squares, w, g, m, v), "LAMB");
}

/* Scratch buffers of a Muon step. side: the smaller side of the matrix x. */
struct muon_scratch {
    double *squares;   /* [CLIP_PARTS] partial sums of squares */
    float *square;     /* [side, side] s = xxᵀ or xᵀx */
    float *polynomial; /* [side, side] MUON_B·s + MUON_C·s² */
    float *next;       /* [rows, columns] x after the iteration */
};

static struct muon_scratch scratch_of(struct cuda *cuda, size_t side, size_t all)
{
    const size_t floats = 2 * side * side + all;
    struct layout layout = {
        .memory = cuda_scratch(cuda, CLIP_PARTS * sizeof(double) + floats * sizeof(float) + 1024)};
    struct muon_scratch scratch = {.squares = cuda_part(&layout, CLIP_PARTS * sizeof(double))};
    scratch.square = cuda_part(&layout, side * side * sizeof(float));
    scratch.polynomial = cuda_part(&layout, side * side * sizeof(float));
    scratch.next = cuda_part(&layout, all * sizeof(float));
    return scratch;
}

/* Makes one iteration of Muon: x = MUON_A·x + (MUON_B·s + MUON_C·s²)·x with s = xxᵀ. If x has more
 * rows than columns, it uses the smaller s = xᵀx and multiplies by it from the right. */
static void muon_turn(struct cuda *cuda, int rows, int columns, const struct muon_scratch *scratch,
                      float *x)
{
    const bool is_high = rows > columns;
    const int side = is_high ? columns : rows;
    const size_t all = (size_t)rows * (size_t)columns, square = (size_t)side * (size_t)side;
    const struct operand by_x = cuda_floats(x), by_s = cuda_floats(scratch->square);
    const struct operand by_p = cuda_floats(scratch->polynomial);
    cuda_gemm(cuda, is_high ? CUBLAS_OP_T : CUBLAS_OP_N, is_high ? CUBLAS_OP_N : CUBLAS_OP_T, side,
              side, is_high ? rows : columns, by_x, by_x, scratch->square);
    cuda_check(kernel_scale(cuda->stream, square, 1, scratch->square, scratch->polynomial), "Muon");
    cuda_gemm_onto(cuda, CUBLAS_OP_N, CUBLAS_OP_N, side, side, side, MUON_C, by_s, by_s, MUON_B,
                   scratch->polynomial);
    cuda_check(kernel_scale(cuda->stream, all, MUON_A, x, scratch->next), "Muon");
    cuda_gemm_onto(cuda, CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, side, 1, is_high ? by_x : by_p,
                   is_high ? by_p : by_x, 1, scratch->next);
    cuda_check(kernel_scale(cuda->stream, all, 1, scratch->next, x), "Muon");
}

static void cuda_muon(struct backend *backend, const struct sgd *sgd, const float *factor, int rows,
                      int columns, float *w, float *g, float *m)
{
    struct cuda *cuda = cuda_on(backend);
    const size_t all = (size_t)rows * (size_t)columns;
    const struct muon_scratch scratch = scratch_of(cuda, (size_t)int_min(rows, columns), all);
    const float scale = MUON_SCALE * sqrtf((float)int_max(rows, columns));
    cuda_check(kernel_muon_begin(cuda->stream, sgd, factor, all, scratch.squares, g, m), "Muon");
    for (int turn = 0; turn < MUON_TURNS; turn++)
        muon_turn(cuda, rows, columns, &scratch, g);
    cuda_check(kernel_muon_end(cuda->stream, sgd, all, scale, g, w), "Muon");
}

const struct optimizer_operations cuda_optimize = {
    .clip = cuda_clip,
    .sgd = cuda_sgd,
    .adam = cuda_adam,
    .lamb = cuda_lamb,
    .muon = cuda_muon,
};
