/* Causal attention with bfloat16 products on the tensor cores, for heads of up to HEAD numbers, a
 * multiple of four. cuda_attention.cu explains the method.
 *
 *   forward   a block: OWN queries of a head with the keys up to them, tile by tile
 *   to_query  a block: gradients of OWN queries, from the keys up to them
 *   to_key    a block: gradients of OWN keys and values, from the queries of all heads that share
 *             these keys, at their positions and later
 *
 * A warp keeps ROWS positions of its block in registers, as the left operand of its products. The
 * right operand is rounded when it is copied to shared memory. Sums and all other arithmetic are
 * float32. Exponentials are computed as powers of two: exp(s) = 2^(s · log2 e). Scores stay in
 * registers between the two products, as in FlashAttention-2 (Dao 2023). */
#include "backend/cuda/cuda_attention.cuh"
#include "backend/cuda/cuda_mma.cuh"

#define HEAD   64 /* largest size of a head; smaller heads are padded with zeros */
#define ROWS   16 /* positions per warp */
#define OWN    (WARPS * ROWS)
#define STEP   16 /* terms that an instruction adds to each sum (cuda_mma.cuh) */
#define COLUMN 8  /* columns of an instruction's result */
#define STEPS  (HEAD / STEP)
#define WIDTH  (HEAD / COLUMN)

#define LOG2_E 1.44269504f
#define LN_2   0.69314718f

/* Tiles in shared memory: TILE positions in bfloat16, two numbers per word, in one of two orders
 * for the right operand. Rows begin in such memory banks that a warp's reads do not conflict. */
template <unsigned TILE> struct by_row {
    alignas(16) uint32_t word[TILE][HEAD / 2 + 4]; /* a word: two numbers of one position */
};
template <unsigned TILE> struct by_pair {
    alignas(16) uint32_t word[TILE / 2][HEAD + 8]; /* a word: one number of two positions */
};

/* A thread's part of a warp's left operand: ROWS positions, STEP numbers at a time. */
typedef uint32_t fragments[STEPS][4];
/* A thread's part of a warp's result: HEAD numbers of ROWS positions. */
typedef float results[WIDTH][4];

static __device__ unsigned row_of_thread()
{
    return threadIdx.x % WARP / 4;
}

static __device__ unsigned pair_of_thread()
{
    return threadIdx.x % 4;
}

/* Returns the first position of this warp in a block whose first position is `from`. */
static __device__ unsigned warp_from(unsigned from)
{
    return from + threadIdx.x / WARP * ROWS;
}

/* Returns four numbers of a position from `column` on; zeros beyond attention.length or
 * attention.size. */
template <typename Number>
static __device__ float4 four(const struct attention &attention, const rows<Number> &rows,
                              unsigned position, unsigned column)
{
    if (position >= (unsigned)attention.length || column >= (unsigned)attention.size)
        return {0, 0, 0, 0};
    const pack<4> of = fetch_four(rows.first + position * rows.stride + column);
    return {of.at[0], of.at[1], of.at[2], of.at[3]};
}

/* Numbers that a thread copies to a tile at a time: four numbers of two adjacent positions. */
struct fours {
    float4 first, second;
};

/* Reads group number i of the tile whose first position is `from`. */
template <typename Number>
static __device__ struct fours ask(const struct attention &attention, const rows<Number> &rows,
                                   unsigned from, unsigned i)
{
    const unsigned position = from + i / (HEAD / 4) * 2, column = i % (HEAD / 4) * 4;
    return {four(attention, rows, position, column), four(attention, rows, position + 1, column)};
}

/* Writes group number i into the tile in one order or in both; either pointer may be NULL. */
template <unsigned TILE>
static __device__ void lay(const struct fours &fours, unsigned i, by_row<TILE> *single,
                           by_pair<TILE> *paired)
{
    const unsigned pair = i / (HEAD / 4), column = i % (HEAD / 4) * 4;
    const float4 a = fours.first, b = fours.second;
    if (single != NULL) {
        *(uint2 *)&single->word[2 * pair][column / 2] = {bf16_pair(a.x, a.y), bf16_pair(a.z, a.w)};
        *(uint2 *)&single->word[2 * pair + 1][column / 2] = {bf16_pair(b.x, b.y),
                                                             bf16_pair(b.z, b.w)};
    }
    if (paired != NULL)
        *(uint4 *)&paired->word[pair][column] = {bf16_pair(a.x, b.x), bf16_pair(a.y, b.y),
                                                 bf16_pair(a.z, b.z), bf16_pair(a.w, b.w)};
}

