/* Layers on the GPU (cpu_layers.c does the same on the CPU), and the kernels around the matrix
 * products of convolutions and dense layers. */
#include "backend/cuda/cuda_activation.cuh"
#include "backend/cuda/cuda_bf16.cuh"
#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_kernels.h"

/* Number of columns per block of gradient_columns, with SUM_ROWS threads for each column. */
#define SUM_COLUMNS 32
#define SUM_ROWS    (THREADS / SUM_COLUMNS)
/* Largest number of rows per partial sum, unless a column would then have more than COLUMN_PARTS
 * partial sums. */
#define PART_ROWS   128
#define LOADS_AHEAD 8 /* gradients that a thread loads before it uses the first */

/* A divisor that is known before the kernel starts. `quotient` divides by a multiplication, which
 * is many times faster, and exact for numbers of 31 bits (Granlund and Montgomery 1994). */
struct divisor {
    unsigned of;
    unsigned shift;
    uint64_t factor; /* 2^shift / of, rounded up */
};

static struct divisor divisor_of(int of)
{
    unsigned bits = 0;
    while ((uint64_t)1 << bits < (uint64_t)of)
        bits++;
    const uint64_t power = (uint64_t)1 << (31 + bits);
    return {(unsigned)of, 31 + bits, (power + (unsigned)of - 1) / (unsigned)of};
}

static __device__ unsigned quotient(unsigned number, struct divisor divisor)
{
    return (unsigned)(number * divisor.factor >> divisor.shift);
}

/* Returns the index that element i of a matrix without padding has once its rows are `stride`
 * numbers apart. */
static __device__ size_t among_padded(unsigned i, struct divisor columns, unsigned stride)
{
    const unsigned row = quotient(i, columns);
    return (size_t)row * stride + (i - row * columns.of);
}

template <typename Number>
static __global__ void to_bf16(unsigned count, unsigned given, const Number *from, uint16_t *to)
{
    each_at_once(
        count, [=](unsigned i) { return i < given ? fetch(from + i) : 0; },
        [=](unsigned i, float value) { to[i] = bf16_of(value); });
}

template <typename Number>
static __global__ void to_padded_bf16(unsigned count, unsigned rows, unsigned columns,
                                      struct divisor wide, const Number *from, uint16_t *to)
{
    each_at_once(
        count,
        [=](unsigned i) {
            const unsigned row = quotient(i, wide), column = i - row * wide.of;
            return row < rows && column < columns ? fetch(from + (size_t)row * columns + column)
                                                  : 0;
        },
        [=](unsigned i, float value) { to[i] = bf16_of(value); });
}

cudaError_t kernel_to_bf16(cudaStream_t stream, int rows, int columns, int high, int wide,
                           struct numbers from, uint16_t *to)
{
    const size_t count = (size_t)high * (size_t)wide;
    return by_type(from.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        const Number *numbers = (const Number *)from.at;
        if (wide == columns)
            return launch_each(stream, count, to_bf16<Number>, (unsigned)rows * (unsigned)columns,
                               numbers, to);
        return launch_each(stream, count, to_padded_bf16<Number>, (unsigned)rows, (unsigned)columns,
                           divisor_of(wide), numbers, to);
    });
}

static __global__ void add_bias(unsigned count, struct divisor middle, struct divisor inner,
                                const float *b, enum activation activation, float *y)
{
    const auto bias = [=](unsigned i) {
        const unsigned line = quotient(i, inner);
        return b[line - quotient(line, middle) * middle.of];
    };
    each_at_once(
        count, [=](unsigned i) { return make_float2(y[i], b != NULL ? bias(i) : 0); },
        [=](unsigned i, float2 both) { y[i] = activated(activation, both.x + both.y); });
}

cudaError_t kernel_add_bias(cudaStream_t stream, int outer, int middle, int inner, const float *b,
                            enum activation activation, float *y)
{
    const size_t count = (size_t)outer * (size_t)middle * (size_t)inner;
    return launch_each(stream, count, add_bias, divisor_of(middle), divisor_of(inner), b,
                       activation, y);
}

