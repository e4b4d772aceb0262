/* Optimizers on the GPU; cpu_optimizers.c does the same on the CPU. */
#include "backend/cuda/cuda_each.cuh"
#include "backend/cuda/cuda_optimizers.h"

/* Computes partial sums of squares in `parts` parts, one per block. Sections of THREADS numbers
 * belong to the parts in turn. */
static __global__ void square_parts(unsigned parts, unsigned count, const float *g, double *squares)
{
    __shared__ double shared[THREADS];
    for (unsigned part = blockIdx.x; part < parts; part += gridDim.x) {
        double sum = 0;
        for (size_t i = (size_t)part * THREADS + threadIdx.x; i < count; i += parts * THREADS)
            sum += (double)g[i] * (double)g[i];
        sum = block_sum(sum, shared);
        if (threadIdx.x == 0)
            squares[part] = sum;
    }
}

static __device__ double sum_parts(unsigned parts, const double *squares, double *shared)
{
    double sum = 0;
    for (unsigned part = threadIdx.x; part < parts; part += THREADS)
        sum += squares[part];
    return block_sum(sum, shared);
}

static unsigned parts_for(size_t count)
{
    const size_t stretches = (count + 8 * THREADS - 1) / (8 * THREADS);
    return (unsigned)(stretches < CLIP_PARTS ? stretches : CLIP_PARTS);
}

/* Adds the partial sums in one block, and computes the clipping factor. */
static __global__ void clip(unsigned parts, const double *squares, const float *most, float *factor)
{
    __shared__ double shared[THREADS];
    const double length = sqrt(sum_parts(parts, squares, shared));
    if (threadIdx.x == 0)
        *factor = length <= (double)*most ? 1 : (float)((double)*most / length);
}

cudaError_t kernel_clip(cudaStream_t stream, const float *most, size_t count, double *squares,
                        const float *g, float *factor)
{
    const unsigned parts = parts_for(count);
    if (count > INT_MAX)
        return cudaErrorInvalidValue;
    const cudaError_t error =
        launch(stream, parts, square_parts, parts, (unsigned)count, g, squares);
    return error != cudaSuccess
               ? error
               : launch(stream, 1, clip, parts, (const double *)squares, most, factor);
}

static __device__ float factor_of(const float *factor)
{
    return factor != NULL ? *factor : 1;
}

static __global__ void lamb_direction(unsigned count, const struct adam *adam, const float *factor,
                                      bool decays, const float *w, float *g, float *m, float *v)
{
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    const float first = (float)(1 / (1 - pow(beta1, (double)adam->step)));
    const float root = (float)(1 / sqrt(1 - pow(beta2, (double)adam->step)));
    const float kept1 = adam->beta1, own1 = (float)(1 - beta1);
    const float kept2 = adam->beta2, own2 = (float)(1 - beta2);
    const float decay = decays ? adam->weight_decay : 0;
    const float by = factor_of(factor);
    EACH (i, count) {
        const float gradient = by * g[i];
        m[i] = kept1 * m[i] + own1 * gradient;
        v[i] = kept2 * v[i] + own2 * (gradient * gradient);
        g[i] = first * m[i] / (root * sqrtf(v[i]) + adam->epsilon) + decay * w[i];
    }
}

/* Makes a step of LAMB. Each block adds all partial sums itself. */
static __global__ void lamb_step(unsigned count, unsigned parts, const struct adam *adam,
                                 const double *squares, const float *u, float *w)
{
    __shared__ double shared[THREADS];
    const double of_w = sqrt(sum_parts(parts, squares, shared));
    const double of_u = sqrt(sum_parts(parts, squares + CLIP_PARTS, shared));
    const double ratio = of_w > 0 && of_u > 0 ? of_w / of_u : 1;
    const float step = (float)((double)adam->rate * ratio);
    EACH (i, count)
        w[i] -= step * u[i];
}

cudaError_t kernel_lamb(cudaStream_t stream, const struct adam *adam, const float *factor,
                        size_t count, bool decays, double *squares, float *w, float *g, float *m,
                        float *v)
{
    const unsigned parts = parts_for(count);
    cudaError_t error =
        launch_each(stream, count, lamb_direction, adam, factor, decays, (const float *)w, g, m, v);
    if (error == cudaSuccess)
        error =
            launch(stream, parts, square_parts, parts, (unsigned)count, (const float *)w, squares);
    if (error == cudaSuccess)
        error = launch(stream, parts, square_parts, parts, (unsigned)count, (const float *)g,
                       squares + CLIP_PARTS);
    if (error == cudaSuccess)
        error = launch_each(stream, count, lamb_step, parts, adam, (const double *)squares,
                            (const float *)g, w);
    return error;
}

