/* Layers, optimizers and samples on the GPU: what cpu_layers.c does, and what a convolution and a
 * dense layer need around their matrix products. */
#include "cuda_each.cuh"
#include "cuda_kernels.h"

#define SUM_COLUMNS 32 /* of a block; its other dimension are rows */
#define SUM_ROWS    (THREADS / SUM_COLUMNS)

static __global__ void add_bias(size_t count, unsigned columns, const float *b, float *y)
{
    EACH(i, count)
    y[i] += b[i % columns];
}

extern "C" cudaError_t kernel_add_bias(cudaStream_t stream, int rows, int columns, const float *b,
                                       float *y)
{
    const size_t count = (size_t)rows * (size_t)columns;
    return launch(stream, blocks_for(count), add_bias, count, (unsigned)columns, b, y);
}

static __global__ void sum_columns(int rows, int columns, const float *x, float *sums)
{
    __shared__ float part[SUM_ROWS][SUM_COLUMNS + 1];
    const int lane = (int)threadIdx.x % SUM_COLUMNS, line = (int)threadIdx.x / SUM_COLUMNS;
    for (int first = (int)blockIdx.x * SUM_COLUMNS; first < columns;
         first += (int)gridDim.x * SUM_COLUMNS) {
        const int column = first + lane;
        float sum = 0;
        for (int row = line; row < rows && column < columns; row += SUM_ROWS)
            sum += x[(size_t)row * (size_t)columns + (size_t)column];
        part[line][lane] = sum;
        __syncthreads();
        for (int other = 1; line == 0 && other < SUM_ROWS; other++)
            sum += part[other][lane];
        if (line == 0 && column < columns)
            sums[column] = sum;
        __syncthreads();
    }
}

extern "C" cudaError_t kernel_sum_columns(cudaStream_t stream, int rows, int columns,
                                          const float *x, float *sums)
{
    const size_t blocks = ((size_t)columns + SUM_COLUMNS - 1) / SUM_COLUMNS;
    return launch(stream, blocks, sum_columns, rows, columns, x, sums);
}

static __global__ void sum_rows(int rows, size_t columns, const float *x, float *sums)
{
    __shared__ float shared[THREADS];
    for (int row = (int)blockIdx.x; row < rows; row += (int)gridDim.x) {
        const float *line = x + (size_t)row * columns;
        float sum = 0;
        for (size_t i = threadIdx.x; i < columns; i += THREADS)
            sum += line[i];
        sum = block_sum(sum, shared);
        if (threadIdx.x == 0)
            sums[row] = sum;
    }
}

extern "C" cudaError_t kernel_sum_rows(cudaStream_t stream, int rows, size_t columns,
                                       const float *x, float *sums)
{
    return launch(stream, (size_t)rows, sum_rows, rows, columns, x, sums);
}

static __global__ void swap(size_t count, unsigned outer, unsigned middle, unsigned inner,
                            const float *from, const float *bias, float *to)
{
    EACH(at, count)
    { /* of `to`: what is written lies side by side */
        const size_t line = at / inner;
        const unsigned i = (unsigned)(line % outer), j = (unsigned)(line / outer);
        const float value = from[((size_t)i * middle + j) * inner + at % inner];
        to[at] = bias != NULL ? value + bias[i] : value;
    }
}

extern "C" cudaError_t kernel_swap(cudaStream_t stream, int outer, int middle, int inner,
                                   const float *from, const float *bias, float *to)
{
    const size_t count = (size_t)outer * (size_t)middle * (size_t)inner;
    return launch(stream, blocks_for(count), swap, count, (unsigned)outer, (unsigned)middle,
                  (unsigned)inner, from, bias, to);
}