template <typename Number>
static __global__ void compact(unsigned count, struct divisor columns, unsigned stride,
                               const float *from, const Number *b, enum activation activation,
                               Number *y)
{
    const auto bias = [=](unsigned i) {
        return fetch(b + (i - quotient(i, columns) * columns.of));
    };
    each_at_once(
        count,
        [=](unsigned i) {
            return make_float2(from[among_padded(i, columns, stride)], b != NULL ? bias(i) : 0);
        },
        [=](unsigned i, float2 both) { put(y + i, activated(activation, both.x + both.y)); });
}

cudaError_t kernel_compact(cudaStream_t stream, int rows, int columns, int stride,
                           const float *from, struct numbers b, enum activation activation,
                           struct numbers y)
{
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch_each(stream, (size_t)rows * (size_t)columns, compact<Number>,
                           divisor_of(columns), (unsigned)stride, from, (const Number *)b.at,
                           activation, (Number *)y.at);
    });
}

/* Computes the gradients before the activation of this thread's elements first, first + step, ...
 * below `end`, and returns their sum. at(i): index of element i in y and gradient. Overwrites
 * `gradient`, and calls also(i, gradient before the activation). Loads several elements before it
 * uses the first. */
template <typename Number, typename At, typename Also>
static __device__ float add_gradients(unsigned first, unsigned end, unsigned step, At at, Also also,
                                      const Number *y, enum activation activation, Number *gradient)
{
    float sum = 0;
    for (; first < end; first += LOADS_AHEAD * step) {
        float gradients[LOADS_AHEAD] = {}, outputs[LOADS_AHEAD] = {};
#pragma unroll
        for (unsigned k = 0; k < LOADS_AHEAD; k++) {
            const unsigned i = first + k * step;
            if (i < end) {
                gradients[k] = fetch(gradient + at(i));
                outputs[k] = activation == LINEAR ? 0 : fetch(y + at(i));
            }
        }
#pragma unroll
        for (unsigned k = 0; k < LOADS_AHEAD; k++) {
            const unsigned i = first + k * step;
            if (i < end) {
                const float before = gradient_before(activation, outputs[k], gradients[k]);
                if (activation != LINEAR)
                    put(gradient + at(i), before);
                also(i, before);
                sum += before;
            }
        }
    }
    return sum;
}

/* Computes the gradients before the activation, and partial sums of each column. Each block
 * processes SUM_COLUMNS columns of some of the rows. */
template <typename Number>
static __global__ void gradient_columns(unsigned blocks, unsigned parts, unsigned rows,
                                        unsigned columns, const Number *y,
                                        enum activation activation, Number *gradient,
                                        uint16_t *rounded, unsigned wide, float *sums)
{
    __shared__ float shared[SUM_ROWS][SUM_COLUMNS + 1];
    const unsigned half = threadIdx.x % SUM_COLUMNS, line = threadIdx.x / SUM_COLUMNS;
    const unsigned most = (rows + parts - 1) / parts;
    for (unsigned block = blockIdx.x; block < blocks; block += gridDim.x) {
        const unsigned part = block % parts, column = block / parts * SUM_COLUMNS + half;
        const unsigned end = (part + 1) * most < rows ? (part + 1) * most : rows;
        const auto at = [=](unsigned row) { return (size_t)row * columns + column; };
        const auto round = [=](unsigned row, float before) {
            if (rounded != NULL)
                rounded[(size_t)row * wide + column] = bf16_of(before);
        };
        const bool is_rest = rounded != NULL && column >= columns && column < wide;
        for (unsigned row = part * most + line; is_rest && row < end; row += SUM_ROWS)
            round(row, 0);
        float sum = add_gradients(part * most + line, column < columns ? end : 0, SUM_ROWS, at,
                                  round, y, activation, gradient);
        shared[line][half] = sum;
        __syncthreads();
        for (unsigned other = 1; line == 0 && other < SUM_ROWS; other++)
            sum += shared[other][half];
        if (line == 0 && column < columns && sums != NULL)
            sums[(size_t)part * columns + column] = sum;
        __syncthreads();
    }
}

