/* Convolutions by cuDNN: descriptors, and the choice of an algorithm. A way is one of the three
 * computations of a convolution: of y (FORWARD), dx (BACKWARD) or dw (TO_WEIGHTS).
 *
 *   backend_cuda_cudnn.c ──► cudnn_way ──► backend_cuda_cudnn_ways.c ──► cuDNN
 *
 * Only deterministic algorithms of cuDNN are considered. They are measured when a convolution is
 * first computed (cuda_choice.h). If there is too little memory to measure, the first algorithm in
 * cuDNN's order is chosen. In float32 Winograd's algorithms are left out, because their additions
 * and subtractions lose three digits.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_CUDNN_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_CUDNN_H

#include <cudnn.h>

#include "backend/cuda/cuda_choice.h"

enum { FORWARD, BACKWARD, TO_WEIGHTS, WAYS };

/* Chosen algorithm for y (FORWARD), dx (BACKWARD) or dw (TO_WEIGHTS). */
struct way {
    int algorithm;        /* one of cudnnConvolution{Fwd,BwdData,BwdFilter}Algo_t */
    cudnnMathType_t math; /* precision of the algorithm's products */
    size_t scratch_bytes;
    bool chosen;
};

/* Descriptors of a convolution with one batch size. */
struct plan {
    struct conv conv;
    int batch;
    cudnnTensorDescriptor_t x;
    cudnnTensorDescriptor_t y;
    cudnnFilterDescriptor_t w;
    /* a descriptor for each way, because precisions may differ */
    cudnnConvolutionDescriptor_t how[WAYS];
    struct way ways[WAYS];
    size_t scratch_bytes; /* largest workspace of the algorithms chosen so far */
};

/* Images and gradients that a computation of y, dx or dw reads or writes. Members that this
 * computation does not use are NULL. */
struct planes {
    const float *x;
    const float *dy;
    float *y;
    float *dx;
};

/* Returns the algorithm for y, dx or dw (kind). math: lowest precision that is allowed. Measuring
 * overwrites y or dx, which the caller computes afterwards. Not allowed while a step is
 * recorded. */
struct way cudnn_way(struct cuda *cuda, cudnnHandle_t dnn, const struct plan *plan,
                     cudnnMathType_t math, int kind, struct planes planes);

/* Returns the cuDNN handle on the backend's stream. The first call loads the library. */
cudnnHandle_t cuda_cudnn(struct cuda *cuda);

/* Ends the process if `error` is not success. */
void cudnn_check(cudnnStatus_t error, const char *what);

#endif
