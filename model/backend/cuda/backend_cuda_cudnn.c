/* Convolutions on a GPU by cuDNN. It is loaded when the first is met: it is large, and a node
 * without convolutions does without it.
 *
 *   struct conv, batch ──plan_of──► descriptors, the ways to compute ──► cuDNN ──► stream
 *
 * Of the ways that cuDNN offers, those are taken that give the same sums each time. Its own order
 * of them, the fastest first, is a guess that can be far off: each is measured, once in a process,
 * when a convolution is first computed. Of those within a tenth of the fastest the first in cuDNN's
 * order is taken. All backends of a process then compute the same bits; another process may choose
 * otherwise where a measurement falls on the other side of that tenth, and where memory is too
 * short to measure.
 *
 * With tf32 and bf16 both it may multiply in TF32: for bfloat16 it wants the operands to be stored
 * so. It chooses a way without knowing where the weights lie, and some ways read by fours: weights
 * of which not every four begin at a multiple of 16 bytes are copied to where they do. Biases,
 * which lie anywhere, are our own kernels'.
 */
#include <cudnn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_kernels.h"
#include "backend/cuda/cuda_operations.h"
#include "base/memory.h"

#define ALIGNMENT      16
#define ROOM_BYTES_MAX ((size_t)256 << 20) /* that a way of computing may need */
#define FOUND_MAX      16                  /* more than there are ways, in each kind of product */
#define AS_FAST        1.1f                /* times the fastest: no slower, but for chance */
#define CHOICES_MAX    1024                /* of all backends of the process */

static const float one = 1, zero = 0;

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

struct convolutions {
    cudnnHandle_t dnn;
    struct plan *plans; /* [count], one for each layer and size of the batch met so far */
    int count;
    struct room room;
};

static void check_that(cudnnStatus_t error, const char *what)
{
    if (error != CUDNN_STATUS_SUCCESS)
        cuda_lost(what, cudnnGetErrorString(error));
}

static void check(cudnnStatus_t error)
{
    check_that(error, "a convolution");
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
    cuda->convolutions = memory_new(1, sizeof *cuda->convolutions);
    check_that(cudnnCreate(&cuda->convolutions->dnn), "loading cuDNN");
    check_that(cudnnSetStream(cuda->convolutions->dnn, cuda->stream), "loading cuDNN");
    return cuda->convolutions;
}

/* What the products of float32 may be multiplied in. */
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

/* What cuDNN says of its ways; the three kinds differ in the type of the algorithm only. */
union found {
    cudnnConvolutionFwdAlgoPerf_t forward[FOUND_MAX];
    cudnnConvolutionBwdDataAlgoPerf_t backward[FOUND_MAX];
    cudnnConvolutionBwdFilterAlgoPerf_t to_weights[FOUND_MAX];
};
typedef cudnnConvolutionFwdAlgoPerf_t found_way;

#define SAME(member)                                                                               \
    (offsetof(found_way, member) == offsetof(cudnnConvolutionBwdDataAlgoPerf_t, member) &&         \
     offsetof(found_way, member) == offsetof(cudnnConvolutionBwdFilterAlgoPerf_t, member))
_Static_assert(sizeof(found_way) == sizeof(cudnnConvolutionBwdDataAlgoPerf_t) &&
                   sizeof(found_way) == sizeof(cudnnConvolutionBwdFilterAlgoPerf_t) &&
                   SAME(status) && SAME(time) && SAME(memory) && SAME(determinism) &&
                   SAME(mathType),
               "each kind is read as the first");

/* The planes of one product; what it neither reads nor writes is NULL. */
struct planes {
    const float *x;
    const float *dy;
    float *y;
    float *dx;
};

/* Memory for measuring: also what stands for the weights, since these must not be written. */
struct trial {
    float *weights;
    void *room;
    size_t room_bytes;
};

