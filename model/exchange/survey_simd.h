/* The pass over all parameters before a telling, a piece at a time, by the fastest instructions
 * that this processor has. All ways do the same arithmetic in the same order for each entry, so
 * they give the same bits. Held by tests/unit/model/test_survey_simd.c, for NEON where there is
 * none by tests/process/test_sweep_neon.sh; as fast as memory: tests/bench/bench_threshold.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_SURVEY_SIMD_H
#define HEARSAY_MODEL_EXCHANGE_SURVEY_SIMD_H

#include <stddef.h>
#include <stdint.h>

#define SWEEP_MAX  1024 /* entries at a time, whose picks stay in the nearest cache */
#define SWEEP_ROOM (SWEEP_MAX + 16)

struct survey_simd {
    const char *name;
    /* Where base and since differ: w += step·(base - since), since = base. Then of each entry whose
     * |w - QUANTUM·base|, as float bits, is at least floor_bits: its place in at[SWEEP_ROOM] and
     * those bits in bits[SWEEP_ROOM], in order; behind them both may be written to. Returns how
     * many there are. count <= SWEEP_MAX. */
    uint32_t (*survey)(uint32_t count, float step, uint32_t floor_bits, float *w,
                       const int32_t *base, int32_t *base_at_last_publish, uint32_t *at,
                       uint32_t *bits);
};

/* The i-th way that this processor can go, the fastest first; the last is plain C. NULL beyond. */
const struct survey_simd *survey_simd_way(int i);

#endif
