/* The survey: the pass over all parameters that lists large residuals before a publication, with
 * AVX-512, AVX2, NEON or in plain C.
 *
 *   w, base ─► |residual| >= floor? ─► at[], bits[]        (error_feedback.h)
 *
 * All variants do the same arithmetic for each entry, so their results are equal bit for bit. The
 * survey is as fast as memory can be read (tests/bench/bench_threshold.c). Tests:
 * tests/unit/model/test_survey_simd.c; tests/process/test_sweep_neon.sh runs the NEON variant on an
 * emulated processor.
 */
#ifndef HEARSAY_MODEL_BACKEND_CPU_SURVEY_SIMD_H
#define HEARSAY_MODEL_BACKEND_CPU_SURVEY_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest number of entries per call: their candidates fit the L1 cache. */
#define SURVEY_MAX  1024
#define SURVEY_ROOM (SURVEY_MAX + 16)

struct survey_simd {
    const char *name;
    /* Surveys entries 0 .. count-1, count <= SURVEY_MAX. Lists each entry whose residual_bits are
     * at least floor_bits, in order: its index in at[SURVEY_ROOM] and its residual_bits in
     * bits[SURVEY_ROOM]. May overwrite elements behind the listed ones. Returns the number of
     * listed entries. */
    uint32_t (*survey)(uint32_t count, uint32_t floor_bits, const float *w, const int32_t *base,
                       bool companded, uint32_t *at, uint32_t *bits);
};

/* Returns the i-th fastest variant that this processor supports, from 0; NULL = none is left. The
 * last variant is plain C. */
const struct survey_simd *survey_simd_way(int i);

#endif
