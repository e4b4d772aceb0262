/* Operations on sequences on the GPU, except matrix products and attention. On the CPU:
 * cpu_sequence.c, and cpu_rotate of cpu_attention.c. */
#include "backend/cuda/cuda_bf16.cuh"
#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_transformer.h"

#define NONE (-1)

template <typename Number, unsigned N>
static __global__ void embed(unsigned rows, unsigned packs, const int32_t *token,
                             const Number *table, Number *y)
{
    EACH_LINE (row, rows) {
        const Number *from = table + (size_t)token[row] * packs * N;
        Number *to = y + (size_t)row * packs * N;
        EACH_PLACE (i, packs)
            put_pack<N>(to, i, fetch_pack<N>(from, i));
    }
}

cudaError_t kernel_embed(cudaStream_t stream, size_t rows, int size, const int32_t *token,
                         struct numbers table, struct numbers y)
{
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        const auto run = [=](auto pack) {
            constexpr unsigned N = decltype(pack)::value;
            return launch_lines(stream, rows, embed<Number, N>, (unsigned)size / N, token,
                                (const Number *)table.at, (Number *)y.at);
        };
        return by_pack((size_t)size, run, table, y);
    });
}

/* For each row, finds the next row with the same token (`later`), and whether no earlier row has
 * this token (`is_first`). A warp searches back from its row to the nearest row with the token. If
 * no token repeats, this takes rows² / 64 turns of a warp in total. */
static __global__ void link_rows(unsigned rows, const int32_t *token, int32_t *later,
                                 uint8_t *is_first)
{
    const unsigned back = threadIdx.x % WARP; /* distance of this thread's row from row end - 1 */
    EACH_LINE (row, rows) {
        const int32_t own = token[row];
        uint32_t same = 0;
        unsigned end = row; /* rows below `end` are not compared yet */
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

/* Adds up the gradients of the table. The threads of a token's first row add the gradients of all
 * rows with this token, in order. */
template <typename Number>
static __global__ void add_rows(unsigned count, unsigned size, const int32_t *token,
                                const int32_t *later, const uint8_t *is_first, const Number *dy,
                                float *dtable)
{
    EACH (i, count) {
        const unsigned first = i / size, place = i % size;
        if (!is_first[first])
            continue;
        float *to = dtable + (size_t)token[first] * size + place;
        float sum = *to;
        for (int32_t row = (int32_t)first; row != NONE; row = later[row])
            sum += fetch(dy + (size_t)row * size + place);
        *to = sum;
    }
}

cudaError_t kernel_embed_backward(cudaStream_t stream, size_t rows, int size, const int32_t *token,
                                  struct numbers dy, int32_t *later, uint8_t *is_first,
                                  float *dtable)
{
    /* Fills `later` with NONE. */
    cudaError_t error = cudaMemsetAsync(later, 0xFF, rows * sizeof *later, stream);
    if (error == cudaSuccess)
        error = launch_lines(stream, rows, link_rows, token, later, is_first);
    if (error != cudaSuccess)
        return error;
    return by_type(dy.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_each(stream, rows * (size_t)size, add_rows<Number>, (unsigned)size, token,
                           (const int32_t *)later, (const uint8_t *)is_first, (const Number *)dy.at,
                           dtable);
    });
}

template <typename Number, unsigned N>
static __global__ void add(unsigned packs, const Number *a, const Number *b, Number *y)
{
    struct both {
        pack<N> a, b;
    };
    each_at_once(
        packs,
        [=](unsigned i) {
            return both{fetch_pack<N>(a, i), fetch_pack<N>(b, i)};
        },
        [=](unsigned i, both both) {
            for (unsigned k = 0; k < N; k++)
                both.a.at[k] += both.b.at[k];
            put_pack<N>(y, i, both.a);
        });
}

cudaError_t kernel_add(cudaStream_t stream, size_t count, struct numbers a, struct numbers b,
                       struct numbers y)
{
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        const auto run = [=](auto pack) {
            constexpr unsigned N = decltype(pack)::value;
            return launch_each(stream, count / N, add<Number, N>, (const Number *)a.at,
                               (const Number *)b.at, (Number *)y.at);
        };
        return by_pack(count, run, a, b, y);
    });
}

