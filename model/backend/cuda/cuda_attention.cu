/* Causal attention on the GPU without storing the matrix of scores (Dao et al. 2022). The backward
 * pass has two kernels. Each sums only its own outputs, in a fixed order, so results are
 * reproducible.
 *
 *   forward   a block: STRIP queries of a head with the keys up to them, tile by tile
 *   to_query  a block: gradients of STRIP queries, from the keys up to them
 *   to_key    a block: gradients of STRIP keys and values, from the queries of all heads that share
 *             these keys, at their positions and later
 *
 * All products are of two tiles of STRIP x STRIP numbers. Each thread computes four by four numbers
 * of the result. Recomputing scores takes less time than storing and reading them. Fused
 * multiply-adds (fmaf) are allowed, because no result here must equal another device's bit for bit.
 */
#include <type_traits>

#include "backend/cuda/cuda_attention.cuh"

#define STRIP 64 /* number of positions in a tile, and of numbers per position */
/* Number of threads that share a row. Each thread has four numbers of each of four rows. */
#define FOURS (STRIP / 4)

/* A tile in shared memory: STRIP numbers of STRIP positions. Rows are four numbers longer than
 * needed, so that neighbouring rows begin in different memory banks. */
struct tile {
    float4 row[STRIP][FOURS + 1];
};

/* The two operands of a product, in shared memory. */
struct tiles {
    struct tile own;
    struct tile other;
};

/* A thread's part of a product: four rows from thread_row() on, four numbers of each. */
typedef float quad[4][4];

static __device__ unsigned thread_row()
{
    return threadIdx.x / FOURS * 4;
}

static __device__ unsigned thread_column()
{
    return threadIdx.x % FOURS;
}

static __device__ float *numbers(struct tile &tile, unsigned row)
{
    return (float *)tile.row[row];
}

/* Copies STRIP positions from `from` on, with their numbers from `column` on, to a tile.
 * Positions beyond attention.length and numbers beyond attention.size become 0. */
template <typename Number>
static __device__ void fetch(const struct attention &attention, const rows<Number> &rows,
                             unsigned from, unsigned column, struct tile &tile)
{
    const unsigned length = (unsigned)attention.length, size = (unsigned)attention.size;
#pragma unroll
    for (unsigned turn = 0; turn < STRIP / WARPS; turn++) {
        const unsigned row = turn * WARPS + threadIdx.x / WARP;
        const Number *at = rows.first + (from + row) * rows.stride + column;
#pragma unroll
        for (unsigned part = 0; part < STRIP / WARP; part++) {
            const unsigned i = part * WARP + threadIdx.x % WARP;
            numbers(tile, row)[i] = from + row < length && column + i < size ? fetch(at + i) : 0;
        }
    }
}

static __device__ void spread(const float4 &from, float to[4])
{
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
    to[3] = from.w;
}

/* Adds own · otherᵀ (TURNED) or own · other to the sums, over the first `depth` numbers of own's
 * rows. With TURNED a thread's columns are FOURS apart, otherwise adjacent. So a warp has few bank
 * conflicts in both cases. */
template <bool TURNED>
static __device__ void multiply(const struct tiles &tiles, unsigned depth, quad sums)
{
    const unsigned row = thread_row(), column = thread_column();
#pragma unroll 2
    for (unsigned four = 0; four < (depth + 3) / 4; four++) {
        quad left, right;
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            spread(tiles.own.row[row + i][four], left[i]);
            spread(TURNED ? tiles.other.row[column + i * FOURS][four]
                          : tiles.other.row[four * 4 + i][column],
                   right[i]);
        }
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
#pragma unroll
            for (unsigned i = 0; i < 4; i++)
#pragma unroll
                for (unsigned j = 0; j < 4; j++)
                    sums[i][j] = fmaf(left[i][k], TURNED ? right[j][k] : right[k][j], sums[i][j]);
    }
}

