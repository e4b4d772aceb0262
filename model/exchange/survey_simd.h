/* The pass over all parameters before a publication, a piece at a time, with the fastest
 * instructions of this processor: AVX-512, AVX2, NEON or plain C.
 *
 *   w, base ─► |residual| >= floor? ─► at[], bits[]        (error_feedback.h)
 *
 * All ways do the same arithmetic in the same order for each entry, so they give the same bits.
 * Held by tests/unit/model/test_survey_simd.c; for NEON on other processors by
 * tests/process/test_sweep_neon.sh. Its speed is that of memory: tests/bench/bench_threshold.c.
 */
#ifndef HEARSAY_MODEL_EXCHANGE_SURVEY_SIMD_H
#define HEARSAY_MODEL_EXCHANGE_SURVEY_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SURVEY_MAX  1024 /* entries at a time: their candidates stay in the nearest cache */
#define SURVEY_ROOM (SURVEY_MAX + 16)

struct survey_simd {
    const char *name; /* name of the instruction set */
    /* Lists each entry whose residual_bits are at least floor_bits: its place in at[SURVEY_ROOM]
     * and those bits in bits[SURVEY_ROOM], in order. What lies behind the listed
     * in both may be overwritten. Returns how many are listed. count <= SURVEY_MAX. */
    uint32_t (*survey)(uint32_t count, uint32_t floor_bits, const float *w, const int32_t *base,
                       bool companded, uint32_t *at, uint32_t *bits);
};

/* The i-th way that this processor supports, the fastest first; the last is plain C. NULL beyond.
 */
const struct survey_simd *survey_simd_way(int i);

#endif