template <typename Number>
static __global__ void add_shared(unsigned count, unsigned period, const Number *x,
                                  const float *shared, Number *y)
{
    each_at_once(
        count, [=](unsigned i) { return make_float2(fetch(x + i), shared[i % period]); },
        [=](unsigned i, float2 both) { put(y + i, both.x + both.y); });
}

cudaError_t kernel_add_shared(cudaStream_t stream, int batch, size_t count, struct numbers x,
                              const float *shared, struct numbers y)
{
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_each(stream, (size_t)batch * count, add_shared<Number>, (unsigned)count,
                           (const Number *)x.at, shared, (Number *)y.at);
    });
}

template <typename Number>
static __global__ void sum_shared(unsigned count, unsigned batch, const Number *dy, float *dshared)
{
    EACH (i, count) {
        float sum = 0;
        for (unsigned sample = 0; sample < batch; sample++)
            sum += fetch(dy + (size_t)sample * count + i);
        dshared[i] = sum;
    }
}

cudaError_t kernel_sum_shared(cudaStream_t stream, int batch, size_t count, struct numbers dy,
                              float *dshared)
{
    return by_type(dy.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_each(stream, count, sum_shared<Number>, (unsigned)batch,
                           (const Number *)dy.at, dshared);
    });
}

template <typename From, typename To, unsigned N>
static __global__ void convert(unsigned packs, const From *from, To *to)
{
    each_at_once(
        packs, [=](unsigned i) { return fetch_pack<N>(from, i); },
        [=](unsigned i, const pack<N> &value) { put_pack<N>(to, i, value); });
}

cudaError_t kernel_convert(cudaStream_t stream, size_t count, struct numbers from,
                           struct numbers to)
{
    const auto run = [=](auto pack) {
        constexpr unsigned N = decltype(pack)::value;
        return to.type == BFLOAT16 ? launch_each(stream, count / N, convert<float, bf16, N>,
                                                 (const float *)from.at, (bf16 *)to.at)
                                   : launch_each(stream, count / N, convert<bf16, float, N>,
                                                 (const bf16 *)from.at, (float *)to.at);
    };
    return by_pack(count, run, from, to);
}

template <typename Number>
static __global__ void drop(unsigned count, struct dropout dropout, const uint32_t *draws,
                            const Number *x, Number *y)
{
    const uint32_t size = (uint32_t)dropout.size, below = dropout_below(dropout.rate);
    const float scale = 1 / (1 - dropout.rate);
    EACH (i, count) {
        const uint32_t begin = dropout_begin(draws[i / size], dropout.layer);
        put(y + i, dropout_drops(begin, i % size, below) ? 0 : fetch(x + i) * scale);
    }
}

cudaError_t kernel_drop(cudaStream_t stream, struct dropout dropout, const uint32_t *draws,
                        struct numbers x, struct numbers y)
{
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_each(stream, (size_t)dropout.batch * dropout.size, drop<Number>, dropout,
                           draws, (const Number *)x.at, (Number *)y.at);
    });
}

template <typename Number> struct norm_operands {
    const Number *x, *other;
    Number *sum; /* output for x + other, which is then normalised; NULL = x is normalised */
    const float *w, *b;
    Number *y;
    float *stats;
};

/* Computes sum = x + other, if of.sum is not NULL, for this thread's numbers of a row. Returns the
 * sum of these numbers. */
template <typename Number, unsigned N>
static __device__ float norm_add(const norm_operands<Number> &of, size_t first, unsigned packs)
{
    float sum = 0;
    EACH_PLACE (i, packs) {
        pack<N> own = fetch_pack<N>(of.x + first, i);
        if (of.sum != NULL) {
            const pack<N> other = fetch_pack<N>(of.other + first, i);
            for (unsigned k = 0; k < N; k++)
                own.at[k] += other.at[k];
            put_pack<N>(of.sum + first, i, own);
            /* Reads the sum again, as it was rounded in memory. */
            own = fetch_pack<N>((const Number *)of.sum + first, i);
        }
        for (unsigned k = 0; k < N; k++)
            sum += own.at[k];
    }
    return sum;
}

/* Normalises rows, one per warp. The variance is summed from differences to the mean, so that a
 * large mean costs no precision. Without b (RMS norm) the mean counts as 0. */