/* Computes scores = own · otherᵀ, for STRIP positions of `own` and of `other`. */
template <typename Number>
static __device__ void compare(const struct attention &attention, struct tiles &tiles,
                               const rows<Number> &own, unsigned own_from,
                               const rows<Number> &other, unsigned other_from, quad scores)
{
    const unsigned size = (unsigned)attention.size;
#pragma unroll
    for (unsigned at = 0; at < 16; at++)
        scores[at / 4][at % 4] = 0;
    for (unsigned column = 0; column < size; column += STRIP) {
        __syncthreads(); /* all threads have finished reading the tiles */
        fetch(attention, own, own_from, column, tiles.own);
        fetch(attention, other, other_from, column, tiles.other);
        __syncthreads();
        multiply<true>(tiles, size - column < STRIP ? size - column : STRIP, scores);
    }
}

/* Adds scores · other to the sums, for CHUNKS · STRIP numbers of each position of `other`, from
 * `column` on. is_there: the last call of `compare` left these positions in tiles.other. */
template <int CHUNKS, typename Number>
static __device__ void mix(const struct attention &attention, struct tiles &tiles,
                           const quad scores, const rows<Number> &other, unsigned other_from,
                           unsigned column, bool is_there, quad sums[CHUNKS])
{
    const unsigned length = (unsigned)attention.length, size = (unsigned)attention.size;
    const unsigned left = length - other_from;
    __syncthreads(); /* all threads have finished reading the tiles */
#pragma unroll
    for (unsigned at = 0; at < 16; at++)
        numbers(tiles.own, thread_row() + at / 4)[thread_column() + at % 4 * FOURS] =
            scores[at / 4][at % 4];
#pragma unroll
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
        if (column + chunk * STRIP >= size)
            return;
        if (chunk > 0)
            __syncthreads(); /* all threads have finished reading the previous chunk */
        if (!is_there || size > STRIP)
            fetch(attention, other, other_from, column + chunk * STRIP, tiles.other);
        __syncthreads();
        multiply<false>(tiles, left < STRIP ? left : STRIP, sums[chunk]);
    }
}

/* Writes sums · scale[row] to rows of `to` that are `stride` numbers apart. Skips positions
 * beyond attention.length and numbers beyond attention.size. */
template <int CHUNKS, typename Number>
static __device__ void put(const struct attention &attention, const quad sums[CHUNKS],
                           const float scale[4], unsigned from, unsigned column, Number *to,
                           size_t stride)
{
    const unsigned length = (unsigned)attention.length, size = (unsigned)attention.size;
#pragma unroll
    for (unsigned at = 0; at < CHUNKS * 16; at++) {
        const unsigned i = at / 4 % 4, j = at % 4, position = from + thread_row() + i;
        const unsigned place = column + at / 16 * STRIP + thread_column() * 4 + j;
        if (position < length && place < size)
            put(to + position * stride + place, sums[at / 16][i][j] * scale[i]);
    }
}

/* Combines by `join` the values of all threads that share rows. Returns the result to each of
 * these threads. */
template <typename Join> static __device__ float over_row(float value, Join join)
{
#pragma unroll
    for (unsigned apart = FOURS / 2; apart > 0; apart /= 2)
        value = join(value, __shfl_xor_sync(0xFFFFFFFFu, value, apart));
    return value;
}

/* Overwrites scores with exp(score - top), where `top` is the largest score of the row so far, so
 * that nothing overflows. If `top` grows, scales the earlier totals and sums down to the new `top`.
 * total: this thread's part of each row's sum of exponentials. */
template <int CHUNKS>
static __device__ void soften(quad scores, float top[4], float total[4], quad sums[CHUNKS])
{
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        const float *row = scores[i];
        const float here = over_row(fmaxf(fmaxf(row[0], row[1]), fmaxf(row[2], row[3])),
                                    [](float a, float b) { return fmaxf(a, b); });
        const float now = fmaxf(top[i], here), kept = expf(top[i] - now);
        top[i] = now;
        total[i] *= kept;
#pragma unroll
        for (unsigned j = 0; j < 4; j++) {
            scores[i][j] = expf(scores[i][j] - now);
            total[i] += scores[i][j];
        }
#pragma unroll
        for (unsigned at = 0; at < CHUNKS * 4; at++)
            sums[at / 4][i][at % 4] *= kept;
    }
}

