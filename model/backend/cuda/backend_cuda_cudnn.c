/* Convolutions on a GPU by cuDNN. The library is loaded for the first convolution or attention,
 * because it is large and other models do not need it.
 *
 *   struct conv, batch ──plan_of──► descriptors ──algorithm──► cuDNN ──► stream
 *
 * cuda_cudnn.h explains the choice of an algorithm. With precision tf32 or bf16 the algorithm may
 * multiply in TF32: for bfloat16 cuDNN would need operands that are stored as bfloat16. Some
 * algorithms read four weights at a time, and cuDNN chooses an algorithm without knowing the
 * address of the weights. So weights that do not begin at a multiple of 16 bytes are copied to an
 * aligned buffer, and unaligned gradients of weights are copied from it. Biases are added by our
 * own kernels, because they may have any address.
 */
#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda.h"
#include "backend/cuda/cuda_cudnn.h"
#include "backend/cuda/cuda_kernels.h"
#include "base/memory.h"

#define ALIGNMENT 16

static const float one = 1, zero = 0;

struct convolutions {
    struct plan *plans; /* [count] one plan for each convolution and batch size so far */
    int count;
    struct device_buffer scratch;
};

void cudnn_check(cudnnStatus_t error, const char *what)
{
    if (error != CUDNN_STATUS_SUCCESS)
        cuda_lost(what, cudnnGetErrorString(error));
}

static void check(cudnnStatus_t error)
{
    cudnn_check(error, "a convolution");
}

void cuda_conv_describe(char *text, size_t capacity)
{
    const size_t version = cudnnGetVersion();
    (void)snprintf(text, capacity, "cuDNN %zu.%zu", version / 10000, version / 100 % 100);
}

cudnnHandle_t cuda_cudnn(struct cuda *cuda)
{
    cudnnHandle_t dnn = cuda->cudnn;
    if (dnn != NULL)
        return dnn;
    cudnn_check(cudnnCreate(&dnn), "loading cuDNN");
    cudnn_check(cudnnSetStream(dnn, cuda->stream), "loading cuDNN");
    cuda->cudnn = dnn;
    return dnn;
}

static struct convolutions *convolutions_of(struct cuda *cuda)
{
    if (cuda->convolutions == NULL)
        cuda->convolutions = memory_new(1, sizeof *cuda->convolutions);
    return cuda->convolutions;
}

/* Returns the lowest precision that is allowed for products of float32. */
static cudnnMathType_t math_of(const struct cuda *cuda)
{
    return cuda->compute == CUBLAS_COMPUTE_32F ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
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
    check(cudnnCreateFilterDescriptor(&plan->w));
    check(cudnnSetFilter4dDescriptor(plan->w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, conv->filters,
                                     conv->in.channels / conv->groups, conv->kernel, conv->kernel));
    for (int way = 0; way < WAYS; way++) {
        check(cudnnCreateConvolutionDescriptor(&plan->how[way]));
        check(cudnnSetConvolution2dDescriptor(plan->how[way], conv->pad, conv->pad, conv->stride,
                                              conv->stride, 1, 1, CUDNN_CROSS_CORRELATION,
                                              CUDNN_DATA_FLOAT));
        check(cudnnSetConvolutionGroupCount(plan->how[way], conv->groups));
        check(cudnnSetConvolutionMathType(plan->how[way], math));
    }
}

/* Returns the algorithm for y, dx or dw (kind), chosen on first use. The algorithm may need a
 * larger workspace, so call work_of afterwards. */
static int algorithm(struct cuda *cuda, struct plan *plan, int kind, struct planes planes)
{
    struct way *way = &plan->ways[kind];
    if (way->chosen)
        return way->algorithm;
    /* the first call makes the choice, and the first call is never recorded */
    CHECK(!cuda->recording);
    *way = cudnn_way(cuda, cuda_cudnn(cuda), plan, math_of(cuda), kind, planes);
    check(cudnnSetConvolutionMathType(plan->how[kind], way->math));
    plan->scratch_bytes = size_max(way->scratch_bytes, plan->scratch_bytes);
    return way->algorithm;
}

static struct plan *add_plan(struct cuda *cuda, const struct conv *conv, int batch)
{
    struct convolutions *all = cuda->convolutions;
    const size_t count = (size_t)all->count + 1;
    CHECK(!cuda->recording);
    all->plans = memory_more(all->plans, count, sizeof *all->plans);
    struct plan *plan = &all->plans[all->count++];
    *plan = (struct plan){.conv = *conv, .batch = batch};
    describe(plan, math_of(cuda));
    return plan;
}

/* Returns the plan of a convolution with this batch size. The pointer is valid until another plan
 * is added. */
static struct plan *plan_of(struct cuda *cuda, const struct conv *conv, int batch)
{
    const struct convolutions *all = convolutions_of(cuda);
    struct plan *plan = all->plans, *end = all->plans + all->count;
    while (plan < end && (plan->batch != batch || memcmp(&plan->conv, conv, sizeof *conv) != 0))
        plan++;
    return plan < end ? plan : add_plan(cuda, conv, batch);
}

/* Scratch buffers of one convolution's forward pass or gradient. They are parts of one shared
 * buffer, which may move when an algorithm is chosen that needs more workspace. */
struct work {
    cudnnHandle_t dnn;
    size_t weight_bytes;
    float *weights; /* aligned weights, or gradients of weights */
    float *parts;   /* partial sums of db */
    void *scratch;  /* workspace of cuDNN */
};