static __global__ void add_column_parts(unsigned columns, unsigned parts, const float *from,
                                        float *sums)
{
    EACH (column, columns) {
        float sum = 0;
        for (unsigned part = 0; part < parts; part++)
            sum += from[(size_t)part * columns + column];
        sums[column] = sum;
    }
}

cudaError_t kernel_gradient_columns(cudaStream_t stream, int rows, int columns, struct numbers y,
                                    enum activation activation, struct numbers gradient,
                                    uint16_t *rounded, int wide, float *scratch, float *sums)
{
    const unsigned all = (unsigned)rows,
                   groups = ((unsigned)columns + SUM_COLUMNS - 1) / SUM_COLUMNS;
    const unsigned most = (all + PART_ROWS - 1) / PART_ROWS;
    const unsigned parts = most < COLUMN_PARTS ? most : COLUMN_PARTS;
    float *to = sums != NULL && parts > 1 ? scratch : sums;
    const cudaError_t error = by_type(gradient.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        return launch(stream, (size_t)groups * parts, gradient_columns<Number>, groups * parts,
                      parts, all, (unsigned)columns, (const Number *)y.at, activation,
                      (Number *)gradient.at, rounded, (unsigned)wide, to);
    });
    if (error != cudaSuccess || to == sums)
        return error;
    return launch_each(stream, (size_t)columns, add_column_parts, parts, (const float *)scratch,
                       sums);
}

/* Computes the gradients before the activation, and their sum for each index of the middle
 * dimension in SUM_PARTS partial sums, one per block. */
static __global__ void gradient_parts(unsigned parts, unsigned outer, unsigned middle,
                                      unsigned inner, const float *y, enum activation activation,
                                      float *gradient, float *sums)
{
    __shared__ float shared[THREADS];
    const unsigned terms = outer * inner, most = (terms + SUM_PARTS - 1) / SUM_PARTS;
    for (unsigned part = blockIdx.x; part < parts; part += gridDim.x) {
        const unsigned plane = part / SUM_PARTS, first = part % SUM_PARTS * most;
        const unsigned end = first + most < terms ? first + most : terms;
        const auto at = [=](unsigned i) {
            return ((size_t)(i / inner) * middle + plane) * inner + i % inner;
        };
        const auto nowhere = [](unsigned, float) {};
        const float sum = block_sum(
            add_gradients(first + threadIdx.x, end, THREADS, at, nowhere, y, activation, gradient),
            shared);
        if (threadIdx.x == 0)
            sums[part] = sum;
    }
}

static __global__ void add_parts(unsigned planes, const float *parts, float *sums)
{
    EACH (plane, planes) {
        float sum = 0;
        for (unsigned part = 0; part < SUM_PARTS; part++)
            sum += parts[plane * SUM_PARTS + part];
        sums[plane] = sum;
    }
}

cudaError_t kernel_gradient_planes(cudaStream_t stream, int outer, int middle, int inner,
                                   const float *y, enum activation activation, float *gradient,
                                   float *parts, float *sums)
{
    const size_t count = (size_t)middle * SUM_PARTS;
    const cudaError_t error =
        launch(stream, count, gradient_parts, (unsigned)count, (unsigned)outer, (unsigned)middle,
               (unsigned)inner, y, activation, gradient, parts);
    return error != cudaSuccess || sums == NULL
               ? error
               : launch_each(stream, (size_t)middle, add_parts, parts, sums);
}

/* Swaps two dimensions. A warp writes a line of `to` at a time, so that reads and writes are
 * contiguous. */
static __global__ void swap(unsigned lines, unsigned outer, unsigned middle, unsigned inner,
                            const float *from, const float *bias, enum activation activation,
                            float *to)
{
    EACH_LINE (line, lines) {
        const unsigned i = line % outer, j = line / outer;
        const float *read = from + ((size_t)i * middle + j) * inner;
        float *written = to + (size_t)line * inner;
        const float more = bias != NULL ? bias[i] : 0;
        EACH_PLACE (place, inner)
            written[place] = activated(activation, read[place] + more);
    }
}

