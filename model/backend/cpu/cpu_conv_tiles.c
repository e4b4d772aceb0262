#include "backend/cpu/cpu_conv_tiles.h"

#include <stdlib.h>

/* Makes gcc unroll a loop, so that its array of sums stays in registers. clang unrolls by
 * itself. */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 9")
#endif

/* The tiles are compiled for each width of vectors: first for 16 bytes, which any processor has.
 * 64-bit ARM has 32 registers of 16 bytes, so its tiles are larger. */
#define TILE(x)   x##_128
#define TILE_NAME "128-bit"
#define TARGET
#define LANES 4
#ifdef __aarch64__
#define ROWS 8
#else
#define ROWS 4
#endif
#include "backend/cpu/cpu_conv_tiles.inc"
#undef TILE
#undef TILE_NAME
#undef TARGET
#undef LANES
#undef ROWS

#ifdef __x86_64__
#define TILE(x)   x##_256
#define TILE_NAME "AVX2"
#define TARGET    __attribute__((target("avx2,fma")))
#define LANES     8
#define ROWS      4
#include "backend/cpu/cpu_conv_tiles.inc"
#undef TILE
#undef TILE_NAME
#undef TARGET
#undef LANES
#undef ROWS

#define TILE(x)   x##_512
#define TILE_NAME "AVX-512"
#define TARGET    __attribute__((target("avx2,fma,avx512f")))
#define LANES     16
#define ROWS      8
#include "backend/cpu/cpu_conv_tiles.inc"
#endif

const struct conv_tiles *conv_tiles_nth(int i)
{
    const struct conv_tiles *fit[3] = {&tiles_128};
#ifdef __x86_64__
    int count = 1;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        fit[count++] = &tiles_256;
    if (count > 1 && __builtin_cpu_supports("avx512f"))
        fit[count++] = &tiles_512;
#endif
    return i < 3 ? fit[i] : NULL;
}

const struct conv_tiles *conv_tiles(void)
{
    int last = 0;
    while (conv_tiles_nth(last + 1))
        last++;
    return conv_tiles_nth(last);
}
