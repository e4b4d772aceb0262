/* Convolutions on a GPU by cuDNN. It is loaded when the first is met: it is large, and a node
 * without convolutions does without it.
 *
 *   struct conv, batch ──plan_of──► descriptors, the ways to compute ──► cuDNN ──► stream
 *
 * Of the ways that cuDNN offers, those are taken that give the same sums each time. With tf32 and
 * bf16 both it multiplies in TF32: for bfloat16 it wants the operands to be stored so.
 */
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

#define ROOM_BYTES_MAX ((size_t)256 << 20) /* that a way of computing may need */
#define WAYS_MAX       16                  /* more than there are */

static const float one = 1, zero = 0;

/* A convolution at one size of the batch. */
struct plan {
    struct conv conv;
    int batch;
    cudnnTensorDescriptor_t x;
    cudnnTensorDescriptor_t y;
    cudnnTensorDescriptor_t b;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t how;
    cudnnConvolutionFwdAlgo_t forward;
    cudnnConvolutionBwdDataAlgo_t backward;     /* to dx ... */
    cudnnConvolutionBwdFilterAlgo_t to_weights; /* ... and to dw */
    size_t room_bytes;                          /* enough for each of the three */
};

struct convolutions {
    cudnnHandle_t dnn;
    struct plan *plans; /* [count], one for each layer and size of the batch met so far */
    int count;
    struct room room;
};

static void check_that(cudnnStatus_t status, const char *what)
{
    if (status != CUDNN_STATUS_SUCCESS)
        cuda_lost(what, cudnnGetErrorString(status));
}

static void check(cudnnStatus_t status)
{
    check_that(status, "a convolution");
}

void cuda_conv_describe(char *text, size_t room)
{
    const size_t version = cudnnGetVersion();
    (void)snprintf(text, room, "cuDNN %zu.%zu", version / 10000, version / 100 % 100);
}

static struct convolutions *convolutions_of(struct cuda *cuda)
{
    if (cuda->convolutions != NULL)
        return cuda->convolutions;
    cuda->convolutions = calloc(1, sizeof *cuda->convolutions);
    CHECK(cuda->convolutions);
    check_that(cudnnCreate(&cuda->convolutions->dnn), "loading cuDNN");
    check_that(cudnnSetStream(cuda->convolutions->dnn, cuda->stream), "loading cuDNN");
    return cuda->convolutions;
}

static void set_planes(cudnnTensorDescriptor_t *tensor, int batch, struct shape shape)
{
    check(cudnnCreateTensorDescriptor(tensor));
    check(cudnnSetTensor4dDescriptor(*tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, batch,
                                     shape.channels, shape.height, shape.width));
}

static void describe(struct plan *plan, cudnnMathType_t math)
{
    const struct conv *conv = &plan->conv;
    set_planes(&plan->x, plan->batch, conv->in);
    set_planes(&plan->y, plan->batch, conv_output(conv));
    set_planes(&plan->b, 1, (struct shape){conv->filters, 1, 1});
    check(cudnnCreateFilterDescriptor(&plan->w));
    check(cudnnSetFilter4dDescriptor(plan->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, conv->filters,
                                     conv->in.channels, conv->kernel, conv->kernel));
    check(cudnnCreateConvolutionDescriptor(&plan->how));
    check(cudnnSetConvolution2dDescriptor(plan->how, conv->pad, conv->pad, 1, 1, 1, 1,
                                          CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    check(cudnnSetConvolutionMathType(plan->how, math));
}

/* Of those found, which come with the fastest first: the first that gives the same sums each time
 * and has room enough. */
#define TAKE_WAY(way, found, count, room)                                                          \
    do {                                                                                           \
        int at = 0;                                                                                \
        while (at < (count) && ((found)[at].status != CUDNN_STATUS_SUCCESS ||                      \
                                (found)[at].determinism != CUDNN_DETERMINISTIC ||                  \
                                (found)[at].memory > ROOM_BYTES_MAX))                              \
            at++;                                                                                  \
        check(at < (count) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED);                   \
        (way) = (found)[at].algo;                                                                  \
        (room) = (found)[at].memory > (room) ? (found)[at].memory : (room);                        \
    } while (0)

static void take_ways(struct plan *plan, cudnnHandle_t dnn)
{
    int count;
    cudnnConvolutionFwdAlgoPerf_t forward[WAYS_MAX];
    check(cudnnGetConvolutionForwardAlgorithm_v7(dnn, plan->x, plan->w, plan->how, plan->y,
                                                 WAYS_MAX, &count, forward));
    TAKE_WAY(plan->forward, forward, count, plan->room_bytes);
    cudnnConvolutionBwdDataAlgoPerf_t backward[WAYS_MAX];
    check(cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, plan->w, plan->y, plan->how, plan->x,
                                                      WAYS_MAX, &count, backward));
    TAKE_WAY(plan->backward, backward, count, plan->room_bytes);
    cudnnConvolutionBwdFilterAlgoPerf_t to_weights[WAYS_MAX];
    check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn, plan->x, plan->y, plan->how, plan->w,
                                                        WAYS_MAX, &count, to_weights));
    TAKE_WAY(plan->to_weights, to_weights, count, plan->room_bytes);
}