cudaError_t kernel_swap(cudaStream_t stream, int outer, int middle, int inner, const float *from,
                        const float *bias, enum activation activation, float *to)
{
    return launch_lines(stream, (size_t)outer * (size_t)middle, swap, (unsigned)outer,
                        (unsigned)middle, (unsigned)inner, from, bias, activation, to);
}

/* im2col: copies patches. A line has the inputs that one filter weight (channel, i, j) multiplies,
 * at all output positions of one image. */
static __global__ void patches(unsigned lines, struct conv conv, struct shape out, unsigned images,
                               const float *x, float *columns)
{
    const struct shape in = conv.in;
    const unsigned kernel = (unsigned)conv.kernel, width = (unsigned)out.width;
    const unsigned places = width * (unsigned)out.height;
    EACH_LINE (line, lines) {
        const unsigned weight = line / images, image = line % images;
        const unsigned channel = weight / (kernel * kernel), tap = weight % (kernel * kernel);
        const int down = (int)(tap / kernel) - conv.pad, right = (int)(tap % kernel) - conv.pad;
        const float *plane = x + ((size_t)image * (unsigned)in.channels + channel) *
                                     ((size_t)in.height * (size_t)in.width);
        float *to = columns + (size_t)line * places;
        EACH_PLACE (place, places) {
            const int row = (int)(place / width) * conv.stride + down;
            const int column = (int)(place % width) * conv.stride + right;
            const bool inside = row >= 0 && row < in.height && column >= 0 && column < in.width;
            to[place] = inside ? plane[row * in.width + column] : 0;
        }
    }
}

cudaError_t kernel_patches(cudaStream_t stream, struct conv conv, int images, const float *x,
                           float *columns)
{
    const size_t lines =
        (size_t)conv.in.channels * (size_t)conv.kernel * (size_t)conv.kernel * (size_t)images;
    return launch_lines(stream, lines, patches, conv, conv_output(&conv), (unsigned)images, x,
                        columns);
}

/* Computes the gradient of an input: the sum over its copies in `columns`, in the order of the
 * weights. */
static __global__ void unpatch(unsigned count, struct conv conv, struct shape out, unsigned images,
                               const float *columns, float *dx)
{
    const struct shape in = conv.in;
    const unsigned width = (unsigned)in.width, height = (unsigned)in.height;
    const unsigned places = (unsigned)out.height * (unsigned)out.width;
    EACH (at, count) {
        const int x = (int)(at % width), y = (int)(at / width % height);
        const unsigned plane = at / width / height;
        const unsigned image = plane / (unsigned)in.channels,
                       channel = plane % (unsigned)in.channels;
        unsigned weight = channel * (unsigned)(conv.kernel * conv.kernel);
        float sum = 0;
        for (int i = 0; i < conv.kernel; i++) {
            for (int j = 0; j < conv.kernel; j++, weight++) {
                const int down = y + conv.pad - i, right = x + conv.pad - j;
                const int row = down / conv.stride, column = right / conv.stride;
                const bool meets = down % conv.stride == 0 && right % conv.stride == 0;
                if (meets && down >= 0 && row < out.height && right >= 0 && column < out.width)
                    sum += columns[((size_t)weight * images + image) * places +
                                   (unsigned)(row * out.width + column)];
            }
        }
        dx[at] = sum;
    }
}

cudaError_t kernel_unpatch(cudaStream_t stream, struct conv conv, int images, const float *columns,
                           float *dx)
{
    const size_t count = (size_t)images * shape_size(conv.in);
    return launch_each(stream, count, unpatch, conv, conv_output(&conv), (unsigned)images, columns,
                       dx);
}

static __global__ void pool_forward(unsigned count, struct pool pool, struct shape out,
                                    const float *x, float *y, uint8_t *winner)
{
    const int width = pool.in.width, window = pool.window;
    EACH (at, count) {
        const unsigned column = at % (unsigned)out.width, line = at / (unsigned)out.width;
        const unsigned row = line % (unsigned)out.height, plane = line / (unsigned)out.height;
        const float *corner =
            x +
            ((size_t)plane * (unsigned)pool.in.height + row * (unsigned)window) * (unsigned)width +
            column * (unsigned)window;
        float best = corner[0];
        int holder = 0, place = 0;
        for (int i = 0; i < window; i++) {
            for (int j = 0; j < window; j++, place++) {
                const float candidate = corner[i * width + j];
                holder = candidate > best ? place : holder;
                best = candidate > best ? candidate : best;
            }
        }
        y[at] = best;
        winner[at] = (uint8_t)holder;
    }
}

