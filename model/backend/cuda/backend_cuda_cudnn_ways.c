/* Chooses cuDNN's algorithms for a convolution (cuda_cudnn.h). */
#include "backend/cuda/cuda_cudnn.h"

#include <stddef.h>
#include <string.h>

#define ROOM_BYTES_MAX ((size_t)256 << 20) /* largest workspace of an algorithm */
/* Capacity of a list; cuDNN has fewer algorithms for y, dx or dw. */
#define FOUND_MAX 16

static void check_way(cudnnStatus_t error)
{
    cudnn_check(error, "a convolution");
}

/* List of algorithms from cuDNN. The lists for y, dx and dw have different types. All are read as
 * found_way, because the members that are used have equal offsets. */
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

/* Memory for measuring. `weights` stands for w or dw, so that dw is not overwritten. */
struct trial {
    float *weights;
    void *scratch;
    size_t scratch_bytes;
};

/* Writes cuDNN's algorithms in the order of their expected speed, without running them. Returns
 * their number. */
static int guess(cudnnHandle_t dnn, const struct plan *plan, int way, union found *found)
{
    int count = 0;
    const cudnnConvolutionDescriptor_t how = plan->how[way];
    if (way == FORWARD)
        check_way(cudnnGetConvolutionForwardAlgorithm_v7(dnn, plan->x, plan->w, how, plan->y,
                                                         FOUND_MAX, &count, found->forward));
    else if (way == BACKWARD)
        check_way(cudnnGetConvolutionBackwardDataAlgorithm_v7(dnn, plan->w, plan->y, how, plan->x,
                                                              FOUND_MAX, &count, found->backward));
    else
        check_way(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
            dnn, plan->x, plan->y, how, plan->w, FOUND_MAX, &count, found->to_weights));
    return count;
}

/* Runs each algorithm once and writes the list of algorithms with their measured times. Returns the
 * length of the list, 0 on an error. Overwrites y or dx, which the caller computes afterwards. */
static int measure_once(cudnnHandle_t dnn, const struct plan *plan, int way, struct planes planes,
                        const struct trial *trial, union found *found)
{
    int count = 0;
    cudnnStatus_t error;
    const cudnnConvolutionDescriptor_t how = plan->how[way];
    if (way == FORWARD)
        error = cudnnFindConvolutionForwardAlgorithmEx(
            dnn, plan->x, planes.x, plan->w, trial->weights, how, plan->y, planes.y, FOUND_MAX,
            &count, found->forward, trial->scratch, trial->scratch_bytes);
    else if (way == BACKWARD)
        error = cudnnFindConvolutionBackwardDataAlgorithmEx(
            dnn, plan->w, trial->weights, plan->y, planes.dy, how, plan->x, planes.dx, FOUND_MAX,
            &count, found->backward, trial->scratch, trial->scratch_bytes);
    else
        error = cudnnFindConvolutionBackwardFilterAlgorithmEx(
            dnn, plan->x, planes.x, plan->y, planes.dy, how, plan->w, trial->weights, FOUND_MAX,
            &count, found->to_weights, trial->scratch, trial->scratch_bytes);
    return error == CUDNN_STATUS_SUCCESS ? count : 0;
}

static bool is_winograd(int way, int algorithm)
{
    static const int ways[WAYS][2] = {
        [FORWARD] = {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
                     CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED},
        [BACKWARD] = {CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
                      CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED},
        [TO_WEIGHTS] = {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD,
                        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED}};
    return algorithm == ways[way][0] || algorithm == ways[way][1];
}

static bool is_usable(const found_way *found, int way, cudnnMathType_t math)
{
    return found->status == CUDNN_STATUS_SUCCESS && found->determinism == CUDNN_DETERMINISTIC &&
           found->memory <= ROOM_BYTES_MAX &&
           !(math == CUDNN_FMA_MATH && is_winograd(way, (int)found->algo));
}

/* Replaces the time of each algorithm in found[count] by its time in again[times] if that is
 * shorter. */
static void keep_shortest(found_way *found, int count, const found_way *again, int times)
{
    for (int i = 0; i < count; i++) {
        for (const found_way *seen = again; seen < again + times; seen++) {
            if (seen->algo == found[i].algo && seen->mathType == found[i].mathType &&
                seen->status == CUDNN_STATUS_SUCCESS && seen->time < found[i].time)
                found[i].time = seen->time;
        }
    }
}

/* Measures the algorithms and writes the list of algorithms with their shortest times. Returns the
 * length of the list; 0 if there is too little memory to measure, or after an error of cuDNN. */