/* How many ways are found, in the order that cuDNN takes for that of their speed. */
static int guess(cudnnHandle_t dnn, const struct plan *plan, int way, union found *found)
{
    int count = 0;
    const cudnnConvolutionDescriptor_t how = plan->how[way];
    if (way == FORWARD)
        check(cudnnGetConvolutionForwardAlgorithm_v7(dnn, plan->x, plan->w, how, plan->y, FOUND_MAX,
                                                     &count, found->forward));
    else if (way == BACKWARD)
        check(cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, plan->w, plan->y, how, plan->x,
                                                          FOUND_MAX, &count, found->backward));
    else
        check(cudnnGetConvolutionBackwardFilterAlgorithm_v7(dnn, plan->x, plan->y, how, plan->w,
                                                            FOUND_MAX, &count, found->to_weights));
    return count;
}

/* Likewise, each computed once, with its time. Writes y or dx, which are to be computed anyway. */
static int measure_once(cudnnHandle_t dnn, const struct plan *plan, int way, struct planes planes,
                        const struct trial *trial, union found *found)
{
    int count = 0;
    cudnnStatus_t error;
    const cudnnConvolutionDescriptor_t how = plan->how[way];
    if (way == FORWARD)
        error = cudnnFindConvolutionForwardAlgorithmEx(
            dnn, plan->x, planes.x, plan->w, trial->weights, how, plan->y, planes.y, FOUND_MAX,
            &count, found->forward, trial->room, trial->room_bytes);
    else if (way == BACKWARD)
        error = cudnnFindConvolutionBackwardDataAlgorithmEx(
            dnn, plan->w, trial->weights, plan->y, planes.dy, how, plan->x, planes.dx, FOUND_MAX,
            &count, found->backward, trial->room, trial->room_bytes);
    else
        error = cudnnFindConvolutionBackwardFilterAlgorithmEx(
            dnn, plan->x, planes.x, plan->y, planes.dy, how, plan->w, trial->weights, FOUND_MAX,
            &count, found->to_weights, trial->room, trial->room_bytes);
    return error == CUDNN_STATUS_SUCCESS ? count : 0;
}

static bool is_usable(const found_way *way)
{
    return way->status == CUDNN_STATUS_SUCCESS && way->determinism == CUDNN_DETERMINISTIC &&
           way->memory <= ROOM_BYTES_MAX;
}

/* Nothing, where memory is too short to measure. */
static int measure(struct cuda *cuda, const struct plan *plan, int way, struct planes planes,
                   size_t room_bytes, union found *found)
{
    const cudnnHandle_t dnn = cuda->convolutions->dnn;
    const size_t weight_bytes =
        (size_t)plan->conv.filters * (size_t)conv_patch(&plan->conv) * sizeof(float);
    struct layout layout = {0};
    (void)cuda_part(&layout, weight_bytes);
    (void)cuda_part(&layout, room_bytes);
    void *memory = NULL;
    if (cudaMalloc(&memory, layout.bytes) != cudaSuccess) {
        (void)cudaGetLastError(); /* nobody else shall take it for theirs */
        return 0;
    }
    layout = (struct layout){.memory = memory};
    struct trial trial = {.weights = cuda_part(&layout, weight_bytes), .room_bytes = room_bytes};
    trial.room = cuda_part(&layout, room_bytes);
    cuda_check(cudaMemsetAsync(trial.weights, 0, weight_bytes, cuda->stream), "a convolution");
    (void)measure_once(dnn, plan, way, planes, &trial, found); /* kernels are loaded as they come */
    const int count = measure_once(dnn, plan, way, planes, &trial, found);
    cuda_give(&cuda->table, memory);
    return count;
}

/* Whether it was measured as it may be used. cuDNN tries more than it is asked for: a time in TF32
 * says nothing of one in float32, and float16 is never meant. */
static bool counts(const found_way *way, cudnnMathType_t math)
{
    return is_usable(way) &&
           (math == CUDNN_FMA_MATH ? way->mathType == CUDNN_FMA_MATH
                                   : way->mathType != CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION);
}