cudaError_t kernel_pool(cudaStream_t stream, struct pool pool, int batch, const float *x, float *y,
                        uint8_t *winner)
{
    const struct shape out = pool_output(&pool);
    const size_t count = (size_t)batch * shape_size(out);
    return launch_each(stream, count, pool_forward, pool, out, x, y, winner);
}

/* Computes dx with one thread per input: dy of the input's window if the input was the largest
 * there, otherwise 0. */
static __global__ void pool_backward(unsigned count, struct pool pool, struct shape out,
                                     const float *dy, const uint8_t *winner, float *dx)
{
    const unsigned window = (unsigned)pool.window;
    EACH (at, count) {
        const unsigned x = at % (unsigned)pool.in.width, line = at / (unsigned)pool.in.width;
        const unsigned y = line % (unsigned)pool.in.height, plane = line / (unsigned)pool.in.height;
        const unsigned row = y / window, column = x / window;
        const unsigned place = (y - row * window) * window + x - column * window;
        const unsigned from = (plane * (unsigned)out.height + row) * (unsigned)out.width + column;
        const bool inside = row < (unsigned)out.height && column < (unsigned)out.width;
        dx[at] = inside && winner[from] == place ? dy[from] : 0;
    }
}

cudaError_t kernel_unpool(cudaStream_t stream, struct pool pool, int batch, const float *dy,
                          const uint8_t *winner, float *dx)
{
    const size_t count = (size_t)batch * shape_size(pool.in);
    return launch_each(stream, count, pool_backward, pool, pool_output(&pool), dy, winner, dx);
}

template <typename Number, unsigned N>
static __global__ void activate(unsigned packs, enum activation activation, const Number *x,
                                Number *y)
{
    each_at_once(
        packs, [=](unsigned i) { return fetch_pack<N>(x, i); },
        [=](unsigned i, pack<N> value) {
            for (unsigned k = 0; k < N; k++)
                value.at[k] = activated(activation, value.at[k]);
            put_pack<N>(y, i, value);
        });
}

cudaError_t kernel_activate(cudaStream_t stream, enum activation activation, size_t count,
                            struct numbers x, struct numbers y)
{
    return by_type(y.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        const auto run = [=](auto pack) {
            constexpr unsigned N = decltype(pack)::value;
            return launch_each(stream, count / N, activate<Number, N>, activation,
                               (const Number *)x.at, (Number *)y.at);
        };
        return by_pack(count, run, x, y);
    });
}

template <typename Number, unsigned N>
static __global__ void activate_backward(unsigned packs, enum activation activation,
                                         const Number *kept, const Number *dy, Number *dx)
{
    struct both {
        pack<N> kept, dy;
    };
    each_at_once(
        packs,
        [=](unsigned i) {
            return both{fetch_pack<N>(kept, i), fetch_pack<N>(dy, i)};
        },
        [=](unsigned i, both both) {
            for (unsigned k = 0; k < N; k++)
                both.dy.at[k] = gradient_before(activation, both.kept.at[k], both.dy.at[k]);
            put_pack<N>(dx, i, both.dy);
        });
}

cudaError_t kernel_activate_backward(cudaStream_t stream, enum activation activation, size_t count,
                                     struct numbers kept, struct numbers dy, struct numbers dx)
{
    return by_type(dx.type, [=](auto *typed) {
        using Number = std::remove_pointer_t<decltype(typed)>;
        const auto run = [=](auto pack) {
            constexpr unsigned N = decltype(pack)::value;
            return launch_each(stream, count / N, activate_backward<Number, N>, activation,
                               (const Number *)kept.at, (const Number *)dy.at, (Number *)dx.at);
        };
        return by_pack(count, run, kept, dy, dx);
    });
}