static struct work lay_work(struct layout *layout, const struct plan *plan)
{
    const struct conv *conv = &plan->conv;
    const size_t filters = (size_t)conv->filters;
    struct work work = {.weight_bytes = filters * (size_t)conv_patch(conv) * sizeof *work.weights};
    work.weights = cuda_part(layout, work.weight_bytes);
    work.parts = cuda_part(layout, filters * SUM_PARTS * sizeof *work.parts);
    work.scratch = cuda_part(layout, plan->scratch_bytes);
    return work;
}

static struct work work_of(struct cuda *cuda, const struct plan *plan)
{
    struct layout measured = {0};
    (void)lay_work(&measured, plan);
    struct layout laid = {.memory =
                              cuda_step_buffer(cuda, &cuda->convolutions->scratch, measured.bytes)};
    struct work work = lay_work(&laid, plan);
    work.dnn = cuda_cudnn(cuda);
    return work;
}

static bool is_aligned(const float *weights)
{
    return (uintptr_t)weights % ALIGNMENT == 0;
}

static void copy(struct cuda *cuda, float *to, const float *from, size_t bytes)
{
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cuda->stream),
               "a convolution");
}

/* Returns the weights at an aligned address: in place, or copied to work->weights. */
static const float *aligned(struct cuda *cuda, const struct work *work, const float *w)
{
    if (is_aligned(w))
        return w;
    copy(cuda, work->weights, w, work->weight_bytes);
    return work->weights;
}

static void cuda_conv_forward(struct backend *backend, const struct conv *conv, int batch,
                              const float *x, const float *w, const float *b,
                              enum activation activation, float *y)
{
    struct cuda *cuda = cuda_on(backend);
    const struct shape out = conv_output(conv);
    struct plan *plan = plan_of(cuda, conv, batch);
    const int way = algorithm(cuda, plan, FORWARD, (struct planes){.x = x, .y = y});
    const struct work work = work_of(cuda, plan);
    check(cudnnConvolutionForward(work.dnn, &one, plan->x, x, plan->w, aligned(cuda, &work, w),
                                  plan->how[FORWARD], (cudnnConvolutionFwdAlgo_t)way, work.scratch,
                                  plan->scratch_bytes, &zero, plan->y, y));
    if (activation != LINEAR || b != NULL)
        cuda_check(kernel_add_bias(cuda->stream, batch, conv->filters, out.height * out.width, b,
                                   activation, y),
                   "a convolution");
}

static void to_inputs(struct cuda *cuda, struct plan *plan, const float *w, const float *dy,
                      float *dx)
{
    const int way = algorithm(cuda, plan, BACKWARD, (struct planes){.dy = dy, .dx = dx});
    const struct work work = work_of(cuda, plan);
    check(cudnnConvolutionBackwardData(work.dnn, &one, plan->w, aligned(cuda, &work, w), plan->y,
                                       dy, plan->how[BACKWARD], (cudnnConvolutionBwdDataAlgo_t)way,
                                       work.scratch, plan->scratch_bytes, &zero, plan->x, dx));
}

static void to_weights(struct cuda *cuda, struct plan *plan, const float *x, const float *dy,
                       float *dw)
{
    const int way = algorithm(cuda, plan, TO_WEIGHTS, (struct planes){.x = x, .dy = dy});
    const struct work work = work_of(cuda, plan);
    float *to = is_aligned(dw) ? dw : work.weights;
    check(cudnnConvolutionBackwardFilter(work.dnn, &one, plan->x, x, plan->y, dy,
                                         plan->how[TO_WEIGHTS],
                                         (cudnnConvolutionBwdFilterAlgo_t)way, work.scratch,
                                         plan->scratch_bytes, &zero, plan->w, to));
    if (to != dw)
        copy(cuda, dw, to, work.weight_bytes);
}

static void cuda_conv_backward(struct backend *backend, const struct conv *conv, int batch,
                               const float *x, const float *w, const float *y,
                               enum activation activation, float *dy, float *dx, float *dw,
                               float *db)
{
    struct cuda *cuda = cuda_on(backend);
    const struct shape out = conv_output(conv);
    struct plan *plan = plan_of(cuda, conv, batch);
    if (activation != LINEAR || db != NULL)
        cuda_check(kernel_gradient_planes(cuda->stream, batch, conv->filters,
                                          out.height * out.width, y, activation, dy,
                                          work_of(cuda, plan).parts, db),
                   "a convolution");
    if (dx != NULL)
        to_inputs(cuda, plan, w, dy, dx);
    to_weights(cuda, plan, x, dy, dw);
}

static void close_convolutions(struct cuda *cuda, struct convolutions *all)
{
    for (int i = 0; i < all->count; i++) {
        const struct plan *plan = &all->plans[i];
        check(cudnnDestroyTensorDescriptor(plan->x));
        check(cudnnDestroyTensorDescriptor(plan->y));
        check(cudnnDestroyFilterDescriptor(plan->w));
        for (int way = 0; way < WAYS; way++)
            check(cudnnDestroyConvolutionDescriptor(plan->how[way]));
    }
    cuda_free(&cuda->table, all->scratch.memory);
    free(all->plans);
    free(all);
}

void cuda_conv_close(struct cuda *cuda)
{
    if (cuda->convolutions != NULL)
        close_convolutions(cuda, cuda->convolutions);
    if (cuda->cudnn != NULL)
        cudnn_check(cudnnDestroy(cuda->cudnn), "closing");
}

const struct conv_operations cuda_conv = {
    .forward = cuda_conv_forward,
    .backward = cuda_conv_backward,
};