/* The first in the order of the guesses that is as fast as any; without times, the first. */
static const found_way *best(const found_way *guessed, int guesses, const found_way *measured,
                             int measurements, cudnnMathType_t math)
{
    const found_way *fastest = NULL, *first = NULL;
    for (const found_way *way = measured; way < measured + measurements; way++) {
        if (counts(way, math) && (fastest == NULL || way->time < fastest->time))
            fastest = way;
    }
    for (const found_way *guess = guessed; guess < guessed + guesses; guess++) {
        for (const found_way *way = measured; fastest && way < measured + measurements; way++) {
            if (way->algo == guess->algo && counts(way, math) &&
                way->time <= AS_FAST * fastest->time)
                return way;
        }
        first = first == NULL && is_usable(guess) ? guess : first;
    }
    return fastest != NULL ? fastest : first;
}

/* `measures` is false where no more choices can be kept: then all must guess. */
static struct way choose(struct cuda *cuda, const struct plan *plan, int way, cudnnMathType_t math,
                         struct planes planes, bool measures)
{
    union found guessed, measured;
    size_t room_bytes = 0;
    const int guesses = guess(cuda->convolutions->dnn, plan, way, &guessed);
    for (int i = 0; i < guesses; i++) {
        const found_way *found = &guessed.forward[i];
        room_bytes = is_usable(found) && found->memory > room_bytes ? found->memory : room_bytes;
    }
    const int measurements = measures ? measure(cuda, plan, way, planes, room_bytes, &measured) : 0;
    const found_way *found = best(guessed.forward, guesses, measured.forward, measurements, math);
    check(found != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED);
    return (struct way){.algorithm = (int)found->algo,
                        .math = math == CUDNN_FMA_MATH ? math : found->mathType,
                        .room_bytes = found->memory,
                        .chosen = true};
}

/* What was chosen, and for what. */
struct choice {
    int device;
    cudnnMathType_t math; /* that is allowed */
    struct conv conv;
    int batch;
    int kind; /* FORWARD, ... */
    struct way way;
};

/* The process's, not a backend's: two that measure for themselves may choose differently, and then
 * two learners of one process no longer compute the same bits. Only chosen_way touches it. */
static struct {
    pthread_mutex_t lock; /* held while measuring, too: nobody measures the same meanwhile */
    struct choice choices[CHOICES_MAX];
    int count;
} choices = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct way chosen_way(struct cuda *cuda, const struct plan *plan, int kind,
                             struct planes planes)
{
    const cudnnMathType_t math = math_of(cuda);
    CHECK(pthread_mutex_lock(&choices.lock) == 0);
    const struct choice *choice = choices.choices, *end = choice + choices.count;
    while (choice < end && (choice->device != cuda->device || choice->math != math ||
                            choice->batch != plan->batch || choice->kind != kind ||
                            memcmp(&choice->conv, &plan->conv, sizeof plan->conv) != 0))
        choice++;
    const bool has_room = choices.count < CHOICES_MAX;
    const struct way way =
        choice < end ? choice->way : choose(cuda, plan, kind, math, planes, has_room);
    if (choice == end && has_room)
        choices.choices[choices.count++] = (struct choice){.device = cuda->device,
                                                           .math = math,
                                                           .conv = plan->conv,
                                                           .batch = plan->batch,
                                                           .kind = kind,
                                                           .way = way};
    CHECK(pthread_mutex_unlock(&choices.lock) == 0);
    return way;
}