/* Copies TILE positions from `from` on to a tile, in one order or in both. */
template <unsigned TILE, typename Number>
static __device__ void fetch(const struct attention &attention, const rows<Number> &rows,
                             unsigned from, by_row<TILE> *single, by_pair<TILE> *paired)
{
#pragma unroll
    for (unsigned i = threadIdx.x; i < TILE / 2 * (HEAD / 4); i += THREADS)
        lay(ask(attention, rows, from, i), i, single, paired);
}

/* Reads ROWS positions from `from` on as this warp's left operand. */
template <typename Number>
static __device__ void take(const struct attention &attention, const rows<Number> &rows,
                            unsigned from, fragments own)
{
#pragma unroll
    for (unsigned at = 0; at < STEPS * 4; at++) {
        const unsigned position = from + row_of_thread() + at % 2 * 8;
        const unsigned column = at / 4 * STEP + at / 2 % 2 * 8 + pair_of_thread() * 2;
        const bool is_there =
            position < (unsigned)attention.length && column < (unsigned)attention.size;
        const Number *number = rows.first + position * rows.stride + column;
        own[at / 4][at % 4] = is_there ? bf16_pair(fetch(number), fetch(number + 1)) : 0;
    }
}

/* Computes products = own · tileᵀ: the scalar product of each position of the warp with each
 * position of the tile. */
template <unsigned TILE>
static __device__ void compare(const fragments own, const by_row<TILE> &tile,
                               float products[TILE / COLUMN][4])
{
#pragma unroll
    for (unsigned i = 0; i < TILE / COLUMN; i++) {
        products[i][0] = products[i][1] = products[i][2] = products[i][3] = 0;
#pragma unroll
        for (unsigned step = 0; step < STEPS; step++) {
            const uint32_t *row = tile.word[i * COLUMN + row_of_thread()] + step * STEP / 2;
            const uint32_t right[2] = {row[pair_of_thread()], row[pair_of_thread() + 4]};
            multiply_onto(products[i], own[step], right);
        }
    }
}

/* Adds factors · tile to the sums. A result of `compare` has the layout that factors need here, so
 * it stays in registers. */
template <unsigned TILE>
static __device__ void mix(const float factors[TILE / COLUMN][4], const by_pair<TILE> &tile,
                           results sums)
{
#pragma unroll
    for (unsigned step = 0; step < TILE / STEP; step++) {
        const float *first = factors[2 * step], *second = factors[2 * step + 1];
        const uint32_t left[4] = {bf16_pair(first[0], first[1]), bf16_pair(first[2], first[3]),
                                  bf16_pair(second[0], second[1]), bf16_pair(second[2], second[3])};
        const uint32_t(*rows)[HEAD + 8] = &tile.word[step * STEP / 2];
#pragma unroll
        for (unsigned i = 0; i < WIDTH; i++) {
            const unsigned column = i * COLUMN + row_of_thread();
            const uint32_t right[2] = {rows[pair_of_thread()][column],
                                       rows[pair_of_thread() + 4][column]};
            multiply_onto(sums[i], left, right);
        }
    }
}

static __device__ void put_two(float *to, float first, float second)
{
    *(float2 *)to = make_float2(first, second);
}

static __device__ void put_two(bf16 *to, float first, float second)
{
    *(uint32_t *)to = bf16_pair(first, second);
}

/* Writes sums · scale[row] to rows of `to` that are `stride` numbers apart. Skips positions beyond
 * attention.length and columns beyond attention.size. */
template <typename Number>
static __device__ void put(const struct attention &attention, const results sums,
                           const float scale[2], unsigned from, Number *to, size_t stride)
{
#pragma unroll
    for (unsigned at = 0; at < WIDTH * 2; at++) {
        const unsigned position = from + row_of_thread() + at % 2 * 8;
        const unsigned column = at / 2 * COLUMN + pair_of_thread() * 2;
        if (position < (unsigned)attention.length && column < (unsigned)attention.size)
            put_two(to + position * stride + column, sums[at / 2][at % 2 * 2] * scale[at % 2],
                    sums[at / 2][at % 2 * 2 + 1] * scale[at % 2]);
    }
}

/* Combines by `join` the values of the four lanes that share rows. Returns the result to each of
 * these lanes. */
template <typename Join> static __device__ float over_row(float value, Join join)
{
    value = join(value, __shfl_xor_sync(0xFFFFFFFFu, value, 1));
    return join(value, __shfl_xor_sync(0xFFFFFFFFu, value, 2));
}

