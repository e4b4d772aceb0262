/* What sequence models need beside matrix products and attention, on the GPU: what cpu_sequence.c
 * does. */
#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_transformer.h"

#define NONE (-1)

static __global__ void embed(unsigned rows, unsigned size, const int32_t *token, const float *table,
                             float *y)
{
    EACH_LINE (row, rows) {
        const float *from = table + (size_t)token[row] * size;
        float *to = y + (size_t)row * size;
        EACH_PLACE (place, size)
            to[place] = from[place];
    }
}

cudaError_t kernel_embed(cudaStream_t stream, size_t rows, int size, const int32_t *token,
                         const float *table, float *y)
{
    return launch_lines(stream, rows, embed, (unsigned)size, token, table, y);
}

/* Which row is the next with the same token, where there is one, and whether there is one before.
 * A warp looks back from each row to the nearest: rows² / 64 steps of a warp at most, for tokens
 * that come once. */
static __global__ void link_rows(unsigned rows, const int32_t *token, int32_t *later,
                                 uint8_t *is_first)
{
    const unsigned back = threadIdx.x % WARP; /* how far from the last one */
    EACH_LINE (row, rows) {
        const int32_t own = token[row];
        uint32_t same = 0;
        unsigned end = row; /* of what has not been looked at */
        while (end > 0 && same == 0) {
            const bool inside = back < end;
            same = __ballot_sync(0xFFFFFFFFu, inside && token[inside ? end - 1 - back : 0] == own);
            if (same == 0)
                end = end > WARP ? end - WARP : 0;
        }
        if (back == 0) {
            is_first[row] = same == 0;
            if (same != 0)
                later[end - (unsigned)__ffs((int)same)] = (int32_t)row;
        }
    }
}

/* Each row of the table is written by the threads of the first row that has its token, which add
 * the others to it in order: as many steps as a token comes, at most. */
static __global__ void add_rows(unsigned count, unsigned size, const int32_t *token,
                                const int32_t *later, const uint8_t *is_first, const float *dy,
                                float *dtable)
{
    EACH (i, count) {
        const unsigned first = i / size, place = i % size;
        if (!is_first[first])
            continue;
        float *to = dtable + (size_t)token[first] * size + place;
        float sum = *to;
        for (int32_t row = (int32_t)first; row != NONE; row = later[row])
            sum += dy[(size_t)row * size + place];
        *to = sum;
    }
}

cudaError_t kernel_embed_backward(cudaStream_t stream, size_t rows, int size, const int32_t *token,
                                  const float *dy, int32_t *later, uint8_t *is_first, float *dtable)
{
    cudaError_t error = cudaMemsetAsync(later, 0xFF, rows * sizeof *later, stream); /* NONE */
    if (error == cudaSuccess)
        error = launch_lines(stream, rows, link_rows, token, later, is_first);
    if (error == cudaSuccess)
        error = launch_each(stream, rows * (size_t)size, add_rows, (unsigned)size, token, later,
                            is_first, dy, dtable);
    return error;
}

static __global__ void add(unsigned count, unsigned period, const float *x, const float *shared,
                           float *y)
{
    each_at_once(
        count,
        [=](unsigned i) { return make_float2(x[i], shared[period == count ? i : i % period]); },
        [=](unsigned i, float2 both) { y[i] = both.x + both.y; });
}

cudaError_t kernel_add(cudaStream_t stream, size_t count, size_t period, const float *x,
                       const float *shared, float *y)
{
    return launch_each(stream, count, add, (unsigned)period, x, shared, y);
}

static __global__ void sum_shared(unsigned count, unsigned batch, const float *dy, float *dshared)
{
    EACH (i, count) {
        float sum = 0;
        for (unsigned sample = 0; sample < batch; sample++)
            sum += dy[(size_t)sample * count + i];
        dshared[i] = sum;
    }
}

cudaError_t kernel_sum_shared(cudaStream_t stream, int batch, size_t count, const float *dy,
                              float *dshared)
{
    return launch_each(stream, count, sum_shared, (unsigned)batch, dy, dshared);
}

static __global__ void drop(unsigned count, struct dropout dropout, const uint32_t *draws,
                            const float *x, float *y)
{
    const uint32_t size = (uint32_t)dropout.size, below = dropout_below(dropout.rate);
    const float scale = 1 / (1 - dropout.rate);
    EACH (i, count) {
        const uint32_t begin = dropout_begin(draws[i / size], dropout.layer);
        y[i] = dropout_drops(begin, i % size, below) ? 0 : x[i] * scale;
    }
}