template <typename Number, unsigned N>
static __global__ void norm(unsigned rows, unsigned packs, norm_operands<Number> of)
{
    const float size = (float)(packs * N);
    EACH_LINE (row, rows) {
        const size_t first = (size_t)row * packs * N;
        const Number *from = (of.sum != NULL ? (const Number *)of.sum : of.x) + first;
        const bool reads = of.b != NULL || of.sum != NULL;
        const float sum = warp_sum(reads ? norm_add<Number, N>(of, first, packs) : 0);
        const float mean = of.b != NULL ? sum / size : 0;
        float square = 0;
        EACH_PLACE (i, packs) {
            const pack<N> own = fetch_pack<N>(from, i);
            for (unsigned k = 0; k < N; k++)
                square += (own.at[k] - mean) * (own.at[k] - mean);
        }
        const float scale = 1 / sqrtf(warp_sum(square) / size + NORM_EPSILON);
        EACH_PLACE (i, packs) {
            pack<N> own = fetch_pack<N>(from, i);
            const pack<N> by = fetch_pack<N>(of.w, i);
            const pack<N> more = of.b != NULL ? fetch_pack<N>(of.b, i) : pack<N>{};
            for (unsigned k = 0; k < N; k++)
                own.at[k] = (own.at[k] - mean) * scale * by.at[k] + more.at[k];
            put_pack<N>(of.y + first, i, own);
        }
        if (threadIdx.x % WARP == 0) {
            of.stats[2 * (size_t)row] = mean;
            of.stats[2 * (size_t)row + 1] = scale;
        }
    }
}

cudaError_t kernel_norm(cudaStream_t stream, size_t rows, int size, struct numbers x,
                        struct numbers other, struct numbers sum, const float *w, const float *b,
                        struct numbers y, float *stats)
{
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        const auto run = [=](auto pack) {
            constexpr unsigned N = decltype(pack)::value;
            const norm_operands<Number> of = {(const Number *)x.at,
                                              (const Number *)other.at,
                                              (Number *)sum.at,
                                              w,
                                              b,
                                              (Number *)y.at,
                                              stats};
            return launch_lines(stream, rows, norm<Number, N>, (unsigned)size / N, of);
        };
        return by_pack((size_t)size, run, x, other, sum, y, floats(w), floats(b));
    });
}

template <typename Number> struct norm_gradient {
    unsigned rows, packs;
    bool centred;                  /* false in an RMS norm, which subtracts no mean */
    const Number *x, *dy, *passed; /* passed: gradient that is added to dx; NULL = none */
    const float *w, *stats;
    Number *dx;
};

/* Computes dx of a row by a warp. With scale = 1 / deviation, n = (x - mean) · scale and s = dy
 * · w: dx = scale · (s - mean(s) - n · mean(s·n)). In an RMS norm the term mean(s) is left out. */
template <typename Number, unsigned N>
static __device__ void norm_row(const norm_gradient<Number> &of, unsigned row)
{
    const size_t first = (size_t)row * of.packs * N;
    const float mean = of.stats[2 * (size_t)row], scale = of.stats[2 * (size_t)row + 1];
    const float size = (float)(of.packs * N);
    float sum = 0, along = 0;
    EACH_PLACE (i, of.packs) {
        const pack<N> x = fetch_pack<N>(of.x + first, i), dy = fetch_pack<N>(of.dy + first, i);
        const pack<N> w = fetch_pack<N>(of.w, i);
        for (unsigned k = 0; k < N; k++) {
            const float s = dy.at[k] * w.at[k];
            sum += s;
            along += s * ((x.at[k] - mean) * scale);
        }
    }
    sum = warp_sum(sum);
    along = warp_sum(along) / size;
    const float common = of.centred ? sum / size : 0;
    EACH_PLACE (i, of.packs) {
        const pack<N> x = fetch_pack<N>(of.x + first, i), w = fetch_pack<N>(of.w, i);
        const pack<N> passed = of.passed != NULL ? fetch_pack<N>(of.passed + first, i) : pack<N>{};
        pack<N> dy = fetch_pack<N>(of.dy + first, i);
        for (unsigned k = 0; k < N; k++) {
            const float n = (x.at[k] - mean) * scale;
            dy.at[k] = scale * (dy.at[k] * w.at[k] - common - n * along) + passed.at[k];
        }
        put_pack<N>(of.dx + first, i, dy);
    }
}

/* Adds the gradients of w and b from rows first .. end-1, WARPS rows at most, to dw and db. Each
 * thread has some of the columns. norm_row has just read these rows, so they are in the cache. */