/* Unit of a block's work: a sample, a head, STRIP positions from `from` on, and numbers from
 * `column` on. */
struct unit {
    size_t sample;
    unsigned head;
    unsigned from;
    unsigned column;
};

/* Returns unit number i. Units are ordered from the last strip to the first, because later queries
 * meet more keys and the longest units should start first. heads: heads of a sample. */
static __device__ struct unit unit_of(const struct attention &attention, unsigned batch,
                                      unsigned heads, unsigned chunks, unsigned i)
{
    const unsigned parts = ((unsigned)attention.size + chunks * STRIP - 1) / (chunks * STRIP);
    const unsigned first = (unsigned)attention.from;
    const unsigned strips = ((unsigned)attention.length - first + STRIP - 1) / STRIP;
    const unsigned head = i / parts % (heads * batch);
    return {head / heads, head % heads, first + (strips - 1 - i / parts / (heads * batch)) * STRIP,
            i % parts * chunks * STRIP};
}

template <int CHUNKS, typename Number>
static __global__ void __launch_bounds__(THREADS, 2)
    forward(unsigned units, struct attention attention, unsigned batch, const Number *x, Number *y,
            float *log_sums)
{
    __shared__ struct tiles tiles;
    const float scale = score_scale(attention);
    for (unsigned i = blockIdx.x; i < units; i += gridDim.x) {
        const struct unit unit = unit_of(attention, batch, (unsigned)attention.heads, CHUNKS, i);
        const auto head = head_of(attention, x, unit.sample, unit.head);
        const unsigned query = unit.from + thread_row();
        float top[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, total[4] = {};
        const unsigned end = unit.from + STRIP, length = (unsigned)attention.length;
        quad scores, sums[CHUNKS] = {};
        for (unsigned from = 0; from < end && from < length; from += STRIP) {
            compare(attention, tiles, head.query, unit.from, head.key, from, scores);
#pragma unroll
            for (unsigned at = 0; at < 16; at++) {
                const unsigned key = from + thread_column() + at % 4 * FOURS;
                float &score = scores[at / 4][at % 4];
                score = key <= query + at / 4 ? score * scale : -INFINITY;
            }
            soften<CHUNKS>(scores, top, total, sums);
            mix<CHUNKS>(attention, tiles, scores, head.value, from, unit.column, false, sums);
        }
#pragma unroll
        for (unsigned row = 0; row < 4; row++) {
            total[row] = over_row(total[row], [](float a, float b) { return a + b; });
            if (query + row < (unsigned)attention.length && thread_column() + unit.column == 0)
                log_sums[head.line + query + row] = top[row] + logf(total[row]);
            total[row] = 1 / total[row];
        }
        put<CHUNKS>(attention, sums, total, unit.from, unit.column, y + head.output,
                    output_rows(attention, head, y).stride);
    }
}

template <typename Number>
static __global__ void mix_gradients(unsigned lines, struct attention attention, const Number *y,
                                     const Number *dy, float *mixed)
{
    const unsigned length = (unsigned)attention.length, heads = (unsigned)attention.heads;
    const unsigned size = (unsigned)attention.size;
    EACH_LINE (line, lines) {
        const unsigned position = line % length, head = line / length % heads;
        const size_t sample = line / length / heads;
        const size_t first = ((sample * length + position) * heads + head) * size;
        float sum = 0;
        EACH_PLACE (place, size)
            sum = fmaf(fetch(y + first + place), fetch(dy + first + place), sum);
        sum = warp_sum(sum);
        if (threadIdx.x % WARP == 0)
            mixed[line] = sum;
    }
}

template <int CHUNKS, typename Number>
static __global__ void __launch_bounds__(THREADS, 2)
    to_query(unsigned units, struct attention attention, unsigned batch, const Number *x,
             output<Number> output, Number *dx)
{
    __shared__ struct tiles tiles;
    const unsigned length = (unsigned)attention.length;
    const float scale = score_scale(attention), scales[4] = {scale, scale, scale, scale};
    for (unsigned i = blockIdx.x; i < units; i += gridDim.x) {
        const struct unit unit = unit_of(attention, batch, (unsigned)attention.heads, CHUNKS, i);
        const auto head = head_of(attention, x, unit.sample, unit.head);
        const auto gradient = output_rows(attention, head, output.dy);
        const unsigned query = unit.from + thread_row();
        float log_sum[4], mixed[4];
        for (unsigned row = 0; row < 4; row++) {
            const bool inside = query + row < length;
            log_sum[row] = inside ? output.log_sums[head.line + query + row] : 0;
            mixed[row] = inside ? output.mixed[head.line + query + row] : 0;
        }
        quad scores, gradients, sums[CHUNKS] = {};
        for (unsigned from = 0; from <= unit.from; from += STRIP) {
            compare(attention, tiles, gradient, unit.from, head.value, from, gradients);
            compare(attention, tiles, head.query, unit.from, head.key, from, scores);
#pragma unroll
            for (unsigned at = 0; at < 16; at++) {
                const unsigned row = at / 4, key = from + thread_column() + at % 4 * FOURS;
                const bool seen = key <= query + row;
                const float share = expf(scores[row][at % 4] * scale - log_sum[row]);
                float &own = gradients[row][at % 4];
                own = seen ? share * (own - mixed[row]) : 0;
            }
            mix<CHUNKS>(attention, tiles, gradients, head.key, from, unit.column, true, sums);
        }
        put<CHUNKS>(attention, sums, scales, unit.from, unit.column, dx + (head.query.first - x),
                    head.query.stride);
    }
}

/* Overwrites scores with the softmax, and the softmax's gradients with the scores' gradients. Rows
 * are keys from `key` on, columns are queries from `from` on. */
template <typename Number>
static __device__ void gradients_by_key(const struct attention &attention, const head<Number> &head,
                                        const output<Number> &output, unsigned key, unsigned from,
                                        quad scores, quad gradients)
{
    const float scale = score_scale(attention);
#pragma unroll
    for (unsigned j = 0; j < 4; j++) {
        const unsigned query = from + thread_column() + j * FOURS;
        const bool inside = query < (unsigned)attention.length;
        const float log_sum = inside ? output.log_sums[head.line + query] : 0;
        const float mixed = inside ? output.mixed[head.line + query] : 0;
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            const bool seen = inside && key + i <= query;
            scores[i][j] = seen ? expf(scores[i][j] * scale - log_sum) : 0;
            gradients[i][j] = seen ? scores[i][j] * (gradients[i][j] - mixed) : 0;
        }
    }
}

