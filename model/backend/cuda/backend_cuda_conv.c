/* Convolutions on a GPU in a build without cuDNN: patches of the inputs, and matrix products by
 * cuBLAS. With precision bf16 they use TF32, as with cuDNN. */
#include <stdio.h>
#include <stdlib.h>

#include "backend/cuda/cuda_kernels.h"
#include "backend/cuda/cuda_matmul.h"
#include "base/memory.h"

struct convolutions {
    struct device_buffer columns;
    struct device_buffer planes; /* y or dy in the order [groups, filters, batch · places] */
};

/* A convolution as one matrix product per group, for the whole batch: filters times
 * columns[height, width]. A column has the inputs under a filter at one output position of one
 * image. The product is ordered by filters, then images; y is ordered by images, then filters. */
struct conv_product {
    int filters;    /* filters per group */
    int height;     /* number of weights of a filter */
    int places;     /* output positions of an image */
    int width;      /* columns of the product: batch · places */
    float *columns; /* [groups, height, width] patches of x, or gradients of patches */
    float *planes;  /* [groups, filters, width] the product, or dy in the product's order */
    float *sums;    /* [groups, filters, SUM_PARTS] partial sums of db */
};

static struct convolutions *buffers_of(struct cuda *cuda)
{
    if (cuda->convolutions == NULL)
        cuda->convolutions = memory_new(1, sizeof *cuda->convolutions);
    return cuda->convolutions;
}

void cuda_conv_close(struct cuda *cuda)
{
    if (cuda->convolutions == NULL)
        return;
    cuda_free(&cuda->table, cuda->convolutions->columns.memory);
    cuda_free(&cuda->table, cuda->convolutions->planes.memory);
    free(cuda->convolutions);
}

void cuda_conv_describe(char *text, size_t capacity)
{
    (void)snprintf(text, capacity, "no cuDNN");
}

/* Computes c = a·b for each group, as cuda_gemm does for one group. Matrices of successive groups
 * are adjacent. */
static void multiply(struct cuda *cuda, int groups, cublasOperation_t turn_a,
                     cublasOperation_t turn_b, int m, int n, int k, const float *a, const float *b,
                     float *c)
{
    const float one = 1, zero = 0;
    const long long rows = m, columns = n, depth = k;
    if (groups == 1) {
        cuda_gemm(cuda, turn_a, turn_b, m, n, k, cuda_floats(a), cuda_floats(b), c);
        return;
    }
    cuda_check_blas(cublasGemmStridedBatchedEx(
                        cuda->blas, turn_b, turn_a, n, m, k, &one, b, CUDA_R_32F,
                        turn_b == CUBLAS_OP_N ? n : k, depth * columns, a, CUDA_R_32F,
                        turn_a == CUBLAS_OP_N ? k : m, rows * depth, &zero, c, CUDA_R_32F, n,
                        rows * columns, groups, cuda->compute, CUBLAS_GEMM_DEFAULT),
                    "a convolution");
}

static struct conv_product product_of(struct cuda *cuda, const struct conv *conv, int batch)
{
    const struct shape out = conv_output(conv);
    struct conv_product product = {.filters = conv->filters / conv->groups,
                                   .height = conv_patch(conv),
                                   .places = out.height * out.width};
    CHECK((size_t)batch * (size_t)product.places <= INT32_MAX);
    product.width = batch * product.places;
    const size_t width = (size_t)product.width * sizeof(float);
    struct convolutions *buffers = buffers_of(cuda);
    product.columns = cuda_step_buffer(cuda, &buffers->columns,
                                       (size_t)conv->groups * (size_t)product.height * width);
    product.planes = cuda_step_buffer(cuda, &buffers->planes,
                                      (size_t)conv->filters * (width + SUM_PARTS * sizeof(float)));
    product.sums = product.planes + (size_t)conv->filters * (size_t)product.width;
    return product;
}

static void cuda_conv_forward(struct backend *backend, const struct conv *conv, int batch,
                              const float *x, const float *w, const float *b,
                              enum activation activation, float *y)
{
    struct cuda *cuda = cuda_on(backend);
    const struct conv_product product = product_of(cuda, conv, batch);
    cuda_check(kernel_patches(cuda->stream, *conv, batch, x, product.columns), "conv");
    multiply(cuda, conv->groups, CUBLAS_OP_N, CUBLAS_OP_N, product.filters, product.width,
             product.height, w, product.columns, product.planes);
    cuda_check(kernel_swap(cuda->stream, conv->filters, batch, product.places, product.planes, b,
                           activation, y),
               "conv");
}

static void cuda_conv_backward(struct backend *backend, const struct conv *conv, int batch,
                               const float *x, const float *w, const float *y,
                               enum activation activation, float *dy, float *dx, float *dw,
                               float *db)
{
    struct cuda *cuda = cuda_on(backend);
    const struct conv_product product = product_of(cuda, conv, batch);
    if (activation != LINEAR || db != NULL)
        cuda_check(kernel_gradient_planes(cuda->stream, batch, conv->filters, product.places, y,
                                          activation, dy, product.sums, db),
                   "conv");
    cuda_check(kernel_swap(cuda->stream, batch, conv->filters, product.places, dy, NULL, LINEAR,
                           product.planes),
               "conv");
    cuda_check(kernel_patches(cuda->stream, *conv, batch, x, product.columns), "conv");
    multiply(cuda, conv->groups, CUBLAS_OP_N, CUBLAS_OP_T, product.filters, product.height,
             product.width, product.planes, product.columns, dw);
    if (dx == NULL)
        return;
    multiply(cuda, conv->groups, CUBLAS_OP_T, CUBLAS_OP_N, product.height, product.width,
             product.filters, w, product.planes, product.columns);
    cuda_check(kernel_unpatch(cuda->stream, *conv, batch, product.columns, dx), "conv");
}

const struct conv_operations cuda_conv = {
    .forward = cuda_conv_forward,
    .backward = cuda_conv_backward,
};