cudaError_t kernel_drop(cudaStream_t stream, struct dropout dropout, const uint32_t *draws,
                        const float *x, float *y)
{
    return launch_each(stream, (size_t)dropout.batch * dropout.size, drop, dropout, draws, x, y);
}

/* A warp a row. The deviations are summed from their mean, so that nothing is lost where it is
 * large; without b there is no mean. */
static __global__ void norm(unsigned rows, unsigned size, const float *x, const float *w,
                            const float *b, float *y, float *stats)
{
    EACH_LINE (row, rows) {
        const float *from = x + (size_t)row * size;
        float *to = y + (size_t)row * size;
        float sum = 0, square = 0;
        EACH_PLACE (place, b != NULL ? size : 0)
            sum += from[place];
        const float mean = b != NULL ? warp_sum(sum) / (float)size : 0;
        EACH_PLACE (place, size) {
            const float deviation = from[place] - mean;
            square += deviation * deviation;
        }
        const float scale = 1 / sqrtf(warp_sum(square) / (float)size + NORM_EPSILON);
        EACH_PLACE (place, size)
            to[place] = (from[place] - mean) * scale * w[place] + (b != NULL ? b[place] : 0);
        if (threadIdx.x % WARP == 0) {
            stats[2 * (size_t)row] = mean;
            stats[2 * (size_t)row + 1] = scale;
        }
    }
}

cudaError_t kernel_norm(cudaStream_t stream, size_t rows, int size, const float *x, const float *w,
                        const float *b, float *y, float *stats)
{
    return launch_lines(stream, rows, norm, (unsigned)size, x, w, b, y, stats);
}

/* With n = (x - mean) · scale and s = dy · w: dx = scale · (s - mean of s - n · mean of s·n);
 * without b the mean is not taken out, and the second term is none. */
static __global__ void norm_slopes(unsigned rows, unsigned size, bool centred, const float *x,
                                   const float *w, const float *stats, const float *dy, float *dx)
{
    EACH_LINE (row, rows) {
        const size_t first = (size_t)row * size;
        const float mean = stats[2 * (size_t)row], scale = stats[2 * (size_t)row + 1];
        float sum = 0, along = 0;
        EACH_PLACE (place, size) {
            const float slope = dy[first + place] * w[place];
            sum += slope;
            along += slope * ((x[first + place] - mean) * scale);
        }
        sum = warp_sum(sum);
        along = warp_sum(along) / (float)size;
        const float common = centred ? sum / (float)size : 0;
        EACH_PLACE (place, size) {
            const float n = (x[first + place] - mean) * scale;
            dx[first + place] = scale * (dy[first + place] * w[place] - common - n * along);
        }
    }
}

/* A block adds up 32 columns of some of the rows, a warp every WARPS-th of them. */
static __global__ void norm_parts(unsigned blocks, unsigned rows, unsigned size, bool centred,
                                  const float *x, const float *stats, const float *dy, float *parts)
{
    __shared__ float dw[WARPS][WARP], db[WARPS][WARP];
    const unsigned half = threadIdx.x % WARP, line = threadIdx.x / WARP;
    const unsigned most = (rows + NORM_PARTS - 1) / NORM_PARTS;
    for (unsigned block = blockIdx.x; block < blocks; block += gridDim.x) {
        const unsigned part = block % NORM_PARTS, column = block / NORM_PARTS * WARP + half;
        const unsigned end = (part + 1) * most < rows ? (part + 1) * most : rows;
        float of_w = 0, of_b = 0;
        for (unsigned row = part * most + line; row < end && column < size; row += WARPS) {
            const size_t at = (size_t)row * size + column;
            const float slope = dy[at];
            of_w += slope * ((x[at] - stats[2 * (size_t)row]) * stats[2 * (size_t)row + 1]);
            of_b += slope;
        }
        __syncthreads(); /* those of the last block have been read */
        dw[line][half] = of_w;
        db[line][half] = of_b;
        __syncthreads();
        for (unsigned other = 1; line == 0 && other < WARPS; other++) {
            of_w += dw[other][half];
            of_b += db[other][half];
        }
        if (line == 0 && column < size) {
            parts[(size_t)part * size + column] = of_w;
            if (centred)
                parts[(size_t)(NORM_PARTS + part) * size + column] = of_b;
        }
    }
}