/* The algorithm, chosen when it is first needed; room may be laid afterwards. */
static int algorithm(struct cuda *cuda, struct plan *plan, int kind, struct planes planes)
{
    struct way *way = &plan->ways[kind];
    if (way->chosen)
        return way->algorithm;
    CHECK(!cuda->recording); /* what is recorded has been called before */
    *way = chosen_way(cuda, plan, kind, planes);
    check(cudnnSetConvolutionMathType(plan->how[kind], way->math));
    plan->room_bytes = way->room_bytes > plan->room_bytes ? way->room_bytes : plan->room_bytes;
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

/* Valid until the next convolution. */
static struct plan *plan_of(struct cuda *cuda, const struct conv *conv, int batch)
{
    const struct convolutions *all = convolutions_of(cuda);
    struct plan *plan = all->plans, *end = all->plans + all->count;
    while (plan < end && (plan->batch != batch || memcmp(&plan->conv, conv, sizeof *conv) != 0))
        plan++;
    return plan < end ? plan : add_plan(cuda, conv, batch);
}

/* The buffers of one product, valid until a way is chosen for another. */
struct work {
    cudnnHandle_t dnn;
    size_t weight_bytes;
    float *weights; /* room for them, aligned */
    float *parts;   /* of the sums over dy */
    void *room;     /* what the ways need */
};

static struct work lay_work(struct layout *layout, const struct plan *plan)
{
    const struct conv *conv = &plan->conv;
    const size_t filters = (size_t)conv->filters;
    struct work work = {.weight_bytes = filters * (size_t)conv_patch(conv) * sizeof *work.weights};
    work.weights = cuda_part(layout, work.weight_bytes);
    work.parts = cuda_part(layout, filters * SUM_PARTS * sizeof *work.parts);
    work.room = cuda_part(layout, plan->room_bytes);
    return work;
}

static struct work work_of(struct cuda *cuda, const struct plan *plan)
{
    struct layout measured = {0};
    (void)lay_work(&measured, plan);
    struct layout laid = {.memory =
                              cuda_step_room(cuda, &cuda->convolutions->room, measured.bytes)};
    struct work work = lay_work(&laid, plan);
    work.dnn = cuda->convolutions->dnn;
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

/* The weights, where cuDNN may read them. */
static const float *aligned(struct cuda *cuda, const struct work *work, const float *w)
{
    if (is_aligned(w))
        return w;
    copy(cuda, work->weights, w, work->weight_bytes);
    return work->weights;
}

void cuda_conv_forward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                       const float *w, const float *b, enum activation activation, float *y)
{
    struct cuda *cuda = cuda_on(backend);
    const struct shape out = conv_output(conv);
    struct plan *plan = plan_of(cuda, conv, batch);
    const int way = algorithm(cuda, plan, FORWARD, (struct planes){.x = x, .y = y});
    const struct work work = work_of(cuda, plan);
    check(cudnnConvolutionForward(work.dnn, &one, plan->x, x, plan->w, aligned(cuda, &work, w),
                                  plan->how[FORWARD], (cudnnConvolutionFwdAlgo_t)way, work.room,
                                  plan->room_bytes, &zero, plan->y, y));
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
                                       work.room, plan->room_bytes, &zero, plan->x, dx));
}

static void to_weights(struct cuda *cuda, struct plan *plan, const float *x, const float *dy,
                       float *dw)
{
    const int way = algorithm(cuda, plan, TO_WEIGHTS, (struct planes){.x = x, .dy = dy});
    const struct work work = work_of(cuda, plan);
    float *to = is_aligned(dw) ? dw : work.weights;
    check(cudnnConvolutionBackwardFilter(
        work.dnn, &one, plan->x, x, plan->y, dy, plan->how[TO_WEIGHTS],
        (cudnnConvolutionBwdFilterAlgo_t)way, work.room, plan->room_bytes, &zero, plan->w, to));
    if (to != dw)
        copy(cuda, dw, to, work.weight_bytes);
}

void cuda_conv_backward(struct backend *backend, const struct conv *conv, int batch, const float *x,
                        const float *w, const float *y, enum activation activation, float *dy,
                        float *dx, float *dw, float *db)
{
    struct cuda *cuda = cuda_on(backend);
    const struct shape out = conv_output(conv);
    struct plan *plan = plan_of(cuda, conv, batch);
    if (activation != LINEAR || db != NULL)
        cuda_check(kernel_slope_planes(cuda->stream, batch, conv->filters, out.height * out.width,
                                       y, activation, dy, work_of(cuda, plan).parts, db),
                   "a convolution");
    if (dx != NULL)
        to_inputs(cuda, plan, w, dy, dx);
    to_weights(cuda, plan, x, dy, dw);
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
        check(cudnnDestroyFilterDescriptor(plan->w));
        for (int way = 0; way < WAYS; way++)
            check(cudnnDestroyConvolutionDescriptor(plan->how[way]));
    }
    check(cudnnDestroy(all->dnn));
    cuda_give(&cuda->table, all->room.memory);
    free(all->plans);
    free(all);
}
