/* Losses on the GPU; cpu_loss.c does the same on the CPU. */
#include <cfloat>

#include "backend/cuda/cuda_bf16.cuh"
#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_kernels.h"

#define FEW_CLASSES 1024 /* up to this number of classes, a warp computes a row; above, a block */

/* Partial softmax of some logits of a row. top: the largest logit; largest: its index, the lowest
 * if several are equal. sum: Σ exp(logit - top). own: the label's logit, or 0 if it is not among
 * these logits. all: the sum of these logits. */
struct softmax {
    float top;
    float sum;
    float own;
    float all;
    uint32_t largest;
};

/* Joins two partial results. A result without logits has top = -FLT_MAX, not -infinity, so that
 * no difference becomes NaN. */
static __device__ struct softmax join(struct softmax a, struct softmax b)
{
    const bool first = a.top > b.top || (a.top == b.top && a.largest < b.largest);
    const float top = first ? a.top : b.top;
    return {top, a.sum * expf(a.top - top) + b.sum * expf(b.top - top), a.own + b.own,
            a.all + b.all, first ? a.largest : b.largest};
}

/* Reads AT_ONCE logits of this thread, if GROUP threads share the row; -infinity beyond the
 * row's end. */
template <unsigned GROUP>
static __device__ void ask_for(unsigned first, unsigned classes, const float *row, float *values)
{
#pragma unroll
    for (unsigned k = 0; k < AT_ONCE; k++)
        values[k] = first + k * GROUP < classes ? row[first + k * GROUP] : -INFINITY;
}

/* Raises the largest logit to `top`, which is among `values`, and scales the sum down to it. */
template <unsigned GROUP>
static __device__ void raise_top(struct softmax *seen, unsigned first, const float *values,
                                 float top)
{
    seen->sum *= expf(seen->top - top);
    seen->top = top;
#pragma unroll
    for (unsigned k = AT_ONCE; k-- > 0;)
        seen->largest = values[k] == top ? first + k * GROUP : seen->largest;
}

/* Computes this thread's part of a row's softmax. The sum is relative to the largest logit so far,
 * which grows only a few times. */
template <unsigned GROUP>
static __device__ struct softmax read_logits(unsigned classes, const float *row, uint32_t label)
{
    const unsigned place = threadIdx.x % GROUP;
    struct softmax seen = {-FLT_MAX, 0, place == 0 && label < classes ? row[label] : 0, 0,
                           UINT32_MAX};
    for (unsigned first = place; first < classes; first += AT_ONCE * GROUP) {
        float values[AT_ONCE], top = seen.top;
        ask_for<GROUP>(first, classes, row, values);
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++)
            top = fmaxf(top, values[k]);
        if (top > seen.top)
            raise_top<GROUP>(&seen, first, values, top);
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++) {
            seen.sum += expf(values[k] - seen.top);
            seen.all += first + k * GROUP < classes ? values[k] : 0;
        }
    }
    return seen;
}

/* Joins the results of the GROUP threads of a row, always in the same order. Returns the joined
 * result to each of them. */
template <unsigned GROUP> static __device__ struct softmax join_all(struct softmax seen)
{
    for (unsigned apart = WARP / 2; apart > 0; apart /= 2) {
        const struct softmax other = {__shfl_xor_sync(0xFFFFFFFFu, seen.top, apart),
                                      __shfl_xor_sync(0xFFFFFFFFu, seen.sum, apart),
                                      __shfl_xor_sync(0xFFFFFFFFu, seen.own, apart),
                                      __shfl_xor_sync(0xFFFFFFFFu, seen.all, apart),
                                      __shfl_xor_sync(0xFFFFFFFFu, seen.largest, apart)};
        seen = threadIdx.x & apart ? join(other, seen) : join(seen, other);
    }
    if (GROUP == WARP)
        return seen;
    __shared__ struct softmax of_warps[WARPS];
    __syncthreads(); /* all threads have read the results of the previous row */
    of_warps[threadIdx.x / WARP] = seen;
    __syncthreads();
    seen = of_warps[0];
    for (unsigned warp = 1; warp < WARPS; warp++)
        seen = join(seen, of_warps[warp]);
    return seen;
}