template <typename Number, unsigned N>
static __device__ void norm_columns(const norm_gradient<Number> &of, unsigned first, unsigned end,
                                    float *dw, float *db)
{
    const unsigned size = of.packs * N;
    for (unsigned column = threadIdx.x; column < size; column += THREADS) {
        float of_w = 0, of_b = 0;
#pragma unroll
        for (unsigned k = 0; k < WARPS; k++) {
            const unsigned row = first + k;
            if (row >= end)
                continue;
            const size_t at = (size_t)row * size + column;
            const float dy = fetch(of.dy + at), mean = of.stats[2 * (size_t)row];
            of_w += dy * ((fetch(of.x + at) - mean) * of.stats[2 * (size_t)row + 1]);
            of_b += dy;
        }
        dw[column] += of_w;
        db[column] += of_b;
    }
}

/* Length of the longest row whose sums fit shared memory. Longer rows use global memory. */
#define NORM_COLUMNS 2048

/* Makes the backward pass for some of the rows per block, WARPS rows at a time. Writes the block's
 * partial sums of dw and db to sums[2, NORM_PARTS, size]. */
template <typename Number, unsigned N>
static __global__ void norm_backward(unsigned parts, norm_gradient<Number> of, float *sums)
{
    __shared__ float of_w[NORM_COLUMNS], of_b[NORM_COLUMNS];
    const unsigned size = of.packs * N, most = (of.rows + parts - 1) / parts;
    for (unsigned part = blockIdx.x; part < parts; part += gridDim.x) {
        const unsigned end = (part + 1) * most < of.rows ? (part + 1) * most : of.rows;
        float *to_w = sums + (size_t)part * size, *to_b = to_w + (size_t)NORM_PARTS * size;
        float *dw = size <= NORM_COLUMNS ? of_w : to_w, *db = size <= NORM_COLUMNS ? of_b : to_b;
        for (unsigned column = threadIdx.x; column < size; column += THREADS)
            dw[column] = db[column] = 0;
        for (unsigned first = part * most; first < end; first += WARPS) {
            const unsigned row = first + threadIdx.x / WARP;
            if (row < end)
                norm_row<Number, N>(of, row);
            norm_columns<Number, N>(of, first, end, dw, db);
        }
        for (unsigned column = threadIdx.x; column < size; column += THREADS) {
            to_w[column] = dw[column];
            to_b[column] = db[column];
        }
    }
}

/* Adds up the partial sums of dw and db. A block has WARP columns, and each of its warps adds every
 * WARPS-th part. */
static __global__ void norm_sums(unsigned groups, unsigned size, unsigned parts, const float *from,
                                 float *dw, float *db)
{
    __shared__ float of_w[WARPS][WARP], of_b[WARPS][WARP];
    const unsigned half = threadIdx.x % WARP, line = threadIdx.x / WARP;
    for (unsigned group = blockIdx.x; group < groups; group += gridDim.x) {
        const unsigned column = group * WARP + half;
        float w = 0, b = 0;
        for (unsigned part = line; column < size && part < parts; part += WARPS) {
            w += from[(size_t)part * size + column];
            b += from[((size_t)NORM_PARTS + part) * size + column];
        }
        __syncthreads(); /* all threads have read the sums of the previous group */
        of_w[line][half] = w;
        of_b[line][half] = b;
        __syncthreads();
        for (unsigned other = 1; line == 0 && other < WARPS; other++) {
            w += of_w[other][half];
            b += of_b[other][half];
        }
        if (line == 0 && column < size) {
            dw[column] = w;
            if (db != NULL)
                db[column] = b;
        }
    }
}

cudaError_t kernel_norm_backward(cudaStream_t stream, size_t rows, int size, struct numbers x,
                                 const float *w, const float *stats, struct numbers dy,
                                 struct numbers passed, float *sums, struct numbers dx, float *dw,
                                 float *db)
{
    const unsigned most = (unsigned)((rows + WARPS - 1) / WARPS);
    const unsigned parts = most < NORM_PARTS ? most : NORM_PARTS;
    const unsigned groups = ((unsigned)size + WARP - 1) / WARP;
    if (rows > INT_MAX)
        return cudaErrorInvalidValue;
    const cudaError_t error = by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        const auto run = [=](auto pack) {
            constexpr unsigned N = decltype(pack)::value;
            const norm_gradient<Number> of = {
                (unsigned)rows,        (unsigned)size / N,        db != NULL, (const Number *)x.at,
                (const Number *)dy.at, (const Number *)passed.at, w,          stats,
                (Number *)dx.at};
            return launch(stream, parts, norm_backward<Number, N>, parts, of, sums);
        };
        return by_pack((size_t)size, run, x, dy, passed, dx, floats(w));
    });
    return error != cudaSuccess ? error
                                : launch(stream, groups, norm_sums, groups, (unsigned)size, parts,
                                         (const float *)sums, dw, db);
}