template <int CHUNKS, typename Number>
static __global__ void __launch_bounds__(THREADS, 3 - CHUNKS)
    to_key(unsigned units, struct attention attention, unsigned batch, const Number *x,
           output<Number> output, Number *dx)
{
    __shared__ struct tiles tiles;
    const unsigned length = (unsigned)attention.length, shared = (unsigned)attention.kv_heads;
    const unsigned group = (unsigned)attention.heads / shared;
    const float scale = score_scale(attention), scales[4] = {scale, scale, scale, scale};
    const float ones[4] = {1, 1, 1, 1};
    for (unsigned i = blockIdx.x; i < units; i += gridDim.x) {
        const struct unit unit = unit_of(attention, batch, shared, CHUNKS, units - 1 - i);
        const unsigned key = unit.from + thread_row();
        quad scores, gradients, keys[CHUNKS] = {}, values[CHUNKS] = {};
        head<Number> head;
        for (unsigned number = 0; number < group; number++) {
            head = head_of(attention, x, unit.sample, unit.head * group + number);
            const auto gradient = output_rows(attention, head, output.dy);
            for (unsigned from = unit.from; from < length; from += STRIP) {
                compare(attention, tiles, head.key, unit.from, head.query, from, scores);
                compare(attention, tiles, head.value, unit.from, gradient, from, gradients);
                gradients_by_key(attention, head, output, key, from, scores, gradients);
                mix<CHUNKS>(attention, tiles, scores, gradient, from, unit.column, true, values);
                mix<CHUNKS>(attention, tiles, gradients, head.query, from, unit.column, false,
                            keys);
            }
        }
        put<CHUNKS>(attention, keys, scales, unit.from, unit.column, dx + (head.key.first - x),
                    head.key.stride);
        put<CHUNKS>(attention, values, ones, unit.from, unit.column, dx + (head.value.first - x),
                    head.value.stride);
    }
}