static __global__ void muon_momentum(unsigned count, const struct sgd *sgd, const float *factor,
                                     float *g, float *m)
{
    const float by = factor_of(factor);
    EACH (i, count) {
        g[i] *= by;
        m[i] = sgd->momentum * m[i] + g[i];
        g[i] = sgd->nesterov ? g[i] + sgd->momentum * m[i] : m[i];
    }
}

static __global__ void make_unit(unsigned count, unsigned parts, const double *squares, float *g)
{
    __shared__ double shared[THREADS];
    const double length = sqrt(sum_parts(parts, squares, shared));
    const float scale = length > 0 ? (float)(1 / length) : 0;
    EACH (i, count)
        g[i] *= scale;
}

cudaError_t kernel_muon_begin(cudaStream_t stream, const struct sgd *sgd, const float *factor,
                              size_t count, double *squares, float *g, float *m)
{
    const unsigned parts = parts_for(count);
    cudaError_t error = launch_each(stream, count, muon_momentum, sgd, factor, g, m);
    if (error == cudaSuccess)
        error =
            launch(stream, parts, square_parts, parts, (unsigned)count, (const float *)g, squares);
    if (error == cudaSuccess)
        error = launch_each(stream, count, make_unit, parts, (const double *)squares, g);
    return error;
}

static __global__ void muon_end(unsigned count, const struct sgd *sgd, float scale, const float *o,
                                float *w)
{
    const float step = sgd->rate * scale, shrink = sgd->rate * sgd->weight_decay;
    EACH (i, count)
        w[i] -= step * o[i] + shrink * w[i];
}

cudaError_t kernel_muon_end(cudaStream_t stream, const struct sgd *sgd, size_t count, float scale,
                            const float *o, float *w)
{
    return launch_each(stream, count, muon_end, sgd, scale, o, w);
}

static __global__ void scale_all(unsigned count, float by, const float *x, float *y)
{
    EACH (i, count)
        y[i] = by * x[i];
}

cudaError_t kernel_scale(cudaStream_t stream, size_t count, float by, const float *x, float *y)
{
    return launch_each(stream, count, scale_all, by, x, y);
}

static __global__ void sgd_step(unsigned count, const struct sgd *sgd, const float *factor,
                                float *w, const float *g, float *m)
{
    const float rate = sgd->rate, momentum = sgd->momentum, decay = sgd->weight_decay;
    const float own = sgd->nesterov ? 1 : 0, kept = sgd->nesterov ? momentum : 1;
    const uint64_t decayed = sgd->decayed;
    const float by = factor_of(factor);
    EACH (i, count) {
        const float gradient = by * g[i] + (i < decayed ? decay : 0) * w[i];
        const float moment = momentum * m[i] + gradient;
        m[i] = moment;
        w[i] -= rate * (own * gradient + kept * moment);
    }
}

cudaError_t kernel_sgd(cudaStream_t stream, const struct sgd *sgd, const float *factor,
                       size_t count, float *w, const float *g, float *m)
{
    return launch_each(stream, count, sgd_step, sgd, factor, w, g, m);
}

static __global__ void adam_step(unsigned count, const struct adam *adam, const float *factor,
                                 float *w, const float *g, float *m, float *v)
{
    __shared__ float rate, root; /* computed by one thread for its whole block */
    const double beta1 = (double)adam->beta1, beta2 = (double)adam->beta2;
    if (threadIdx.x == 0) {
        rate = (float)((double)adam->rate / (1 - pow(beta1, (double)adam->step)));
        root = (float)(1 / sqrt(1 - pow(beta2, (double)adam->step)));
    }
    __syncthreads();
    const float own1 = (float)(1 - beta1), own2 = (float)(1 - beta2);
    const float epsilon = adam->epsilon, shrink = adam->rate * adam->weight_decay;
    const uint64_t decayed = adam->decayed;
    const float by = factor_of(factor);
    EACH (i, count) {
        const float gradient = by * g[i];
        const float mean = adam->beta1 * m[i] + own1 * gradient;
        const float square = adam->beta2 * v[i] + own2 * (gradient * gradient);
        m[i] = mean;
        v[i] = square;
        w[i] -= (i < decayed ? shrink : 0) * w[i] + rate * mean / (root * sqrtf(square) + epsilon);
    }
}

cudaError_t kernel_adam(cudaStream_t stream, const struct adam *adam, const float *factor,
                        size_t count, float *w, const float *g, float *m, float *v)
{
    return launch_each(stream, count, adam_step, adam, factor, w, g, m, v);
}
