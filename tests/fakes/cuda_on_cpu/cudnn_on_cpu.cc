/* See cudnn.h. */
#include "cudnn.h"

#include <algorithm>

#include "cuda_runtime.h"

#define ROOM_BYTES 4096 /* workspace of each algorithm, which it also overwrites */
#define ALIGNMENT  16   /* some algorithms read four numbers at once */

struct stand_in_dnn {
    cudaStream_t stream;
};

struct stand_in_tensor {
    int images, channels, height, width; /* for a filter, `images` is the number of filters */
};

struct stand_in_conv {
    int pad, stride, groups;
    cudnnMathType_t math;
    bool measured; /* measured at least once */
};

size_t cudnnGetVersion()
{
    return 90000;
}

const char *cudnnGetErrorString(cudnnStatus_t error)
{
    return error == CUDNN_STATUS_NOT_SUPPORTED ? "CUDNN_STATUS_NOT_SUPPORTED"
                                               : "CUDNN_STATUS_BAD_PARAM";
}

static cudnnStatus_t good(bool is_good)
{
    return is_good ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *dnn)
{
    *dnn = new stand_in_dnn();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t dnn)
{
    delete dnn;
    return CUDNN_STATUS_SUCCESS;
}

cudaStream_t stand_in_stream_of(cudnnHandle_t dnn)
{
    return dnn->stream;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t dnn, cudaStream_t stream)
{
    dnn->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *tensor)
{
    *tensor = new stand_in_tensor();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t,
                                         cudnnDataType_t, int images, int channels, int height,
                                         int width)
{
    *tensor = {images, channels, height, width};
    return good(images > 0 && channels > 0 && height > 0 && width > 0);
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor)
{
    delete tensor;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *filter)
{
    return cudnnCreateTensorDescriptor(filter);
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int filters, int channels,
                                         int height, int width)
{
    return cudnnSetTensor4dDescriptor(filter, format, type, filters, channels, height, width);
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter)
{
    return cudnnDestroyTensorDescriptor(filter);
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *conv)
{
    *conv = new stand_in_conv();
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t conv, int pad_height,
                                              int pad_width, int step_down, int step_right,
                                              int spread_down, int spread_right,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t)
{
    conv->pad = pad_height;
    conv->stride = step_down;
    conv->groups = 1;
    return good(pad_height == pad_width && step_down == step_right && step_down > 0 &&
                spread_down == 1 && spread_right == 1 && mode == CUDNN_CROSS_CORRELATION);
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t conv, int groups)
{
    conv->groups = groups;
    return good(groups > 0);
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t conv, cudnnMathType_t math)
{
    conv->math = math;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t conv)
{
    delete conv;
    return CUDNN_STATUS_SUCCESS;
}

/* Algorithms. They are listed as if the first one were the fastest. The caller must choose AS_FAST,
 * which is listed before FASTEST and is 3 % slower. Only AS_FAST computes. If TF32 is allowed,
 * AS_FAST multiplies in TF32, and the caller must set CUDNN_TENSOR_OP_MATH. In float32, Winograd's
 * algorithm is faster and too inexact. */

enum { UNABLE, VARYING, GREEDY, SLOW, AS_FAST, FASTEST, WINOGRAD };

static cudnnMathType_t math_of(const stand_in_conv *conv)
{
    return conv->math == CUDNN_FMA_MATH ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH;
}

static bool is_fit(const stand_in_tensor *x, const stand_in_tensor *w, const stand_in_conv *conv,
                   const stand_in_tensor *y)
{
    return x->images == y->images && x->channels == w->channels * conv->groups &&
           y->channels == w->images && w->images % conv->groups == 0 &&
           y->height == (x->height + 2 * conv->pad - w->height) / conv->stride + 1 &&
           y->width == (x->width + 2 * conv->pad - w->width) / conv->stride + 1;
}

