/* Convolutions by cuDNN: operands, and the choice of an algorithm.
 *
 *   backend_cuda_cudnn.c ──► cudnn_way ──► backend_cuda_cudnn_ways.c ──► cuDNN
 *
 * Only algorithms of cuDNN that give the same sums each time are considered. They are measured when
 * a convolution is first computed (cuda_choice.h); if memory is too short to measure, the first one
 * in cuDNN's order is chosen. In float32 Winograd's algorithms are left out: their additions and
 * subtractions lose three digits.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_CUDNN_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_CUDNN_H

#include <cudnn.h>

#include "backend/cuda/cuda_choice.h"

enum { FORWARD, BACKWARD, TO_WEIGHTS, WAYS };

/* An algorithm for y, dx (BACKWARD) or dw (TO_WEIGHTS). */
struct way {
    int algorithm;        /* one of cudnnConvolution{Fwd,BwdData,BwdFilter}Algo_t */
    cudnnMathType_t math; /* math type of its products */
    size_t scratch_bytes; /* workspace in bytes */
    bool chosen;          /* the algorithm is chosen; false before its first use */
};

/* A convolution with one batch size. */
struct plan {
    struct conv conv;
    int batch;
    cudnnTensorDescriptor_t x;
    cudnnTensorDescriptor_t y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t how[WAYS]; /* [WAYS] descriptors; their math types may differ */
    struct way ways[WAYS];
    size_t scratch_bytes; /* workspace in bytes, enough for each chosen algorithm */
};

/* The planes of one product; NULL for planes that it neither reads nor writes. */
struct planes {
    const float *x;
    const float *dy;
    float *y;
    float *dx;
};

/* Returns the algorithm for y, dx or dw (kind), with the math type `math` if possible. Measuring
 * overwrites the result, which is computed afterwards. Not allowed while a step is recorded. */
struct way cudnn_way(struct cuda *cuda, cudnnHandle_t dnn, const struct plan *plan,
                     cudnnMathType_t math, int kind, struct planes planes);

/* Returns cuDNN on the backend's stream, loaded at the first call. */
cudnnHandle_t cuda_cudnn(struct cuda *cuda);

/* Ends the process if something went wrong. */
void cudnn_check(cudnnStatus_t error, const char *what);

#endif