/* Returns the loss of a row from its softmax; NaN if the label is invalid. Only losses are added in
 * double precision, because most devices have few units for it. */
static __device__ struct score row_score(struct cross_entropy terms, uint32_t label,
                                         struct softmax seen)
{
    const double smoothing = (double)terms.smoothing;
    if (label == (uint32_t)LABEL_IGNORED)
        return {0, 0, 0};
    if (label >= (uint32_t)terms.classes)
        return {(double)NAN, 1, 0};
    const double own = smoothing == 0 ? (double)seen.own
                                      : (1 - smoothing) * (double)seen.own +
                                            smoothing * ((double)seen.all / terms.classes);
    return {(double)logf(seen.sum) - (own - (double)seen.top), 1, seen.largest == label};
}

/* Terms of a row's gradients. The gradient of each logit is exp(logit - top) · scale - spread. From
 * the gradient of the label's logit, `own` is also subtracted. */
struct gradients {
    float top;
    float scale;
    float spread;
    float own;
};

template <unsigned GROUP, typename Gradient>
static __device__ void clear_gradients(unsigned first, unsigned end, Gradient *to)
{
    for (unsigned c = first + threadIdx.x % GROUP; c < end; c += GROUP)
        put(to + c, 0);
}

/* Writes the gradients of a row. Begins with the last logits, which are still in the cache. */
template <unsigned GROUP, typename Gradient>
static __device__ void write_gradients(unsigned classes, const float *row, uint32_t label,
                                       struct gradients gradients, Gradient *to)
{
    const unsigned step = AT_ONCE * GROUP;
    for (unsigned left = (classes + step - 1) / step; left-- > 0;) {
        const unsigned first = left * step + threadIdx.x % GROUP;
        float values[AT_ONCE];
        ask_for<GROUP>(first, classes, row, values);
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++) {
            const unsigned c = first + k * GROUP;
            const float share =
                expf(values[k] - gradients.top) * gradients.scale - gradients.spread;
            if (c < classes)
                put(to + c, share - (c == label ? gradients.own : 0));
        }
    }
}

/* Computes the loss of one row at a time by GROUP threads, a warp or a block. dlogits may be the
 * logits: a thread overwrites only logits that no other thread reads. (The label's logit is read
 * before the threads synchronise.) Rows are `stride` numbers apart. dlogits is written up to column
 * `end`, with zeros behind the classes. The index of a logit may need more than 32 bits. */
template <unsigned GROUP, typename Gradient>
static __global__ void __launch_bounds__(THREADS, BLOCKS_AT_ONCE)
    cross_entropy(unsigned rows, struct cross_entropy loss, unsigned stride, unsigned end,
                  const float *logits, const int32_t *labels, Gradient *dlogits,
                  struct score *row_scores)
{
    const unsigned groups = THREADS / GROUP, classes = (unsigned)loss.classes;
    const float one = 1 / (float)loss.of, spread = loss.smoothing / (float)loss.classes * one;
    for (unsigned i = blockIdx.x * groups + threadIdx.x / GROUP; i < rows;
         i += gridDim.x * groups) {
        const size_t first = (size_t)i * stride;
        const uint32_t label = (uint32_t)labels[i];
        const bool ignored = label == (uint32_t)LABEL_IGNORED;
        const struct softmax seen =
            join_all<GROUP>(read_logits<GROUP>(ignored ? 0 : classes, logits + first, label));
        if (threadIdx.x % GROUP == 0)
            row_scores[i] = row_score(loss, label, seen);
        if (dlogits == NULL)
            continue;
        const struct gradients gradients = {seen.top, 1 / (seen.sum * (float)loss.of), spread,
                                            (1 - loss.smoothing) * one};
        if (!ignored)
            write_gradients<GROUP>(classes, logits + first, label, gradients, dlogits + first);
        clear_gradients<GROUP>(ignored ? 0 : classes, end, dlogits + first);
    }
}