/* Computes cosine and sine of each angle in double precision, for each position from `from` on and
 * each pair of numbers. */
static __global__ void measure_turns(unsigned count, unsigned half, unsigned from, int turn,
                                     float2 *turns)
{
    EACH (at, count) {
        const double power = -(double)(at % half) / (double)half;
        const double angle = (double)(from + at / half) * pow((double)ROPE_BASE, power);
        turns[at] = make_float2((float)cos(angle), (float)((double)turn * sin(angle)));
    }
}

/* Rotates the pairs of numbers in each line. A line has the numbers of one head at one position. */
template <typename Number>
static __global__ void rotate(unsigned lines, struct attention attention, unsigned heads,
                              const float2 *turns, Number *x)
{
    const unsigned half = (unsigned)attention.size / 2, from = (unsigned)attention.from;
    const unsigned length = (unsigned)attention.length, turned = length - from;
    const unsigned all = (unsigned)(attention.heads + 2 * attention.kv_heads);
    EACH_LINE (line, lines) {
        const unsigned sample = line / heads / turned, position = line / heads % turned;
        const size_t row = (size_t)sample * length + from + position;
        Number *at = x + (row * all + line % heads) * (unsigned)attention.size;
        EACH_PLACE (i, half) {
            const float2 by = turns[position * half + i];
            const float a = fetch(at + i), b = fetch(at + half + i);
            put(at + i, a * by.x - b * by.y);
            put(at + half + i, a * by.y + b * by.x);
        }
    }
}

cudaError_t kernel_rotate(cudaStream_t stream, struct attention attention, int batch, int turn,
                          float *turns, struct numbers x)
{
    const size_t turned = (size_t)(attention.length - attention.from);
    const size_t half = (size_t)attention.size / 2;
    const size_t heads = (size_t)(attention.heads + attention.kv_heads);
    float2 *pairs = (float2 *)turns;
    const cudaError_t error = launch_each(stream, turned * half, measure_turns, (unsigned)half,
                                          (unsigned)attention.from, turn, pairs);
    if (error != cudaSuccess)
        return error;
    return by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_lines(stream, (size_t)batch * turned * heads, rotate<Number>, attention,
                            (unsigned)heads, (const float2 *)pairs, (Number *)x.at);
    });
}

static __device__ float sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

template <typename Number>
static __global__ void swiglu(unsigned count, unsigned size, const Number *x, Number *y)
{
    each_at_once(
        count,
        [=](unsigned i) {
            const size_t at = (size_t)(i / size) * 2 * size + i % size;
            return make_float2(fetch(x + at), fetch(x + at + size));
        },
        [=](unsigned i, float2 both) { put(y + i, both.x * sigmoid(both.x) * both.y); });
}

cudaError_t kernel_swiglu(cudaStream_t stream, size_t rows, int size, struct numbers x,
                          struct numbers y)
{
    return by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_each(stream, rows * (size_t)size, swiglu<Number>, (unsigned)size,
                           (const Number *)x.at, (Number *)y.at);
    });
}

template <typename Number>
static __global__ void swiglu_backward(unsigned count, unsigned size, const Number *x,
                                       const Number *dy, Number *dx)
{
    EACH (i, count) {
        const size_t at = (size_t)(i / size) * 2 * size + i % size;
        const float own = fetch(x + at), other = fetch(x + at + size), gradient = fetch(dy + i);
        const float gate = sigmoid(own), silu = own * gate;
        put(dx + at, gradient * other * (gate + silu * (1 - gate)));
        put(dx + at + size, gradient * silu);
    }
}

cudaError_t kernel_swiglu_backward(cudaStream_t stream, size_t rows, int size, struct numbers x,
                                   struct numbers dy, struct numbers dx)
{
    return by_type(x.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_each(stream, rows * (size_t)size, swiglu_backward<Number>, (unsigned)size,
                           (const Number *)x.at, (const Number *)dy.at, (Number *)dx.at);
    });
}