/* Overwrites scores with 2^(score - top), where `top` is the largest score of the row so far, so
 * that nothing overflows. If `top` grows, scales the earlier totals and sums down to the new `top`.
 * total: this thread's part of each row's sum of powers. */
template <unsigned TILE>
static __device__ void soften(float scores[TILE / COLUMN][4], float top[2], float total[2],
                              results sums)
{
#pragma unroll
    for (unsigned row = 0; row < 2; row++) {
        float here = -INFINITY;
#pragma unroll
        for (unsigned i = 0; i < TILE / COLUMN; i++)
            here = fmaxf(here, fmaxf(scores[i][2 * row], scores[i][2 * row + 1]));
        here = over_row(here, [](float a, float b) { return fmaxf(a, b); });
        const float now = fmaxf(top[row], here), kept = exp2f(top[row] - now);
        top[row] = now;
        total[row] *= kept;
#pragma unroll
        for (unsigned at = 0; at < TILE / COLUMN * 2; at++) {
            float &score = scores[at / 2][2 * row + at % 2];
            score = exp2f(score - now);
            total[row] += score;
        }
#pragma unroll
        for (unsigned at = 0; at < WIDTH * 2; at++)
            sums[at / 2][2 * row + at % 2] *= kept;
    }
}

/* Unit of a block's work: a sample, a head, and OWN positions from `from` on. Units are ordered
 * from the last strip to the first, because later queries meet more keys and the longest units
 * should start first. */
struct unit {
    size_t sample;
    unsigned head;
    unsigned from;
};

static __device__ struct unit unit_of(const struct attention &attention, unsigned batch,
                                      unsigned heads, unsigned i)
{
    const unsigned first = (unsigned)attention.from, all = heads * batch;
    const unsigned strips = ((unsigned)attention.length - first + OWN - 1) / OWN;
    return {i % all / heads, i % all % heads, first + (strips - 1 - i / all) * OWN};
}

#define KEYS 64 /* number of keys in a tile of the forward pass */

template <typename Number>
static __global__ void __launch_bounds__(THREADS, 2)
    forward(unsigned units, struct attention attention, unsigned batch, const Number *x, Number *y,
            float *log_sums)
{
    __shared__ by_row<KEYS> keys;
    __shared__ by_pair<KEYS> values;
    const unsigned length = (unsigned)attention.length;
    const float scale = score_scale(attention) * LOG2_E;
    for (unsigned i = blockIdx.x; i < units; i += gridDim.x) {
        const struct unit unit = unit_of(attention, batch, (unsigned)attention.heads, i);
        const auto head = head_of(attention, x, unit.sample, unit.head);
        const unsigned first = warp_from(unit.from), query = first + row_of_thread();
        const unsigned end = unit.from + OWN < length ? unit.from + OWN : length;
        float top[2] = {-INFINITY, -INFINITY}, total[2] = {};
        fragments queries;
        results sums = {};
        take(attention, head.query, first, queries);
        for (unsigned from = 0; from < end; from += KEYS) {
            __syncthreads(); /* all threads have finished reading the tiles */
            fetch<KEYS>(attention, head.key, from, &keys, NULL);
            fetch<KEYS>(attention, head.value, from, NULL, &values);
            __syncthreads();
            if (from > first + ROWS - 1)
                continue;
            float scores[KEYS / COLUMN][4];
            compare(queries, keys, scores);
#pragma unroll
            for (unsigned at = 0; at < KEYS / COLUMN * 4; at++) {
                const unsigned key = from + at / 4 * COLUMN + pair_of_thread() * 2 + at % 2;
                float &score = scores[at / 4][at % 4];
                score = key <= query + at / 2 % 2 * 8 ? score * scale : -INFINITY;
            }
            soften<KEYS>(scores, top, total, sums);
            mix(scores, values, sums);
        }
#pragma unroll
        for (unsigned row = 0; row < 2; row++) {
            total[row] = over_row(total[row], [](float a, float b) { return a + b; });
            if (query + row * 8 < length && pair_of_thread() == 0)
                log_sums[head.line + query + row * 8] = top[row] * LN_2 + logf(total[row]);
            total[row] = 1 / total[row];
        }
        put(attention, sums, total, first, y + head.output, output_rows(attention, head, y).stride);
    }
}

#define BACK 32 /* number of positions in a tile of the backward pass */

