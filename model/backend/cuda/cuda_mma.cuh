/* Matrix products of bfloat16 on the tensor cores, by one warp: two instructions and the layouts of
 * their operands (PTX ISA, mma.m16n8k16). With row = l / 4 and pair = l % 4, lane l has:
 *
 *   left[16, 16]    rows `row` and row + 8: first columns 2 pair and 2 pair + 1 of both rows, then
 *                   columns 2 pair + 8 and 2 pair + 9 of both
 *   right[16, 8]    column `row`: rows 2 pair, 2 pair + 1, 2 pair + 8 and 2 pair + 9
 *   sums[16, 8]     rows `row` (two) and row + 8 (two), columns 2 pair, 2 pair + 1
 *
 * A word of an operand has two numbers, the first in its lower half. */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_MMA_CUH
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_MMA_CUH

#include <cstdint>

#include <cuda_runtime.h>

/* Returns a word with both numbers, rounded to nearest, ties to even. */
static __device__ uint32_t bf16_pair(float first, float second)
{
    uint32_t pair = 0;
#if __CUDA_ARCH__ >= 800 /* older devices have no bfloat16 */
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
#endif
    return pair;
}

/* Computes sums += left · right. All threads of the warp must call it. */
static __device__ void multiply_onto(float sums[4], const uint32_t left[4], const uint32_t right[2])
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#endif
}

#endif
