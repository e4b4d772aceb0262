/* Convolutions by cuDNN: what is computed, and in which way.
 *
 *   backend_cuda_cudnn.c ──► cudnn_way ──► backend_cuda_cudnn_ways.c ──► cuDNN
 *
 * Of the ways that cuDNN offers, those are taken that give the same sums each time. Each is
 * measured when a convolution is first computed (cuda_choice.h); where memory is too short to
 * measure, the first in cuDNN's order is taken. In float32 Winograd's ways are left out: what they
 * add and subtract leaves three digits less.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_CUDNN_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_CUDNN_H

#include <cudnn.h>

#include "backend/cuda/cuda_choice.h"

enum { FORWARD, BACKWARD, TO_WEIGHTS, WAYS };

/* A way to compute y, dx (BACKWARD) or dw (TO_WEIGHTS). */
struct way {
    int algorithm;        /* one of cudnnConvolution{Fwd,BwdData,BwdFilter}Algo_t */
    cudnnMathType_t math; /* what it multiplies in */
    size_t room_bytes;    /* workspace */
    bool chosen;          /* when it is first needed */
};

/* A convolution at one size of the batch. */
struct plan {
    struct conv conv;
    int batch;
    cudnnTensorDescriptor_t x;
    cudnnTensorDescriptor_t y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t how[WAYS]; /* each may multiply differently */
    struct way ways[WAYS];
    size_t room_bytes; /* workspace, enough for each that is chosen */
};

/* The planes of one product; what it neither reads nor writes is NULL. */
struct planes {
    const float *x;
    const float *dy;
    float *y;
    float *dx;
};

/* The way to compute y, dx or dw (kind), which multiplies in `math` as far as it must. Measuring
 * writes what is to be computed. Not while a step is recorded. */
struct way cudnn_way(struct cuda *cuda, cudnnHandle_t dnn, const struct plan *plan,
                     cudnnMathType_t math, int kind, struct planes planes);

/* cuDNN on the backend's stream, loaded at the first call. */
cudnnHandle_t cuda_cudnn(struct cuda *cuda);

/* The process ends if something went wrong. */
void cudnn_check(cudnnStatus_t error, const char *what);

#endif
