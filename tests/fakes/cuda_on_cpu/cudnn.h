/* The convolutions of cuDNN, term by term (cuda_runtime_api.h). It refuses what cuDNN refuses:
 * planes that do not fit the convolution, room that is too small for the way chosen, a way that is
 * to multiply otherwise than it does, and (as some ways do) memory that does not begin at a
 * multiple of 16 bytes. Ways are measured by waiting, so not while a stream records; what they
 * write is spoilt; and their times are made up. */
#ifndef CUDA_ON_CPU_CUDNN_H
#define CUDA_ON_CPU_CUDNN_H

#include "cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CUDNN_STATUS_SUCCESS = 0,
    CUDNN_STATUS_BAD_PARAM = 2000,
    CUDNN_STATUS_NOT_SUPPORTED = 3000
} cudnnStatus_t;
typedef enum { CUDNN_NON_DETERMINISTIC, CUDNN_DETERMINISTIC } cudnnDeterminism_t;
typedef enum {
    CUDNN_DEFAULT_MATH = 0,
    CUDNN_TENSOR_OP_MATH = 1,
    CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION = 2,
    CUDNN_FMA_MATH = 3
} cudnnMathType_t;
typedef enum { CUDNN_TENSOR_NCHW } cudnnTensorFormat_t;
typedef enum { CUDNN_DATA_FLOAT } cudnnDataType_t;
typedef enum { CUDNN_CROSS_CORRELATION = 1 } cudnnConvolutionMode_t;
typedef int cudnnConvolutionFwdAlgo_t;
typedef int cudnnConvolutionBwdDataAlgo_t;
typedef int cudnnConvolutionBwdFilterAlgo_t;

/* Numbered as cuDNN does only of the first. */
enum {
    CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD = 6,
    CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED = 7,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD = 6,
    CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED = 7,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD = 6,
    CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED = 7
};

typedef struct stand_in_dnn *cudnnHandle_t;
typedef struct stand_in_tensor *cudnnTensorDescriptor_t;
typedef struct stand_in_tensor *cudnnFilterDescriptor_t;
typedef struct stand_in_conv *cudnnConvolutionDescriptor_t;

struct stand_in_way {
    int algo;
    cudnnStatus_t status;
    float time;
    size_t memory;
    cudnnDeterminism_t determinism;
    cudnnMathType_t mathType;
};
typedef struct stand_in_way cudnnConvolutionFwdAlgoPerf_t;
typedef struct stand_in_way cudnnConvolutionBwdDataAlgoPerf_t;
typedef struct stand_in_way cudnnConvolutionBwdFilterAlgoPerf_t;

size_t cudnnGetVersion(void);
const char *cudnnGetErrorString(cudnnStatus_t error);
cudnnStatus_t cudnnCreate(cudnnHandle_t *dnn);
cudnnStatus_t cudnnDestroy(cudnnHandle_t dnn);
cudnnStatus_t cudnnSetStream(cudnnHandle_t dnn, cudaStream_t stream);

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor);
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int images, int channels, int height,
                                         int width);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filter);
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int filters, int channels,
                                         int height, int width);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter);
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *conv);
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t conv, int pad_height,
                                              int pad_width, int step_down, int step_right,
                                              int spread_down, int spread_right,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t type);
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t conv, int groups);
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t conv, cudnnMathType_t math);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t conv);

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t dnn, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w,
                                                     cudnnConvolutionDescriptor_t conv,
                                                     cudnnTensorDescriptor_t y, int room,
                                                     int *count,
                                                     cudnnConvolutionFwdAlgoPerf_t *ways);
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t dnn, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t dx, int room, int *count,
    cudnnConvolutionBwdDataAlgoPerf_t *ways);
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t dnn, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t conv, cudnnFilterDescriptor_t dw, int room, int *count,
    cudnnConvolutionBwdFilterAlgoPerf_t *ways);

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t dnn, cudnnTensorDescriptor_t x_is, const void *x, cudnnFilterDescriptor_t w_is,
    const void *w, cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y_is, void *y,
    int most, int *count, cudnnConvolutionFwdAlgoPerf_t *ways, void *room, size_t room_bytes);
cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t dnn, cudnnFilterDescriptor_t w_is, const void *w, cudnnTensorDescriptor_t dy_is,
    const void *dy, cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t dx_is, void *dx,
    int most, int *count, cudnnConvolutionBwdDataAlgoPerf_t *ways, void *room, size_t room_bytes);
cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t dnn, cudnnTensorDescriptor_t x_is, const void *x, cudnnTensorDescriptor_t dy_is,
    const void *dy, cudnnConvolutionDescriptor_t conv, cudnnFilterDescriptor_t dw_is, void *dw,
    int most, int *count, cudnnConvolutionBwdFilterAlgoPerf_t *ways, void *room, size_t room_bytes);

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t dnn, const void *alpha,
                                      cudnnTensorDescriptor_t x_is, const void *x,
                                      cudnnFilterDescriptor_t w_is, const void *w,
                                      cudnnConvolutionDescriptor_t conv,
                                      cudnnConvolutionFwdAlgo_t way, void *room, size_t room_bytes,
                                      const void *beta, cudnnTensorDescriptor_t y_is, void *y);
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t dnn, const void *alpha,
                                             cudnnTensorDescriptor_t x_is, const void *x,
                                             cudnnTensorDescriptor_t dy_is, const void *dy,
                                             cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t way, void *room,
                                             size_t room_bytes, const void *beta,
                                             cudnnFilterDescriptor_t dw_is, void *dw);
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t dnn, const void *alpha,
                                           cudnnFilterDescriptor_t w_is, const void *w,
                                           cudnnTensorDescriptor_t dy_is, const void *dy,
                                           cudnnConvolutionDescriptor_t conv,
                                           cudnnConvolutionBwdDataAlgo_t way, void *room,
                                           size_t room_bytes, const void *beta,
                                           cudnnTensorDescriptor_t dx_is, void *dx);

#ifdef __cplusplus
}
#endif

#endif
