/* The two instructions of model/backend/cuda/cuda_mma.cuh, computed lane by lane. Each lane
 * publishes its values, and reads from the other lanes what its four sums need. */
#ifndef CUDA_ON_CPU_MMA_CUH
#define CUDA_ON_CPU_MMA_CUH

#include <cuda_runtime.h>

static inline uint32_t stand_in_bf16(float value)
{
    const uint32_t bits = __float_as_uint(value);
    return value != value ? 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

static inline uint32_t bf16_pair(float first, float second)
{
    return stand_in_bf16(first) | stand_in_bf16(second) << 16;
}

/* Returns the low (0) or the high (1) bfloat16 number of a word. */
static inline float stand_in_half(uint32_t pair, unsigned which)
{
    const uint32_t bits = which ? pair & 0xFFFF0000u : pair << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The operands of all lanes of a warp. */
struct stand_in_fragments {
    uint32_t left[32][4], right[32][2];
};

static inline void multiply_onto(float sums[4], const uint32_t left[4], const uint32_t right[2])
{
    static stand_in_fragments of_warp[32];
    const unsigned lane = threadIdx.x % 32, row = lane / 4, column = lane % 4 * 2;
    stand_in_fragments &all = of_warp[threadIdx.x / 32];
    memcpy(all.left[lane], left, sizeof all.left[lane]);
    memcpy(all.right[lane], right, sizeof all.right[lane]);
    (void)stand_in_shuffle(0xFFFFFFFFu, 0, 0); /* until all lanes have published their values */
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 16; k++) {
            const uint32_t a = all.left[row * 4 + k % 8 / 2][i / 2 + k / 8 * 2];
            const uint32_t b = all.right[(column + i % 2) * 4 + k % 8 / 2][k / 8];
            sums[i] += stand_in_half(a, k % 2) * stand_in_half(b, k % 2);
        }
    (void)stand_in_shuffle(0xFFFFFFFFu, 0, 0); /* until all lanes have read the values */
}

#endif