static __global__ void norm_sums(unsigned size, const float *parts, float *dw, float *db)
{
    EACH (i, size) {
        float of_w = 0, of_b = 0;
        for (unsigned part = 0; part < NORM_PARTS; part++) {
            of_w += parts[(size_t)part * size + i];
            of_b += db != NULL ? parts[(size_t)(NORM_PARTS + part) * size + i] : 0;
        }
        dw[i] = of_w;
        if (db != NULL)
            db[i] = of_b;
    }
}

cudaError_t kernel_norm_backward(cudaStream_t stream, size_t rows, int size, const float *x,
                                 const float *w, const float *stats, const float *dy, float *parts,
                                 float *dx, float *dw, float *db)
{
    const unsigned columns = (unsigned)size, groups = (columns + WARP - 1) / WARP;
    const bool centred = db != NULL;
    cudaError_t error =
        launch_lines(stream, rows, norm_slopes, columns, centred, x, w, stats, dy, dx);
    if (error == cudaSuccess)
        error = launch(stream, (size_t)groups * NORM_PARTS, norm_parts, groups * NORM_PARTS,
                       (unsigned)rows, columns, centred, x, stats, dy, parts);
    if (error == cudaSuccess)
        error = launch_each(stream, columns, norm_sums, parts, dw, db);
    return error;
}

/* The angles are worked out in double, once for each position from `from` on and each pair. */
static __global__ void measure_turns(unsigned count, unsigned half, unsigned from, int turn,
                                     float2 *turns)
{
    EACH (at, count) {
        const double power = -(double)(at % half) / (double)half;
        const double angle = (double)(from + at / half) * pow((double)ROPE_BASE, power);
        turns[at] = make_float2((float)cos(angle), (float)((double)turn * sin(angle)));
    }
}

/* A line: the numbers of one head at one position. */
static __global__ void rotate(unsigned lines, struct attention attention, unsigned heads,
                              const float2 *turns, float *x)
{
    const unsigned half = (unsigned)attention.size / 2, from = (unsigned)attention.from;
    const unsigned length = (unsigned)attention.length, turned = length - from;
    const unsigned all = (unsigned)(attention.heads + 2 * attention.kv_heads);
    EACH_LINE (line, lines) {
        const unsigned sample = line / heads / turned, position = line / heads % turned;
        const size_t row = (size_t)sample * length + from + position;
        float *at = x + (row * all + line % heads) * (unsigned)attention.size;
        EACH_PLACE (i, half) {
            const float2 by = turns[position * half + i];
            const float a = at[i], b = at[half + i];
            at[i] = a * by.x - b * by.y;
            at[half + i] = a * by.y + b * by.x;
        }
    }
}

cudaError_t kernel_rotate(cudaStream_t stream, struct attention attention, int batch, int turn,
                          float *turns, float *x)
{
    const size_t turned = (size_t)(attention.length - attention.from);
    const size_t half = (size_t)attention.size / 2;
    const size_t heads = (size_t)(attention.heads + attention.kv_heads);
    float2 *pairs = (float2 *)turns;
    const cudaError_t error = launch_each(stream, turned * half, measure_turns, (unsigned)half,
                                          (unsigned)attention.from, turn, pairs);
    return error != cudaSuccess ? error
                                : launch_lines(stream, (size_t)batch * turned * heads, rotate,
                                               attention, (unsigned)heads, pairs, x);
}

static __device__ float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

static __global__ void swiglu(unsigned count, unsigned size, const float *x, float *y)
{
    each_at_once(
        count,
        [=](unsigned i) {
            const size_t at = (size_t)(i / size) * 2 * size + i % size;
            return make_float2(x[at], x[at + size]);
        },
        [=](unsigned i, float2 both) { y[i] = both.x * sigmoid(both.x) * both.y; });
}

cudaError_t kernel_swiglu(cudaStream_t stream, size_t rows, int size, const float *x, float *y)
{
    return launch_each(stream, rows * (size_t)size, swiglu, (unsigned)size, x, y);
}

static __global__ void swiglu_backward(unsigned count, unsigned size, const float *x,
                                       const float *dy, float *dx)
{
    EACH (i, count) {
        const size_t at = (size_t)(i / size) * 2 * size + i % size;
        const float own = x[at], other = x[at + size], slope = dy[i];
        const float gate = sigmoid(own), silu = own * gate;
        dx[at] = slope * other * (gate + silu * (1 - gate));
        dx[at + size] = slope * silu;
    }
}

cudaError_t kernel_swiglu_backward(cudaStream_t stream, size_t rows, int size, const float *x,
                                   const float *dy, float *dx)
{
    return launch_each(stream, rows * (size_t)size, swiglu_backward, (unsigned)size, x, dy, dx);
}
