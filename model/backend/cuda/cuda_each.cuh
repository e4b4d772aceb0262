/* Division of a kernel's work among threads, in blocks of 256 threads. Each thread processes single
 * elements, or each warp processes lines of elements, both at a fixed stride. Elements are counted
 * in 32 bits: a 64-bit division takes several times as long. launch_each and launch_lines refuse
 * more than INT_MAX. */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_EACH_CUH
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_EACH_CUH

#include <climits>
#include <cuda_runtime.h>

#define THREADS 256
#define WARP    32
#define WARPS   (THREADS / WARP)
#define AT_ONCE 4 /* elements that a thread loads before it uses the first */
#ifndef BLOCKS_MAX
#define BLOCKS_MAX 4096 /* largest number of blocks of a kernel; blocks loop over further work */
#endif

/* Number of blocks of THREADS threads that a multiprocessor can run at once, by compute
 * capability. */
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

/* EACH_LINE loops over the lines that this thread's warp processes. EACH_PLACE loops over the
 * positions of a line that this thread processes. */
#define EACH_LINE(line, lines)                                                                     \
    for (unsigned line = blockIdx.x * WARPS + threadIdx.x / WARP; line < (lines);                  \
         line += gridDim.x * WARPS)
#define EACH_PLACE(place, places)                                                                  \
    for (unsigned place = threadIdx.x % WARP; place < (places); place += WARP)

/* Calls write(i, read(i)) for this thread's elements. AT_ONCE elements are read before the first is
 * written: with few bytes per element, several loads must be in flight to saturate the memory. */
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

/* launch_each starts a kernel with up to one thread per element, launch_lines with up to one warp
 * per line. At most BLOCKS_MAX blocks run, so kernels loop with EACH, each_at_once or EACH_LINE.
 * The first parameter of the kernel is the number of elements or lines. */
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

/* Returns the sum of `value` over the warp to each of its threads. Always adds in the same order.
 * All threads of the warp must call it. */
template <typename Number> static __device__ Number warp_sum(Number value)
{
#pragma unroll
    for (unsigned apart = WARP / 2; apart > 0; apart /= 2)
        value += __shfl_xor_sync(0xFFFFFFFFu, value, apart);
    return value;
}

/* Returns the sum of `value` over the block to each of its threads. Always adds in the same order.
 * All threads of the block must call it. */
template <typename Number> static __device__ Number block_sum(Number value, Number *shared)
{
    __syncthreads(); /* all threads have read the previous sum from `shared` */
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