template <typename Number>
static __global__ void __launch_bounds__(THREADS, 2)
    to_query(unsigned units, struct attention attention, unsigned batch, const Number *x,
             output<Number> output, Number *dx)
{
    __shared__ by_row<BACK> keys, values;
    __shared__ by_pair<BACK> key_pairs;
    const unsigned length = (unsigned)attention.length;
    const float scale = score_scale(attention), scales[2] = {scale, scale};
    for (unsigned i = blockIdx.x; i < units; i += gridDim.x) {
        const struct unit unit = unit_of(attention, batch, (unsigned)attention.heads, i);
        const auto head = head_of(attention, x, unit.sample, unit.head);
        const unsigned first = warp_from(unit.from), query = first + row_of_thread();
        const unsigned end = unit.from + OWN < length ? unit.from + OWN : length;
        float log_sum[2], mixed[2];
        for (unsigned row = 0; row < 2; row++) {
            const bool is_there = query + row * 8 < length;
            log_sum[row] = is_there ? output.log_sums[head.line + query + row * 8] * LOG2_E : 0;
            mixed[row] = is_there ? output.mixed[head.line + query + row * 8] : 0;
        }
        fragments queries, gradients_out;
        results sums = {};
        take(attention, head.query, first, queries);
        take(attention, output_rows(attention, head, output.dy), first, gradients_out);
        for (unsigned from = 0; from < end; from += BACK) {
            __syncthreads(); /* all threads have finished reading the tiles */
            fetch(attention, head.key, from, &keys, &key_pairs);
            fetch<BACK>(attention, head.value, from, &values, NULL);
            __syncthreads();
            if (from > first + ROWS - 1)
                continue;
            float scores[BACK / COLUMN][4], gradients[BACK / COLUMN][4];
            compare(queries, keys, scores);
            compare(gradients_out, values, gradients);
#pragma unroll
            for (unsigned at = 0; at < BACK / COLUMN * 4; at++) {
                const unsigned row = at / 2 % 2;
                const unsigned key = from + at / 4 * COLUMN + pair_of_thread() * 2 + at % 2;
                const float share = exp2f(scores[at / 4][at % 4] * scale * LOG2_E - log_sum[row]);
                float &gradient = gradients[at / 4][at % 4];
                gradient = key <= query + row * 8 ? share * (gradient - mixed[row]) : 0;
            }
            mix(gradients, key_pairs, sums);
        }
        put(attention, sums, scales, first, dx + (head.query.first - x), head.query.stride);
    }
}

/* Tiles of to_key in shared memory: BACK queries and their output gradients. */
struct met {
    by_row<BACK> queries, gradients;
    by_pair<BACK> query_pairs, gradient_pairs;
    float log_sum[BACK], mixed[BACK];
};

/* This thread's part of the next tiles. It is read while the present tiles are multiplied. */
struct next {
    struct fours query, gradient;
    float log_sum, mixed;
};

static_assert(BACK / 2 * (HEAD / 4) == THREADS, "a thread fetches two positions by four numbers");

template <typename Number>
static __device__ struct next ask_next(const struct attention &attention, const head<Number> &head,
                                       const output<Number> &output, unsigned from)
{
    const unsigned query = from + threadIdx.x;
    const bool is_there = threadIdx.x < BACK && query < (unsigned)attention.length;
    return {ask(attention, head.query, from, threadIdx.x),
            ask(attention, output_rows(attention, head, output.dy), from, threadIdx.x),
            is_there ? output.log_sums[head.line + query] * LOG2_E : 0,
            is_there ? output.mixed[head.line + query] : 0};
}

static __device__ void meet(const struct next &next, struct met &met)
{
    __syncthreads(); /* all threads have finished reading the tiles */
    lay(next.query, threadIdx.x, &met.queries, &met.query_pairs);
    lay(next.gradient, threadIdx.x, &met.gradients, &met.gradient_pairs);
    if (threadIdx.x < BACK) {
        met.log_sum[threadIdx.x] = next.log_sum;
        met.mixed[threadIdx.x] = next.mixed;
    }
    __syncthreads();
}

/* Overwrites scores with the softmax, and the softmax's gradients with the scores' gradients. Rows
 * are keys from `key` on, columns are queries from `from` on. */
