/* How kernels are launched: blocks of 256 threads, each of which takes every so-manieth element. */
#ifndef HEARSAY_CUDA_EACH_CUH
#define HEARSAY_CUDA_EACH_CUH

#include <cuda_runtime.h>

#define THREADS 256
#define WARP    32
#ifndef BLOCKS_MAX
#define BLOCKS_MAX 4096 /* a few waves on the largest device; the rest is done in turns */
#endif

/* Of all threads in the grid, this one's elements. */
#define EACH(i, count)                                                                             \
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < (count);                       \
         i += gridDim.x * (size_t)THREADS)

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

static inline size_t blocks_for(size_t count)
{
    return (count + THREADS - 1) / THREADS;
}

/* The sum over a block, in thread 0, always added in the same order. All threads must come. */
template <typename Number> static __device__ Number block_sum(Number value, Number *shared)
{
    __syncthreads();
    shared[threadIdx.x] = value;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
    }
    return shared[0];
}

#endif