/* Calls run(CHUNKS, units) with numbers that suit the size of a head. A block keeps CHUNKS
 * chunks of STRIP numbers of a head in registers, at most two. For larger heads several blocks each
 * compute a part of the numbers, and each recomputes the scores. */
template <typename Run>
static cudaError_t by_chunks(const struct attention &attention, int heads, int batch, Run run)
{
    const size_t strips = ((size_t)(attention.length - attention.from) + STRIP - 1) / STRIP;
    const size_t all = (size_t)heads * (size_t)batch * strips, size = (size_t)attention.size;
    if (size <= STRIP)
        return run(std::integral_constant<int, 1>(), all);
    const size_t units = all * ((size + 2 * STRIP - 1) / (2 * STRIP));
    return units > INT_MAX ? cudaErrorInvalidValue : run(std::integral_constant<int, 2>(), units);
}

cudaError_t kernel_attention(cudaStream_t stream, struct attention attention, int batch,
                             struct numbers x, struct numbers y, float *log_sums)
{
    return by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return by_chunks(attention, attention.heads, batch, [=](auto chunks, size_t units) {
            return launch(stream, units, forward<decltype(chunks)::value, Number>, (unsigned)units,
                          attention, (unsigned)batch, (const Number *)x.at, (Number *)y.at,
                          log_sums);
        });
    });
}

cudaError_t kernel_attention_mixed(cudaStream_t stream, struct attention attention, int batch,
                                   struct numbers y, struct numbers dy, float *mixed)
{
    const size_t lines = (size_t)batch * (size_t)attention.heads * (size_t)attention.length;
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_lines(stream, lines, mix_gradients<Number>, attention, (const Number *)y.at,
                            (const Number *)dy.at, mixed);
    });
}

template <typename Number>
static cudaError_t gradients_of(cudaStream_t stream, struct attention attention, int batch,
                                const Number *x, output<Number> output, Number *dx)
{
    const cudaError_t error =
        by_chunks(attention, attention.heads, batch, [=](auto chunks, size_t units) {
            return launch(stream, units, to_query<decltype(chunks)::value, Number>, (unsigned)units,
                          attention, (unsigned)batch, x, output, dx);
        });
    if (error != cudaSuccess)
        return error;
    return by_chunks(attention, attention.kv_heads, batch, [=](auto chunks, size_t units) {
        return launch(stream, units, to_key<decltype(chunks)::value, Number>, (unsigned)units,
                      attention, (unsigned)batch, x, output, dx);
    });
}

cudaError_t kernel_attention_gradients(cudaStream_t stream, struct attention attention, int batch,
                                       struct numbers x, const float *log_sums, const float *mixed,
                                       struct numbers dy, struct numbers dx)
{
    return by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return gradients_of<Number>(stream, attention, batch, (const Number *)x.at,
                                    {log_sums, mixed, (const Number *)dy.at}, (Number *)dx.at);
    });
}