static __device__ void gradients_by_key(const struct attention &attention, const struct met &met,
                                        unsigned key, unsigned from, float scores[BACK / COLUMN][4],
                                        float gradients[BACK / COLUMN][4])
{
    const float scale = score_scale(attention) * LOG2_E;
#pragma unroll
    for (unsigned at = 0; at < BACK / COLUMN * 4; at++) {
        const unsigned place = at / 4 * COLUMN + pair_of_thread() * 2 + at % 2,
                       query = from + place;
        const bool seen = query < (unsigned)attention.length && key + at / 2 % 2 * 8 <= query;
        float &score = scores[at / 4][at % 4], &gradient = gradients[at / 4][at % 4];
        score = seen ? exp2f(score * scale - met.log_sum[place]) : 0;
        gradient = seen ? score * (gradient - met.mixed[place]) : 0;
    }
}

template <typename Number>
static __global__ void __launch_bounds__(THREADS, 1)
    to_key(unsigned units, struct attention attention, unsigned batch, const Number *x,
           output<Number> output, Number *dx)
{
    __shared__ struct met met;
    const unsigned length = (unsigned)attention.length, shared = (unsigned)attention.kv_heads;
    const unsigned group = (unsigned)attention.heads / shared;
    const float scale = score_scale(attention), scales[2] = {scale, scale}, ones[2] = {1, 1};
    for (unsigned i = blockIdx.x; i < units; i += gridDim.x) {
        const struct unit unit = unit_of(attention, batch, shared, units - 1 - i);
        const unsigned first = warp_from(unit.from);
        auto head = head_of(attention, x, unit.sample, unit.head * group);
        fragments keys, values;
        results key_sums = {}, value_sums = {};
        take(attention, head.key, first, keys);
        take(attention, head.value, first, values);
        for (unsigned number = 0; number < group; number++) {
            head = head_of(attention, x, unit.sample, unit.head * group + number);
            struct next next = ask_next(attention, head, output, unit.from);
            for (unsigned from = unit.from; from < length; from += BACK) {
                meet(next, met);
                next = ask_next(attention, head, output, from + BACK);
                if (from + BACK <= first)
                    continue;
                float scores[BACK / COLUMN][4], gradients[BACK / COLUMN][4];
                compare(keys, met.queries, scores);
                compare(values, met.gradients, gradients);
                gradients_by_key(attention, met, first + row_of_thread(), from, scores, gradients);
                mix(scores, met.gradient_pairs, value_sums);
                mix(gradients, met.query_pairs, key_sums);
            }
        }
        put(attention, key_sums, scales, first, dx + (head.key.first - x), head.key.stride);
        put(attention, value_sums, ones, first, dx + (head.value.first - x), head.value.stride);
    }
}

static size_t units_of(const struct attention &attention, int heads, int batch)
{
    const size_t strips = ((size_t)(attention.length - attention.from) + OWN - 1) / OWN;
    return strips * (size_t)heads * (size_t)batch;
}

bool kernel_attention_fits_bf16(const struct attention *attention, struct numbers x,
                                struct numbers y)
{
    return attention->size <= HEAD && attention->size % 4 == 0 && is_packed(x) && is_packed(y);
}

cudaError_t kernel_attention_bf16(cudaStream_t stream, struct attention attention, int batch,
                                  struct numbers x, struct numbers y, float *log_sums)
{
    const size_t units = units_of(attention, attention.heads, batch);
    if (units > INT_MAX)
        return cudaErrorInvalidValue;
    return by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch(stream, units, forward<Number>, (unsigned)units, attention, (unsigned)batch,
                      (const Number *)x.at, (Number *)y.at, log_sums);
    });
}

template <typename Number>
static cudaError_t gradients_of(cudaStream_t stream, struct attention attention, int batch,
                                const Number *x, output<Number> output, Number *dx)
{
    const size_t queries = units_of(attention, attention.heads, batch);
    const size_t keys = units_of(attention, attention.kv_heads, batch);
    if (queries > INT_MAX)
        return cudaErrorInvalidValue;
    const cudaError_t error = launch(stream, queries, to_query<Number>, (unsigned)queries,
                                     attention, (unsigned)batch, x, output, dx);
    return error != cudaSuccess ? error
                                : launch(stream, keys, to_key<Number>, (unsigned)keys, attention,
                                         (unsigned)batch, x, output, dx);
}

cudaError_t kernel_attention_gradients_bf16(cudaStream_t stream, struct attention attention,
                                            int batch, struct numbers x, const float *log_sums,
                                            const float *mixed, struct numbers dy,
                                            struct numbers dx)
{
    return by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return gradients_of<Number>(stream, attention, batch, (const Number *)x.at,
                                    {log_sums, mixed, (const Number *)dy.at}, (Number *)dx.at);
    });
}