/* One entry of the columns: weight (channel, i, j) of a filter, image and place (row, column). */
static __global__ void patches(struct conv conv, struct shape out, int images, size_t count,
                               const float *x, float *columns)
{
    const struct shape in = conv.in;
    const unsigned kernel = (unsigned)conv.kernel, width = (unsigned)out.width;
    const unsigned places = width * (unsigned)out.height;
    EACH(at, count)
    {
        const unsigned place = (unsigned)(at % places);
        const size_t line = at / places;
        const unsigned image = (unsigned)(line % (unsigned)images);
        const unsigned weight = (unsigned)(line / (unsigned)images);
        const unsigned channel = weight / (kernel * kernel);
        const int row = (int)(place / width + weight / kernel % kernel) - conv.pad;
        const int column = (int)(place % width + weight % kernel) - conv.pad;
        const bool inside = row >= 0 && row < in.height && column >= 0 && column < in.width;
        const size_t plane = (size_t)image * (size_t)in.channels + channel;
        columns[at] =
            inside
                ? x[(plane * (size_t)in.height + (size_t)row) * (size_t)in.width + (size_t)column]
                : 0;
    }
}

extern "C" cudaError_t kernel_patches(cudaStream_t stream, struct conv conv, int images,
                                      const float *x, float *columns)
{
    const struct shape out = conv_output(&conv);
    const size_t count = (size_t)conv.in.channels * (size_t)conv.kernel * (size_t)conv.kernel *
                         (size_t)images * (size_t)out.height * (size_t)out.width;
    return launch(stream, blocks_for(count), patches, conv, out, images, count, x, columns);
}

/* One input: the sum over the weights that met it, in their order. */
static __global__ void unpatch(struct conv conv, struct shape out, int images, size_t count,
                               const float *columns, float *dx)
{
    const struct shape in = conv.in;
    const int kernel = conv.kernel;
    const size_t places = (size_t)out.height * (size_t)out.width;
    EACH(at, count)
    {
        const int x = (int)(at % (unsigned)in.width);
        const int y = (int)(at / (unsigned)in.width % (unsigned)in.height);
        const size_t plane = at / ((size_t)in.width * (size_t)in.height);
        const size_t image = plane / (unsigned)in.channels, channel = plane % (unsigned)in.channels;
        float sum = 0;
        for (int i = 0; i < kernel; i++) {
            for (int j = 0; j < kernel; j++) {
                const int row = y + conv.pad - i, column = x + conv.pad - j;
                if (row < 0 || row >= out.height || column < 0 || column >= out.width)
                    continue;
                const size_t weight =
                    (channel * (size_t)kernel + (size_t)i) * (size_t)kernel + (size_t)j;
                sum += columns[(weight * (size_t)images + image) * places +
                               (size_t)row * (size_t)out.width + (size_t)column];
            }
        }
        dx[at] = sum;
    }
}

extern "C" cudaError_t kernel_unpatch(cudaStream_t stream, struct conv conv, int images,
                                      const float *columns, float *dx)
{
    const size_t count = (size_t)images * shape_size(conv.in);
    return launch(stream, blocks_for(count), unpatch, conv, conv_output(&conv), images, count,
                  columns, dx);
}

static __global__ void pool_forward(struct pool pool, struct shape out, size_t count,
                                    const float *x, float *y, uint8_t *winner)
{
    const int width = pool.in.width, window = pool.window;
    EACH(at, count)
    {
        const size_t column = at % (unsigned)out.width, line = at / (unsigned)out.width;
        const size_t row = line % (unsigned)out.height, plane = line / (unsigned)out.height;
        const float *corner =
            x + (plane * (size_t)pool.in.height + row * (size_t)window) * (size_t)width +
            column * (size_t)window;
        float best = corner[0];
        int holder = 0;
        for (int place = 1; place < window * window; place++) {
            const float candidate = corner[(place / window) * width + place % window];
            holder = candidate > best ? place : holder;
            best = candidate > best ? candidate : best;
        }
        y[at] = best;
        winner[at] = (uint8_t)holder;
    }
}