static int measure(struct cuda *cuda, cudnnHandle_t dnn, const struct plan *plan, int way,
                   struct planes planes, size_t scratch_bytes, union found *found)
{
    const size_t weight_bytes =
        (size_t)plan->conv.filters * (size_t)conv_patch(&plan->conv) * sizeof(float);
    struct layout layout = {0};
    (void)cuda_part(&layout, weight_bytes);
    (void)cuda_part(&layout, scratch_bytes);
    void *memory = cuda_alloc_spare(cuda, layout.bytes);
    if (memory == NULL)
        return 0;
    layout = (struct layout){.memory = memory};
    struct trial trial = {.weights = cuda_part(&layout, weight_bytes),
                          .scratch_bytes = scratch_bytes};
    trial.scratch = cuda_part(&layout, scratch_bytes);
    cuda_check(cudaMemsetAsync(trial.weights, 0, weight_bytes, cuda->stream), "a convolution");
    (void)measure_once(dnn, plan, way, planes, &trial, found); /* this run only loads the kernels */
    const int count = measure_once(dnn, plan, way, planes, &trial, found);
    for (int i = 1; i < TRIALS; i++) {
        union found again;
        const int times = measure_once(dnn, plan, way, planes, &trial, &again);
        keep_shortest(found->forward, count, again.forward, times);
    }
    cuda_free(&cuda->table, memory);
    return count;
}

/* Returns whether the measured algorithm may be chosen. cuDNN also measures precisions that are not
 * allowed: TF32 if math requires float32, and float16. */
static bool counts(const found_way *found, int way, cudnnMathType_t math)
{
    return is_usable(found, way, math) &&
           (math == CUDNN_FMA_MATH ? found->mathType == CUDNN_FMA_MATH
                                   : found->mathType != CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION);
}

/* Lists of algorithms for y, dx or dw: in cuDNN's expected order (guessed), and as measured. */
struct ways_found {
    int way;
    cudnnMathType_t math; /* lowest precision that is allowed */
    int guesses, measurements;
    union found guessed, measured;
};

/* Returns the first algorithm in cuDNN's order that is within AS_FAST of the fastest. Without
 * usable measurements, returns the first usable algorithm; NULL if there is none. */
static const found_way *best(const struct ways_found *all)
{
    const found_way *fastest = NULL, *first = NULL;
    const found_way *measured = all->measured.forward, *end = measured + all->measurements;
    const found_way *guessed = all->guessed.forward;
    for (const found_way *seen = measured; seen < end; seen++) {
        if (counts(seen, all->way, all->math) && (fastest == NULL || seen->time < fastest->time))
            fastest = seen;
    }
    for (const found_way *guess = guessed; guess < guessed + all->guesses; guess++) {
        for (const found_way *seen = measured; fastest && seen < end; seen++) {
            if (seen->algo == guess->algo && counts(seen, all->way, all->math) &&
                seen->time <= AS_FAST * fastest->time)
                return seen;
        }
        first = first == NULL && is_usable(guess, all->way, all->math) ? guess : first;
    }
    return fastest != NULL ? fastest : first;
}

static struct way choose(struct cuda *cuda, cudnnHandle_t dnn, const struct plan *plan, int way,
                         cudnnMathType_t math, struct planes planes, bool measures)
{
    struct ways_found all = {.way = way, .math = math};
    size_t scratch_bytes = 0;
    all.guesses = guess(dnn, plan, way, &all.guessed);
    for (int i = 0; i < all.guesses; i++) {
        const found_way *seen = &all.guessed.forward[i];
        scratch_bytes = is_usable(seen, way, math) && seen->memory > scratch_bytes ? seen->memory
                                                                                   : scratch_bytes;
    }
    if (measures)
        all.measurements = measure(cuda, dnn, plan, way, planes, scratch_bytes, &all.measured);
    const found_way *found = best(&all);
    check_way(found != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED);
    return (struct way){.algorithm = (int)found->algo,
                        .math = math == CUDNN_FMA_MATH ? math : found->mathType,
                        .scratch_bytes = found->memory,
                        .chosen = true};
}

/* Key of a choice (cuda_choice.h). It has only ints, so that there is no padding. */
struct choice_key {
    int device;
    int math; /* lowest precision that is allowed */
    struct conv conv;
    int batch;
    int kind; /* FORWARD, BACKWARD or TO_WEIGHTS */
};

struct choice_context {
    struct cuda *cuda;
    cudnnHandle_t dnn;
    const struct plan *plan;
    cudnnMathType_t math;
    int kind;
    struct planes planes;
};

static void choose_way(void *context, bool measures, void *way)
{
    const struct choice_context *of = context;
    *(struct way *)way =
        choose(of->cuda, of->dnn, of->plan, of->kind, of->math, of->planes, measures);
}

struct way cudnn_way(struct cuda *cuda, cudnnHandle_t dnn, const struct plan *plan,
                     cudnnMathType_t math, int kind, struct planes planes)
{
    struct way way;
    const struct choice_key key = {cuda->device, (int)math, plan->conv, plan->batch, kind};
    struct choice_context context = {cuda, dnn, plan, math, kind, planes};
    cuda_choice(&(struct chooser){.key = &key,
                                  .key_bytes = sizeof key,
                                  .choice_bytes = sizeof way,
                                  .choose = choose_way,
                                  .context = &context},
                &way);
    return way;
}