static cudnnStatus_t ways_of(bool fit, const stand_in_conv *conv, int room, int *count,
                             stand_in_way *ways)
{
    const cudnnMathType_t math = math_of(conv);
    const stand_in_way all[] = {
        {WINOGRAD, math == CUDNN_FMA_MATH ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED, -1,
         0, CUDNN_DETERMINISTIC, math},
        {UNABLE, CUDNN_STATUS_NOT_SUPPORTED, -1, 0, CUDNN_DETERMINISTIC, math},
        {VARYING, CUDNN_STATUS_SUCCESS, -1, 0, CUDNN_NON_DETERMINISTIC, math},
        {GREEDY, CUDNN_STATUS_SUCCESS, -1, (size_t)1 << 40, CUDNN_DETERMINISTIC, math},
        {SLOW, CUDNN_STATUS_SUCCESS, -1, 0, CUDNN_DETERMINISTIC, math},
        {AS_FAST, CUDNN_STATUS_SUCCESS, -1, ROOM_BYTES, CUDNN_DETERMINISTIC, math},
        {FASTEST, CUDNN_STATUS_SUCCESS, -1, 0, CUDNN_DETERMINISTIC, math},
    };
    *count = 0;
    for (const stand_in_way &way : all) {
        if (*count < room)
            ways[(*count)++] = way;
    }
    return good(fit);
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w,
                                                     cudnnConvolutionDescriptor_t conv,
                                                     cudnnTensorDescriptor_t y, int room,
                                                     int *count,
                                                     cudnnConvolutionFwdAlgoPerf_t *ways)
{
    return ways_of(is_fit(x, w, conv, y), conv, room, count, ways);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t dy,
                                                          cudnnConvolutionDescriptor_t conv,
                                                          cudnnTensorDescriptor_t dx, int room,
                                                          int *count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t *ways)
{
    return ways_of(is_fit(dx, w, conv, dy), conv, room, count, ways);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dy,
    cudnnConvolutionDescriptor_t conv, cudnnFilterDescriptor_t dw, int room, int *count,
    cudnnConvolutionBwdFilterAlgoPerf_t *ways)
{
    return ways_of(is_fit(x, dw, conv, dy), conv, room, count, ways);
}

/* Timing. The first time loads kernels, so all algorithms seem slow except one that is already
 * loaded. The fastest algorithms come first, among them some with a math type that was not
 * requested. */

static float time_of(int way, bool first)
{
    const float times[] = {0, 0.125f, 0.25f, 4, 1.03125f, 1, 0.5f};
    return first && way != SLOW ? 8 : times[way];
}

static int planes_count(const stand_in_tensor &planes)
{
    return planes.images * planes.channels * planes.height * planes.width;
}

static bool is_there(const stand_in_tensor *planes, const void *at)
{
    return stand_in_is_device_memory(at, planes_count(*planes) * sizeof(float));
}

/* Overwrites `to`. */
static cudnnStatus_t measure(cudnnHandle_t dnn, bool fit, stand_in_conv *conv,
                             const stand_in_tensor *to_is, void *to, int most, int *count,
                             stand_in_way *ways, void *room, size_t scratch_bytes)
{
    const bool first = !conv->measured;
    const size_t to_bytes = planes_count(*to_is) * sizeof(float);
    const cudnnMathType_t other =
        conv->math == CUDNN_FMA_MATH ? CUDNN_DEFAULT_MATH : CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION;
    if (!stand_in_is_device_memory(room, scratch_bytes) || most < 8 ||
        ways_of(fit, conv, most, count, ways) != CUDNN_STATUS_SUCCESS ||
        stand_in_submit(dnn->stream,
                        [=] {
                            memset(to, 0xEE, to_bytes);
                            memset(room, 0xEE, scratch_bytes);
                        }) != cudaSuccess ||
        cudaStreamSynchronize(dnn->stream) != cudaSuccess)
        return CUDNN_STATUS_BAD_PARAM;
    conv->measured = true;
    for (int i = 0; i < *count; i++) {
        ways[i].time = time_of(ways[i].algo, first);
        if (ways[i].memory > scratch_bytes)
            ways[i].status = CUDNN_STATUS_NOT_SUPPORTED;
    }
    ways[*count] = {SLOW, CUDNN_STATUS_SUCCESS, 0.5f, 0, CUDNN_DETERMINISTIC, other};
    (*count)++;
    std::sort(ways, ways + *count,
              [](const stand_in_way &a, const stand_in_way &b) { return a.time < b.time; });
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t dnn, cudnnTensorDescriptor_t x_is, const void *x, cudnnFilterDescriptor_t w_is,
    const void *w, cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t y_is, void *y,
    int most, int *count, cudnnConvolutionFwdAlgoPerf_t *ways, void *room, size_t scratch_bytes)
{
    return measure(dnn,
                   is_fit(x_is, w_is, conv, y_is) && is_there(x_is, x) && is_there(w_is, w) &&
                       is_there(y_is, y),
                   conv, y_is, y, most, count, ways, room, scratch_bytes);
}

cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t dnn, cudnnFilterDescriptor_t w_is, const void *w, cudnnTensorDescriptor_t dy_is,
    const void *dy, cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t dx_is, void *dx,
    int most, int *count, cudnnConvolutionBwdDataAlgoPerf_t *ways, void *room, size_t scratch_bytes)
{
    return measure(dnn,
                   is_fit(dx_is, w_is, conv, dy_is) && is_there(dx_is, dx) && is_there(w_is, w) &&
                       is_there(dy_is, dy),
                   conv, dx_is, dx, most, count, ways, room, scratch_bytes);
}

cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t dnn, cudnnTensorDescriptor_t x_is, const void *x, cudnnTensorDescriptor_t dy_is,
    const void *dy, cudnnConvolutionDescriptor_t conv, cudnnFilterDescriptor_t dw_is, void *dw,
    int most, int *count, cudnnConvolutionBwdFilterAlgoPerf_t *ways, void *room,
    size_t scratch_bytes)
{
    return measure(dnn,
                   is_fit(x_is, dw_is, conv, dy_is) && is_there(x_is, x) && is_there(dw_is, dw) &&
                       is_there(dy_is, dy),
                   conv, dw_is, dw, most, count, ways, room, scratch_bytes);
}

/* Computing. Each term of a convolution has a position in y, one in x and one in w. */

struct problem_of_conv {
    stand_in_tensor x, w, y;
    stand_in_conv how;
};

static bool is_inside(const stand_in_tensor &planes, int row, int column)
{
    return row >= 0 && row < planes.height && column >= 0 && column < planes.width;
}

/* Calls term(at_x, at_w) for each term of y[at_y]. */
template <typename Term> static void each_term(const problem_of_conv &conv, int at_y, Term term)
{
    const stand_in_tensor &x = conv.x, &w = conv.w, &y = conv.y;
    const int column = at_y % y.width, row = at_y / y.width % y.height;
    const int filter = at_y / (y.width * y.height) % y.channels;
    const int image = at_y / (y.width * y.height * y.channels);
    const int patch = w.channels * w.height * w.width;
    const int group = filter / (w.images / conv.how.groups);
    for (int i = 0; i < patch; i++) {
        const int across = column * conv.how.stride + i % w.width - conv.how.pad;
        const int down = row * conv.how.stride + i / w.width % w.height - conv.how.pad;
        const int channel = group * w.channels + i / (w.width * w.height);
        if (is_inside(x, down, across))
            term(((image * x.channels + channel) * x.height + down) * x.width + across,
                 filter * patch + i);
    }
}

static bool is_aligned(const void *memory)
{
    return (uintptr_t)memory % ALIGNMENT == 0;
}