static struct plan *add_plan(struct cuda *cuda, const struct conv *conv, int batch)
{
    struct convolutions *all = cuda->convolutions;
    const size_t count = (size_t)all->count + 1;
    CHECK(!cuda->recording); /* what is recorded has been called before */
    all->plans = realloc(all->plans, count * sizeof *all->plans);
    CHECK(all->plans);
    struct plan *plan = &all->plans[all->count++];
    *plan = (struct plan){.conv = *conv, .batch = batch};
    describe(plan, cuda->compute == CUBLAS_COMPUTE_32F ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH);
    take_ways(plan, all->dnn);
    return plan;
}

/* Valid until the next, with room for what it needs. */
static const struct plan *plan_of(struct cuda *cuda, const struct conv *conv, int batch)
{
    struct convolutions *all = convolutions_of(cuda);
    const struct plan *plan = all->plans, *end = all->plans + all->count;
    while (plan < end && (plan->batch != batch || memcmp(&plan->conv, conv, sizeof *conv) != 0))
        plan++;
    if (plan == end)
        plan = add_plan(cuda, conv, batch);
    (void)cuda_step_room(cuda, &all->room, plan->room_bytes);
    return plan;
}

void cuda_conv_forward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                       const float *w, const float *b, float *y)
{
    struct cuda *cuda = cuda_on(backend);
    const struct plan *plan = plan_of(cuda, conv, batch);
    const struct convolutions *all = cuda->convolutions;
    check(cudnnConvolutionForward(all->dnn, &one, plan->x, x, plan->w, w, plan->how, plan->forward,
                                  all->room.memory, all->room.bytes, &zero, plan->y, y));
    check(cudnnAddTensor(all->dnn, &one, plan->b, b, &one, plan->y, y));
}

void cuda_conv_backward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                        const float *w, const float *dy, float *dx, float *dw, float *db)
{
    struct cuda *cuda = cuda_on(backend);
    const struct plan *plan = plan_of(cuda, conv, batch);
    const struct convolutions *all = cuda->convolutions;
    check(cudnnConvolutionBackwardBias(all->dnn, &one, plan->y, dy, &zero, plan->b, db));
    check(cudnnConvolutionBackwardFilter(all->dnn, &one, plan->x, x, plan->y, dy, plan->how,
                                         plan->to_weights, all->room.memory, all->room.bytes, &zero,
                                         plan->w, dw));
    if (dx != NULL)
        check(cudnnConvolutionBackwardData(all->dnn, &one, plan->w, w, plan->y, dy, plan->how,
                                           plan->backward, all->room.memory, all->room.bytes, &zero,
                                           plan->x, dx));
}

void cuda_conv_close(struct cuda *cuda)
{
    struct convolutions *all = cuda->convolutions;
    if (all == NULL)
        return;
    for (int i = 0; i < all->count; i++) {
        const struct plan *plan = &all->plans[i];
        check(cudnnDestroyTensorDescriptor(plan->x));
        check(cudnnDestroyTensorDescriptor(plan->y));
        check(cudnnDestroyTensorDescriptor(plan->b));
        check(cudnnDestroyFilterDescriptor(plan->w));
        check(cudnnDestroyConvolutionDescriptor(plan->how));
    }
    check(cudnnDestroy(all->dnn));
    cuda_give(&cuda->table, all->room.memory);
    free(all->plans);
    free(all);
}
