/* Layers but convolutions, optimizers and samples on a GPU: cuBLAS, and kernels around it. */
#include "cuda.h"
#include "cuda_kernels.h"

/* cuBLAS counts by columns: to it all three are transposed, and cᵀ = bᵀ·aᵀ. */
void cuda_gemm(struct cuda *cuda, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
               int k, const float *a, const float *b, float *c)
{
    const float one = 1, zero = 0;
    const int stride_a = turn_a == CUBLAS_OP_N ? k : m, stride_b = turn_b == CUBLAS_OP_N ? n : k;
    cuda_check_blas(cublasGemmEx(cuda->blas, turn_b, turn_a, n, m, k, &one, b, CUDA_R_32F, stride_b,
                                 a, CUDA_R_32F, stride_a, &zero, c, CUDA_R_32F, n, cuda->compute,
                                 CUBLAS_GEMM_DEFAULT),
                    "a matrix product");
}

void cuda_dense_forward(struct backend *backend, int batch, int in, int out, const float *x,
                        const float *w, const float *b, float *y)
{
    struct cuda *cuda = cuda_on(backend);
    cuda_gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_T, batch, out, in, x, w, y);
    cuda_check(kernel_add_bias(cuda->stream, batch, out, 1, b, y), "dense");
}

void cuda_dense_backward(struct backend *backend, int batch, int in, int out, const float *x,
                         const float *w, const float *dy, float *dx, float *dw, float *db)
{
    struct cuda *cuda = cuda_on(backend);
    cuda_gemm(cuda, CUBLAS_OP_T, CUBLAS_OP_N, out, in, batch, dy, x, dw);
    cuda_check(kernel_sum_columns(cuda->stream, batch, out, dy, db), "dense");
    if (dx != NULL)
        cuda_gemm(cuda, CUBLAS_OP_N, CUBLAS_OP_N, batch, in, out, dy, w, dx);
}

void cuda_pool_forward(struct backend *backend, const struct pool *pool, int batch, const float *x,
                       float *y, uint8_t *winner)
{
    cuda_check(kernel_pool(cuda_on(backend)->stream, *pool, batch, x, y, winner), "maxpool");
}

void cuda_pool_backward(struct backend *backend, const struct pool *pool, int batch,
                        const float *dy, const uint8_t *winner, float *dx)
{
    cuda_check(kernel_unpool(cuda_on(backend)->stream, *pool, batch, dy, winner, dx), "maxpool");
}

void cuda_activate(struct backend *backend, enum activation activation, size_t count,
                   const float *x, float *y)
{
    cuda_check(kernel_activate(cuda_on(backend)->stream, activation, count, x, y), "activation");
}

void cuda_activate_backward(struct backend *backend, enum activation activation, size_t count,
                            const float *y, const float *dy, float *dx)
{
    cuda_check(kernel_activate_backward(cuda_on(backend)->stream, activation, count, y, dy, dx),
               "activation");
}

void cuda_cross_entropy(struct backend *backend, int batch, int classes, const float *logits,
                        const uint8_t *labels, float *dlogits, struct score *score)
{
    cuda_check(kernel_cross_entropy(cuda_on(backend)->stream, batch, classes, logits, labels,
                                    dlogits, score),
               "cross-entropy");
}

void cuda_sgd(struct backend *backend, const struct sgd *sgd, size_t count, float *w,
              const float *g, float *m)
{
    cuda_check(kernel_sgd(cuda_on(backend)->stream, sgd, count, w, g, m), "SGD");
}

void cuda_adam(struct backend *backend, const struct adam *adam, size_t count, float *w,
               const float *g, float *m, float *v)
{
    cuda_check(kernel_adam(cuda_on(backend)->stream, adam, count, w, g, m, v), "Adam");
}

void cuda_gather(struct backend *backend, int batch, size_t sample_size, const uint8_t *pixels,
                 const uint8_t *labels, const uint32_t *pick, float mean, float scale, float *x,
                 uint8_t *y)
{
    cuda_check(kernel_gather(cuda_on(backend)->stream, batch, sample_size, pixels, labels, pick,
                             mean, scale, x, y),
               "gathering a batch");
}