extern "C" cudaError_t kernel_pool(cudaStream_t stream, struct pool pool, int batch, const float *x,
                                   float *y, uint8_t *winner)
{
    const struct shape out = pool_output(&pool);
    const size_t count = (size_t)batch * shape_size(out);
    return launch(stream, blocks_for(count), pool_forward, pool, out, count, x, y, winner);
}

/* Each input asks whether it won. */
static __global__ void pool_backward(struct pool pool, struct shape out, size_t count,
                                     const float *dy, const uint8_t *winner, float *dx)
{
    const unsigned window = (unsigned)pool.window;
    EACH(at, count)
    {
        const unsigned x = (unsigned)(at % (unsigned)pool.in.width);
        const size_t line = at / (unsigned)pool.in.width;
        const unsigned y = (unsigned)(line % (unsigned)pool.in.height);
        const size_t plane = line / (unsigned)pool.in.height;
        const unsigned row = y / window, column = x / window;
        const size_t from = (plane * (size_t)out.height + row) * (size_t)out.width + column;
        const unsigned place = y % window * window + x % window;
        const bool inside = row < (unsigned)out.height && column < (unsigned)out.width;
        dx[at] = inside && winner[from] == place ? dy[from] : 0;
    }
}

extern "C" cudaError_t kernel_unpool(cudaStream_t stream, struct pool pool, int batch,
                                     const float *dy, const uint8_t *winner, float *dx)
{
    const size_t count = (size_t)batch * shape_size(pool.in);
    return launch(stream, blocks_for(count), pool_backward, pool, pool_output(&pool), count, dy,
                  winner, dx);
}

static __global__ void activate(enum activation activation, size_t count, const float *x, float *y)
{
    EACH(i, count)
    {
        const float value = x[i];
        if (activation == RELU)
            y[i] = value < 0 ? 0 : value; /* NaN passes */
        else
            y[i] = activation == SIGMOID ? 1 / (1 + expf(-value)) : tanhf(value);
    }
}

extern "C" cudaError_t kernel_activate(cudaStream_t stream, enum activation activation,
                                       size_t count, const float *x, float *y)
{
    return launch(stream, blocks_for(count), activate, activation, count, x, y);
}

static __global__ void activate_backward(enum activation activation, size_t count, const float *y,
                                         const float *dy, float *dx)
{
    EACH(i, count)
    {
        const float out = y[i], slope = dy[i];
        if (activation == RELU)
            dx[i] = out > 0 ? slope : 0;
        else
            dx[i] = slope * (activation == SIGMOID ? out * (1 - out) : 1 - out * out);
    }
}

extern "C" cudaError_t kernel_activate_backward(cudaStream_t stream, enum activation activation,
                                                size_t count, const float *y, const float *dy,
                                                float *dx)
{
    return launch(stream, blocks_for(count), activate_backward, activation, count, y, dy, dx);
}

/* Of one sample: the loss, and whether its label was the first largest. With the largest logit
 * subtracted no exponential overflows and the sum is at least 1. A label that is none makes the
 * loss NaN. */
static __device__ double sample_loss(int batch, int classes, const float *logits, int label,
                                     float *dlogits, unsigned *correct)
{
    int largest = 0;
    for (int c = 1; c < classes; c++)
        largest = logits[c] > logits[largest] ? c : largest;
    const double top = (double)logits[largest];
    double sum = 0;
    for (int c = 0; c < classes; c++)
        sum += exp((double)logits[c] - top);
    for (int c = 0; c < classes && dlogits != NULL; c++) {
        const double softmax = exp((double)logits[c] - top) / sum;
        dlogits[c] = (float)((softmax - (c == label)) / batch);
    }
    *correct += largest == label;
    return label < classes ? log(sum) - ((double)logits[label] - top) : (double)NAN;
}