/* Adds the rows' scores to the score, in one block, so that losses are always added in the same
 * order. */
static __global__ void add_scores(unsigned rows, const struct score *row_scores,
                                  struct score *score)
{
    __shared__ double losses[THREADS];
    __shared__ unsigned counts[THREADS];
    double loss = 0;
    unsigned labels = 0, correct = 0;
    for (unsigned i = threadIdx.x; i < rows; i += THREADS) {
        loss += row_scores[i].loss;
        labels += row_scores[i].labels;
        correct += row_scores[i].correct;
    }
    loss = block_sum(loss, losses);
    labels = block_sum(labels, counts);
    correct = block_sum(correct, counts);
    if (threadIdx.x == 0) {
        score->loss += loss;
        score->labels += labels;
        score->correct += correct;
    }
}

template <typename Gradient>
static cudaError_t launch_loss(cudaStream_t stream, struct cross_entropy loss, int stride, int end,
                               const float *logits, const int32_t *labels, Gradient *dlogits,
                               struct score *row_scores, struct score *score)
{
    const unsigned count = (unsigned)loss.rows;
    const cudaError_t error =
        loss.classes <= FEW_CLASSES
            ? launch_lines(stream, count, cross_entropy<WARP, Gradient>, loss, (unsigned)stride,
                           (unsigned)end, logits, labels, dlogits, row_scores)
            : launch(stream, count, cross_entropy<THREADS, Gradient>, count, loss, (unsigned)stride,
                     (unsigned)end, logits, labels, dlogits, row_scores);
    return error != cudaSuccess
               ? error
               : launch(stream, 1, add_scores, count, (const struct score *)row_scores, score);
}

cudaError_t kernel_cross_entropy(cudaStream_t stream, struct cross_entropy loss, int stride,
                                 const float *logits, const int32_t *labels, float *dlogits,
                                 struct score *row_scores, struct score *score)
{
    return launch_loss(stream, loss, stride, loss.classes, logits, labels, dlogits, row_scores,
                       score);
}

cudaError_t kernel_cross_entropy_bf16(cudaStream_t stream, struct cross_entropy loss, int stride,
                                      const float *logits, const int32_t *labels, uint16_t *dlogits,
                                      struct score *row_scores, struct score *score)
{
    return launch_loss(stream, loss, stride, stride, logits, labels, (bf16 *)dlogits, row_scores,
                       score);
}

/* Computes the squared error with one warp per row. dy may be y, since a thread overwrites only
 * numbers that no other thread reads. */
static __global__ void squared_error(unsigned rows, unsigned width, float gradient, const float *y,
                                     const float *want, float *dy, struct score *row_scores)
{
    EACH_LINE (i, rows) {
        const size_t first = (size_t)i * width;
        float squares = 0;
        EACH_PLACE (k, width) {
            const float apart = y[first + k] - want[first + k];
            squares += apart * apart;
            if (dy != NULL)
                dy[first + k] = gradient * apart;
        }
        squares = warp_sum(squares);
        if (threadIdx.x % WARP == 0)
            row_scores[i] = {(double)squares / width, 1, 0};
    }
}

cudaError_t kernel_squared_error(cudaStream_t stream, int rows, int width, int of, const float *y,
                                 const float *want, float *dy, struct score *row_scores,
                                 struct score *score)
{
    const float gradient = 2 / ((float)of * (float)width);
    const cudaError_t error = launch_lines(stream, (size_t)rows, squared_error, (unsigned)width,
                                           gradient, y, want, dy, row_scores);
    return error != cudaSuccess ? error
                                : launch(stream, 1, add_scores, (unsigned)rows,
                                         (const struct score *)row_scores, score);
}
