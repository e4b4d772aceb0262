/* Batch norm, group norm and averages of images on the GPU; cpu_channel_norm.c does the same on the
 * CPU. A plane is a channel of one sample. A warp processes a plane at a time. */
#include "backend/cuda/cuda_activation.cuh"
#include "backend/cuda/cuda_channel_norm.h"
#include "backend/cuda/cuda_each.cuh"

static __device__ unsigned set_of(struct channel_norm norm, unsigned plane)
{
    const unsigned channels = (unsigned)norm.channels;
    return norm.groups == 0 ? plane % channels : plane / (channels / (unsigned)norm.groups);
}

/* set_planes returns the number of planes of a set (backend.h), set_plane the index of its i-th
 * plane. */
static __device__ unsigned set_planes(struct channel_norm norm, unsigned batch)
{
    return norm.groups == 0 ? batch : (unsigned)(norm.channels / norm.groups);
}

static __device__ unsigned set_plane(struct channel_norm norm, unsigned set, unsigned i)
{
    return norm.groups == 0 ? i * (unsigned)norm.channels + set
                            : set * (unsigned)(norm.channels / norm.groups) + i;
}

static __global__ void plane_sums(unsigned planes, unsigned places, float by, const float *x,
                                  float *sums)
{
    EACH_LINE (plane, planes) {
        const float *from = x + (size_t)plane * places;
        float sum = 0;
        EACH_PLACE (place, places)
            sum += from[place];
        sum = warp_sum(sum);
        if (threadIdx.x % WARP == 0)
            sums[plane] = sum / by;
    }
}

static __global__ void plane_squares(unsigned planes, struct channel_norm norm, const float *x,
                                     const float *stats, float *squares)
{
    const unsigned places = (unsigned)norm.places;
    EACH_LINE (plane, planes) {
        const float *from = x + (size_t)plane * places;
        const float mean = stats[2 * set_of(norm, plane)];
        float sum = 0;
        EACH_PLACE (place, places) {
            const float deviation = from[place] - mean;
            sum += deviation * deviation;
        }
        sum = warp_sum(sum);
        if (threadIdx.x % WARP == 0)
            squares[plane] = sum;
    }
}

/* Computes one statistic of each set. If is_mean, of_planes has the planes' sums, and the statistic
 * is the mean. Otherwise of_planes has the planes' sums of squared differences to the mean, and the
 * statistic is 1 / deviation. */
static __global__ void set_stats(unsigned sets, struct channel_norm norm, unsigned batch,
                                 const float *of_planes, bool is_mean, float *stats)
{
    const unsigned planes = set_planes(norm, batch);
    EACH_LINE (set, sets) {
        float sum = 0;
        EACH_PLACE (i, planes)
            sum += of_planes[set_plane(norm, set, i)];
        const float mean = warp_sum(sum) / ((float)planes * (float)norm.places);
        if (threadIdx.x % WARP == 0)
            stats[2 * set + (is_mean ? 0 : 1)] = is_mean ? mean : 1 / sqrtf(mean + NORM_EPSILON);
    }
}

cudaError_t kernel_channel_measure(cudaStream_t stream, struct channel_norm norm, int batch,
                                   const float *x, float *scratch, float *stats)
{
    const size_t planes = (size_t)batch * (size_t)norm.channels;
    const size_t sets = channel_norm_sets(&norm, batch);
    cudaError_t error =
        launch_lines(stream, planes, plane_sums, (unsigned)norm.places, 1.0f, x, scratch);
    if (error == cudaSuccess)
        error = launch_lines(stream, sets, set_stats, norm, (unsigned)batch, scratch, true, stats);
    if (error == cudaSuccess)
        error = launch_lines(stream, planes, plane_squares, norm, x, stats, scratch);
    if (error == cudaSuccess)
        error = launch_lines(stream, sets, set_stats, norm, (unsigned)batch, scratch, false, stats);
    return error;
}

static __global__ void recall(unsigned channels, const float *mean, const float *variance,
                              float *stats)
{
    EACH (c, channels) {
        stats[2 * c] = mean[c];
        stats[2 * c + 1] = 1 / sqrtf((variance[c] < 0 ? 0 : variance[c]) + NORM_EPSILON);
    }
}

cudaError_t kernel_channel_recall(cudaStream_t stream, struct channel_norm norm, const float *mean,
                                  const float *variance, float *stats)
{
    return launch_each(stream, (size_t)norm.channels, recall, mean, variance, stats);
}

static __global__ void apply(unsigned planes, struct channel_norm norm, const float *x,
                             const float *stats, const float *w, const float *b,
                             enum activation activation, float *y)
{
    const unsigned places = (unsigned)norm.places, channels = (unsigned)norm.channels;
    EACH_LINE (plane, planes) {
        const float *own = stats + 2 * (size_t)set_of(norm, plane);
        const size_t first = (size_t)plane * places;
        const float mean = own[0], scale = own[1] * w[plane % channels],
                    shift = b[plane % channels];
        EACH_PLACE (place, places)
            y[first + place] = activated(activation, (x[first + place] - mean) * scale + shift);
    }
}

cudaError_t kernel_channel_apply(cudaStream_t stream, struct channel_norm norm, int batch,
                                 const float *x, const float *stats, const float *w, const float *b,
                                 enum activation activation, float *y)
{
    return launch_lines(stream, (size_t)batch * (size_t)norm.channels, apply, norm, x, stats, w, b,
                        activation, y);
}

/* Overwrites dy with s, the gradient at the activation's input. Computes the sums of s and of s·n
 * for each plane, where n is the normalised input. */