static cudnnStatus_t submit(cudnnHandle_t dnn, const problem_of_conv &conv, const void *x,
                            const void *w, const void *y, int way, void *room, size_t scratch_bytes,
                            std::function<void()> work)
{
    if (!is_fit(&conv.x, &conv.w, &conv.how, &conv.y) || conv.how.math != math_of(&conv.how) ||
        way != AS_FAST || scratch_bytes < ROOM_BYTES ||
        !stand_in_is_device_memory(room, scratch_bytes))
        return CUDNN_STATUS_BAD_PARAM;
    if (!is_aligned(x) || !is_aligned(w) || !is_aligned(y) || !is_aligned(room))
        return CUDNN_STATUS_BAD_PARAM;
    return good(stand_in_submit(dnn->stream, [=] {
                    memset(room, 0xEE, ROOM_BYTES);
                    work();
                }) == cudaSuccess);
}

/* Multiplies the previous results by beta, before products are added. */
static void begin(float *to, int count, float beta)
{
    for (int i = 0; i < count; i++)
        to[i] = beta == 0 ? 0 : beta * to[i];
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t dnn, const void *alpha,
                                      cudnnTensorDescriptor_t x_is, const void *x_at,
                                      cudnnFilterDescriptor_t w_is, const void *w_at,
                                      cudnnConvolutionDescriptor_t how,
                                      cudnnConvolutionFwdAlgo_t way, void *room,
                                      size_t scratch_bytes, const void *beta,
                                      cudnnTensorDescriptor_t y_is, void *y_at)
{
    const problem_of_conv conv = {*x_is, *w_is, *y_is, *how};
    const float scale = *(const float *)alpha, kept = *(const float *)beta;
    const float *x = (const float *)x_at, *w = (const float *)w_at;
    float *y = (float *)y_at;
    return submit(dnn, conv, x, w, y, way, room, scratch_bytes, [=] {
        begin(y, planes_count(conv.y), kept);
        for (int i = 0; i < planes_count(conv.y); i++)
            each_term(conv, i, [=](int at_x, int at_w) { y[i] += scale * x[at_x] * w[at_w]; });
    });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t dnn, const void *alpha,
                                             cudnnTensorDescriptor_t x_is, const void *x_at,
                                             cudnnTensorDescriptor_t dy_is, const void *dy_at,
                                             cudnnConvolutionDescriptor_t how,
                                             cudnnConvolutionBwdFilterAlgo_t way, void *room,
                                             size_t scratch_bytes, const void *beta,
                                             cudnnFilterDescriptor_t dw_is, void *dw_at)
{
    const problem_of_conv conv = {*x_is, *dw_is, *dy_is, *how};
    const float scale = *(const float *)alpha, kept = *(const float *)beta;
    const float *x = (const float *)x_at, *dy = (const float *)dy_at;
    float *dw = (float *)dw_at;
    return submit(dnn, conv, x, dw, dy, way, room, scratch_bytes, [=] {
        begin(dw, planes_count(conv.w), kept);
        for (int i = 0; i < planes_count(conv.y); i++)
            each_term(conv, i, [=](int at_x, int at_w) { dw[at_w] += scale * x[at_x] * dy[i]; });
    });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t dnn, const void *alpha,
                                           cudnnFilterDescriptor_t w_is, const void *w_at,
                                           cudnnTensorDescriptor_t dy_is, const void *dy_at,
                                           cudnnConvolutionDescriptor_t how,
                                           cudnnConvolutionBwdDataAlgo_t way, void *room,
                                           size_t scratch_bytes, const void *beta,
                                           cudnnTensorDescriptor_t dx_is, void *dx_at)
{
    const problem_of_conv conv = {*dx_is, *w_is, *dy_is, *how};
    const float scale = *(const float *)alpha, kept = *(const float *)beta;
    const float *w = (const float *)w_at, *dy = (const float *)dy_at;
    float *dx = (float *)dx_at;
    return submit(dnn, conv, dx, w, dy, way, room, scratch_bytes, [=] {
        begin(dx, planes_count(conv.x), kept);
        for (int i = 0; i < planes_count(conv.y); i++)
            each_term(conv, i, [=](int at_x, int at_w) { dx[at_x] += scale * w[at_w] * dy[i]; });
    });
}