/* One block, so that the losses are always added in the same order. */
static __global__ void cross_entropy(int batch, int classes, const float *logits,
                                     const uint8_t *labels, float *dlogits, struct score *score)
{
    __shared__ double losses[THREADS];
    __shared__ unsigned counts[THREADS];
    double loss = 0;
    unsigned correct = 0;
    for (int i = (int)threadIdx.x; i < batch; i += THREADS) {
        const size_t first = (size_t)i * (size_t)classes;
        loss += sample_loss(batch, classes, logits + first, labels[i],
                            dlogits != NULL ? dlogits + first : NULL, &correct);
    }
    loss = block_sum(loss, losses);
    correct = block_sum(correct, counts);
    if (threadIdx.x == 0) {
        score->loss += loss;
        score->samples += (uint32_t)batch;
        score->correct += correct;
    }
}

extern "C" cudaError_t kernel_cross_entropy(cudaStream_t stream, int batch, int classes,
                                            const float *logits, const uint8_t *labels,
                                            float *dlogits, struct score *score)
{
    return launch(stream, 1, cross_entropy, batch, classes, logits, labels, dlogits, score);
}

static __global__ void sgd_step(const struct sgd *sgd, size_t count, float *w, const float *g,
                                float *m)
{
    const float rate = sgd->rate, momentum = sgd->momentum, decay = sgd->weight_decay;
    const float own = sgd->nesterov ? 1 : 0, kept = sgd->nesterov ? momentum : 1;
    EACH(i, count)
    {
        const float gradient = g[i] + decay * w[i];
        const float moment = momentum * m[i] + gradient;
        m[i] = moment;
        w[i] -= rate * (own * gradient + kept * moment);
    }
}

extern "C" cudaError_t kernel_sgd(cudaStream_t stream, const struct sgd *sgd, size_t count,
                                  float *w, const float *g, float *m)
{
    return launch(stream, blocks_for(count), sgd_step, sgd, count, w, g, m);
}

static __global__ void adam_step(const struct adam *adam, size_t count, float *w, const float *g,
                                 float *m, float *v)
{
    __shared__ float rate, root; /* the same for all: worked out once in each block */
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    if (threadIdx.x == 0) {
        rate = (float)((double)adam->rate / (1 - pow(beta1, (double)adam->step)));
        root = (float)(1 / sqrt(1 - pow(beta2, (double)adam->step)));
    }
    __syncthreads();
    const float own1 = (float)(1 - beta1), own2 = (float)(1 - beta2);
    const float epsilon = adam->epsilon, shrink = adam->rate * adam->weight_decay;
    EACH(i, count)
    {
        const float mean = adam->beta1 * m[i] + own1 * g[i];
        const float square = adam->beta2 * v[i] + own2 * (g[i] * g[i]);
        m[i] = mean;
        v[i] = square;
        w[i] -= shrink * w[i] + rate * mean / (root * sqrtf(square) + epsilon);
    }
}

extern "C" cudaError_t kernel_adam(cudaStream_t stream, const struct adam *adam, size_t count,
                                   float *w, const float *g, float *m, float *v)
{
    return launch(stream, blocks_for(count), adam_step, adam, count, w, g, m, v);
}

static __global__ void gather(size_t count, size_t sample_size, const uint8_t *pixels,
                              const uint8_t *labels, const uint32_t *pick, float mean, float scale,
                              float *x, uint8_t *y)
{
    EACH(at, count)
    {
        const size_t sample = pick[at / sample_size], place = at % sample_size;
        x[at] = ((float)pixels[sample * sample_size + place] - mean) * scale;
        if (place == 0)
            y[at / sample_size] = labels[sample];
    }
}

extern "C" cudaError_t kernel_gather(cudaStream_t stream, int batch, size_t sample_size,
                                     const uint8_t *pixels, const uint8_t *labels,
                                     const uint32_t *pick, float mean, float scale, float *x,
                                     uint8_t *y)
{
    const size_t count = (size_t)batch * sample_size;
    return launch(stream, blocks_for(count), gather, count, sample_size, pixels, labels, pick, mean,
                  scale, x, y);
}