static __global__ void plane_gradients(unsigned planes, struct channel_norm norm,
                                       enum activation activation,
                                       struct channel_gradients gradients)
{
    const unsigned places = (unsigned)norm.places;
    EACH_LINE (plane, planes) {
        const float *own = gradients.stats + 2 * (size_t)set_of(norm, plane);
        const size_t first = (size_t)plane * places;
        const float mean = own[0], scale = own[1];
        float sum = 0, along = 0;
        EACH_PLACE (place, places) {
            const size_t at = first + place;
            const float output = activation == LINEAR ? 0 : gradients.y[at];
            const float gradient = gradient_before(activation, output, gradients.dy[at]);
            gradients.dy[at] = gradient;
            sum += gradient;
            along += gradient * ((gradients.x[at] - mean) * scale);
        }
        sum = warp_sum(sum);
        along = warp_sum(along);
        if (threadIdx.x % WARP == 0) {
            gradients.plane_sums[2 * (size_t)plane] = sum;
            gradients.plane_sums[2 * (size_t)plane + 1] = along;
        }
    }
}

/* Computes the means of w·s and of w·s·n for each set, for input_gradients. */
static __global__ void set_gradients(unsigned sets, struct channel_norm norm, unsigned batch,
                                     struct channel_gradients gradients)
{
    const unsigned planes = set_planes(norm, batch);
    EACH_LINE (set, sets) {
        float sum = 0, along = 0;
        EACH_PLACE (i, planes) {
            const unsigned plane = set_plane(norm, set, i);
            const float w = gradients.w[plane % (unsigned)norm.channels];
            sum += w * gradients.plane_sums[2 * (size_t)plane];
            along += w * gradients.plane_sums[2 * (size_t)plane + 1];
        }
        sum = warp_sum(sum);
        along = warp_sum(along);
        if (threadIdx.x % WARP == 0) {
            const float count = (float)planes * (float)norm.places;
            gradients.set_sums[2 * (size_t)set] = sum / count;
            gradients.set_sums[2 * (size_t)set + 1] = along / count;
        }
    }
}

/* Sums s and s·n of each channel, for db and dw. */
static __global__ void channel_gradients(unsigned channels, unsigned batch, const float *plane_sums,
                                         float *dw, float *db)
{
    EACH_LINE (channel, channels) {
        float sum = 0, along = 0;
        EACH_PLACE (i, batch) {
            const size_t plane = (size_t)i * channels + channel;
            sum += plane_sums[2 * plane];
            along += plane_sums[2 * plane + 1];
        }
        sum = warp_sum(sum);
        along = warp_sum(along);
        if (threadIdx.x % WARP == 0) {
            db[channel] = sum;
            dw[channel] = along;
        }
    }
}

static __global__ void input_gradients(unsigned planes, struct channel_norm norm,
                                       struct channel_gradients gradients, float *dx)
{
    const unsigned places = (unsigned)norm.places;
    EACH_LINE (plane, planes) {
        const size_t set = set_of(norm, plane), first = (size_t)plane * places;
        const float mean = gradients.stats[2 * set], scale = gradients.stats[2 * set + 1];
        const float w = gradients.w[plane % (unsigned)norm.channels];
        const float common = gradients.set_sums[2 * set], along = gradients.set_sums[2 * set + 1];
        EACH_PLACE (place, places) {
            const float n = (gradients.x[first + place] - mean) * scale;
            dx[first + place] = scale * (w * gradients.dy[first + place] - common - n * along);
        }
    }
}

cudaError_t kernel_channel_backward(cudaStream_t stream, struct channel_norm norm, int batch,
                                    enum activation activation, struct channel_gradients gradients,
                                    float *dx, float *dw, float *db)
{
    const size_t planes = (size_t)batch * (size_t)norm.channels;
    const size_t sets = channel_norm_sets(&norm, batch);
    cudaError_t error = launch_lines(stream, planes, plane_gradients, norm, activation, gradients);
    if (error == cudaSuccess)
        error = launch_lines(stream, sets, set_gradients, norm, (unsigned)batch, gradients);
    if (error == cudaSuccess)
        error = launch_lines(stream, (size_t)norm.channels, channel_gradients, (unsigned)batch,
                             gradients.plane_sums, dw, db);
    if (error == cudaSuccess && dx != NULL)
        error = launch_lines(stream, planes, input_gradients, norm, gradients, dx);
    return error;
}

static __global__ void drift(unsigned channels, float unbiased, const float *stats,
                             const float *mean, const float *variance, float *dmean,
                             float *dvariance)
{
    EACH (c, channels) {
        const float scale = stats[2 * c + 1], measured = 1 / (scale * scale) - NORM_EPSILON;
        dmean[c] = mean[c] - stats[2 * c];
        dvariance[c] = variance[c] - measured * unbiased;
    }
}

cudaError_t kernel_channel_drift(cudaStream_t stream, struct channel_norm norm, int batch,
                                 const float *stats, const float *mean, const float *variance,
                                 float *dmean, float *dvariance)
{
    const float count = (float)batch * (float)norm.places;
    const float unbiased = count > 1 ? count / (count - 1) : 1;
    return launch_each(stream, (size_t)norm.channels, drift, unbiased, stats, mean, variance, dmean,
                       dvariance);
}

cudaError_t kernel_average(cudaStream_t stream, size_t planes, size_t places, const float *x,
                           float *y)
{
    return launch_lines(stream, planes, plane_sums, (unsigned)places, (float)places, x, y);
}

static __global__ void average_backward(unsigned count, unsigned places, const float *dy, float *dx)
{
    EACH (i, count)
        dx[i] = dy[i / places] / (float)places;
}

cudaError_t kernel_average_backward(cudaStream_t stream, size_t planes, size_t places,
                                    const float *dy, float *dx)
{
    return launch_each(stream, planes * places, average_backward, (unsigned)places, dy, dx);
}
