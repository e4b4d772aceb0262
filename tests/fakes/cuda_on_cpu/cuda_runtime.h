/* The language of CUDA kernels, with threads that run one after the other (cuda_runtime_api.h). */
#ifndef CUDA_ON_CPU_RUNTIME_H
#define CUDA_ON_CPU_RUNTIME_H

#include <cmath>
#include <cstring>
#include <functional>

#include "cuda_runtime_api.h"

#define __global__
#define __device__
#define __shared__ static /* only one block runs at a time */
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned width = 1) : x(width), y(1), z(1)
    {
    }
};

struct uchar4 {
    uint8_t x, y, z, w;
};

struct float2 {
    float x, y;
};

static inline float2 make_float2(float x, float y)
{
    return {x, y};
}

struct float4 {
    float x, y, z, w;
};

struct uint2 {
    uint32_t x, y;
};

struct uint4 {
    uint32_t x, y, z, w;
};

extern dim3 gridDim, blockIdx, threadIdx;

void __syncthreads();
uint32_t __ballot_sync(uint32_t mask, bool vote);
uint32_t stand_in_shuffle(uint32_t mask, uint32_t bits, unsigned apart);

static inline float __shfl_xor_sync(uint32_t mask, float value, unsigned apart)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits = stand_in_shuffle(mask, bits, apart);
    memcpy(&value, &bits, sizeof bits);
    return value;
}

static inline uint32_t __shfl_xor_sync(uint32_t mask, uint32_t value, unsigned apart)
{
    return stand_in_shuffle(mask, value, apart);
}

static inline int __popc(uint32_t word)
{
    return __builtin_popcount(word);
}

static inline int __ffs(int word)
{
    return __builtin_ffs(word);
}

static inline uint32_t __float_as_uint(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float __uint_as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t atomicAdd(uint32_t *sum, uint32_t value)
{
    const uint32_t before = *sum;
    *sum += value;
    return before;
}

enum cudaFuncAttribute { cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum { cudaSharedmemCarveoutMaxShared = 100 };
cudaError_t stand_in_kernels();

template <typename Kernel> static cudaError_t cudaFuncSetAttribute(Kernel *, cudaFuncAttribute, int)
{
    return stand_in_kernels();
}

template <typename Kernel>
static cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t)
{
    *blocks = 6;
    return stand_in_kernels();
}

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    cudaStream_t stream;
};

bool stand_in_is_device_memory(const void *memory, size_t bytes);
bool stand_in_is_memory_of(int device, const void *memory, size_t bytes);
int stand_in_device_of(cudaStream_t stream);

/* stand_in_clock_ns returns the nanoseconds that the work of all streams has taken so far. Work
 * takes its real time. A call of stand_in_took within work adds `ns`, which may be negative, to the
 * time of that work. */
double stand_in_clock_ns();
void stand_in_took(double ns);

/* Runs the stream's work until is_so returns true. May be called from another stream's work. */
void stand_in_run_until(cudaStream_t stream, const std::function<bool()> &is_so);

/* Appends work to a stream. The work runs when the host waits for it. If the stream is recording,
 * the work becomes part of its graph. */
cudaError_t stand_in_submit(cudaStream_t stream, std::function<void()> work);
cudaError_t stand_in_launch(const cudaLaunchConfig_t *config, std::function<void()> thread);

template <typename... Parameters, typename... Arguments>
static cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                      void (*kernel)(Parameters...), Arguments... arguments)
{
    return stand_in_launch(config, [=] { kernel(arguments...); });
}

#endif
