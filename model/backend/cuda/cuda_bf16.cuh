/* Access of kernels to activations, which are float32 or bfloat16 in memory and float32 in
 * registers.
 *
 *   by_type(x.type, …) ──► kernel<Number> ──fetch──► float ──put──► Number
 *
 * A pack is numbers that a thread reads or writes at once: PACK numbers if all packs are aligned,
 * otherwise one (by_pack).
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_BF16_CUH
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_BF16_CUH

#include <cstdint>
#include <cuda_runtime.h>
#include <type_traits>

#include "backend/numbers.h"

#define PACK 4

struct bf16 {
    uint16_t bits;
};

/* Returns the bits of the value rounded to nearest, ties to even. NaN stays NaN. */
static inline __device__ uint16_t bf16_of(float value)
{
    const uint32_t bits = __float_as_uint(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u)
        return 0x7FC0;
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

static inline __device__ float fetch(const float *from)
{
    return *from;
}

static inline __device__ float fetch(const bf16 *from)
{
    return __uint_as_float((uint32_t)from->bits << 16);
}

static inline __device__ void put(float *to, float value)
{
    *to = value;
}

static inline __device__ void put(bf16 *to, float value)
{
    to->bits = bf16_of(value);
}

/* N adjacent numbers in registers of a thread. */
template <unsigned N> struct pack {
    float at[N];
};

static inline __device__ pack<PACK> fetch_four(const float *from)
{
    const float4 four = *(const float4 *)from;
    return {{four.x, four.y, four.z, four.w}};
}

static inline __device__ pack<PACK> fetch_four(const bf16 *from)
{
    const uint2 words = *(const uint2 *)from;
    return {{__uint_as_float(words.x << 16), __uint_as_float(words.x & 0xFFFF0000u),
             __uint_as_float(words.y << 16), __uint_as_float(words.y & 0xFFFF0000u)}};
}

static inline __device__ void put_four(float *to, const float *four)
{
    *(float4 *)to = {four[0], four[1], four[2], four[3]};
}

static inline __device__ void put_four(bf16 *to, const float *four)
{
    *(uint2 *)to = {bf16_of(four[0]) | (uint32_t)bf16_of(four[1]) << 16,
                    bf16_of(four[2]) | (uint32_t)bf16_of(four[3]) << 16};
}

/* fetch_pack reads pack number i, put_pack writes it. */
template <unsigned N, typename Number>
static inline __device__ pack<N> fetch_pack(const Number *from, size_t i)
{
    if constexpr (N == PACK)
        return fetch_four(from + i * N);
    else
        return {{fetch(from + i)}};
}

template <unsigned N, typename Number>
static inline __device__ void put_pack(Number *to, size_t i, const pack<N> &value)
{
    if constexpr (N == PACK)
        put_four(to + i * N, value.at);
    else
        put(to + i, value.at[0]);
}

/* Calls run(pointer) with a null pointer; its type, bf16 * or float *, tells the type of the
 * numbers. */
template <typename Run> static cudaError_t by_type(enum number type, Run run)
{
    return type == BFLOAT16 ? run((bf16 *)NULL) : run((float *)NULL);
}

static inline bool is_packed(struct numbers numbers)
{
    return (uintptr_t)numbers.at % (PACK * number_bytes(numbers.type)) == 0;
}

/* Calls run(N) with N = PACK if `count` is a multiple of PACK and all vectors are aligned for
 * packs, otherwise with N = 1. */
template <typename Run, typename... Numbers>
static cudaError_t by_pack(size_t count, Run run, Numbers... numbers)
{
    const bool is_whole = count % PACK == 0 && (is_packed(numbers) && ...);
    return is_whole ? run(std::integral_constant<unsigned, PACK>())
                    : run(std::integral_constant<unsigned, 1>());
}

#endif
