/* Division of work among threads: blocks of 256 threads, in which each thread processes elements at
 * a fixed stride, or each warp lines at a fixed stride. Elements are counted in 32 bits: with 64 a
 * division takes several times as long, and no buffer has more than INT32_MAX floats. */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_EACH_CUH
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_EACH_CUH

#include <climits>
#include <cuda_runtime.h>

#define THREADS 256
#define WARP    32
#define WARPS   (THREADS / WARP)
#define AT_ONCE 4 /* elements per thread that are loaded before any is used */
#ifndef BLOCKS_MAX
#define BLOCKS_MAX 4096 /* a few waves on the largest device; blocks loop over the rest */
#endif

/* Blocks of THREADS that one multiprocessor has threads for, by compute capability. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BLOCKS_AT_ONCE 4
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ > 800 &&                                             \
    (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
#define BLOCKS_AT_ONCE 6
#else
#define BLOCKS_AT_ONCE 8
#endif

#define EACH(i, count)                                                                             \
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < (count); i += gridDim.x * THREADS)

/* Iterates over the lines of a warp; the second macro over the positions of a line that belong to
 * this thread. */
#define EACH_LINE(line, lines)                                                                     \
    for (unsigned line = blockIdx.x * WARPS + threadIdx.x / WARP; line < (lines);                  \
         line += gridDim.x * WARPS)
#define EACH_PLACE(place, places)                                                                  \
    for (unsigned place = threadIdx.x % WARP; place < (places); place += WARP)

/* Reads each element's value, then writes it, AT_ONCE of them: with few bytes per element, several
 * loads must be in flight to saturate the memory. */
template <typename Read, typename Write>
static __device__ void each_at_once(unsigned count, Read read, Write write)
{
    for (unsigned first = blockIdx.x * THREADS * AT_ONCE + threadIdx.x; first < count;
         first += gridDim.x * THREADS * AT_ONCE) {
        decltype(read(first)) values[AT_ONCE] = {};
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++) {
            if (first + k * THREADS < count)
                values[k] = read(first + k * THREADS);
        }
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; k++) {
            if (first + k * THREADS < count)
                write(first + k * THREADS, values[k]);
        }
    }
}

template <typename... Parameters, typename... Arguments>
static cudaError_t launch(cudaStream_t stream, size_t blocks, void (*kernel)(Parameters...),
                          Arguments... arguments)
{
    if (blocks == 0)
        return cudaSuccess;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX));
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* Launches a kernel. Its first parameter is the number of elements, or of lines. */
template <typename... Parameters, typename... Arguments>
static cudaError_t launch_each(cudaStream_t stream, size_t count, void (*kernel)(Parameters...),
                               Arguments... arguments)
{
    if (count > INT_MAX)
        return cudaErrorInvalidValue;
    return launch(stream, (count + THREADS - 1) / THREADS, kernel, (unsigned)count, arguments...);
}

template <typename... Parameters, typename... Arguments>
static cudaError_t launch_lines(cudaStream_t stream, size_t lines, void (*kernel)(Parameters...),
                                Arguments... arguments)
{
    if (lines > INT_MAX)
        return cudaErrorInvalidValue;
    return launch(stream, (lines + WARPS - 1) / WARPS, kernel, (unsigned)lines, arguments...);
}

/* Returns the sum over a warp, always added in the same order, to each thread. All threads of the
 * warp must call it. */
template <typename Number> static __device__ Number warp_sum(Number value)
{
#pragma unroll
    for (unsigned apart = WARP / 2; apart > 0; apart /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFu, value, apart);
    return value;
}

/* Returns the sum over a block, always added in the same order. All threads of the block must call
 * it. */
template <typename Number> static __device__ Number block_sum(Number value, Number *shared)
{
    __syncthreads(); /* all threads have read the previous sum */
    shared[threadIdx.x] = value;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    __syncthreads();
    return shared[0];
}

#endif
