/* Rounding to bfloat16. */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_BF16_CUH
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_BF16_CUH

#include <cstdint>
#include <cuda_runtime.h>

/* Rounds to the nearest, ties to even; a NaN stays one. */
static __device__ uint16_t bf16_of(float value)
{
    const uint32_t bits = __float_as_uint(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return 0x7FC0;
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

#endif
