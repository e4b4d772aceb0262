#include "sweep.h"

#include <string.h>

#include "update.h"

static uint32_t survey_plain(uint32_t count, float step, uint32_t floor_bits, float *w,
                             const int32_t *base, int32_t *since, uint32_t *at, uint32_t *bits)
{
    uint32_t picked = 0;
    for (uint32_t c = 0; c < count; c++) {
        if (base[c] != since[c]) {
            const uint32_t moved = (uint32_t)base[c] - (uint32_t)since[c];
            w[c] += step * (float)(int32_t)moved;
            since[c] = base[c];
        }
        const float r = w[c] - QUANTUM * (float)base[c];
        uint32_t size;
        memcpy(&size, &r, sizeof size);
        size &= INT32_MAX;
        at[picked] = c;
        bits[picked] = size;
        picked += size >= floor_bits;
    }
    return picked;
}

static const struct sweep PLAIN = {"plain C", survey_plain};

#ifdef __x86_64__
#include <immintrin.h>

/* What is left when the vectors are through. */
static uint32_t survey_rest(uint32_t from, uint32_t count, float step, uint32_t floor_bits,
                            float *w, const int32_t *base, int32_t *since, uint32_t *at,
                            uint32_t *bits)
{
    const uint32_t picked =
        survey_plain(count - from, step, floor_bits, w + from, base + from, since + from, at, bits);
    for (uint32_t i = 0; i < picked; i++)
        at[i] += from;
    return picked;
}

__attribute__((target("avx512f"))) static uint32_t
survey_avx512(uint32_t count, float step, uint32_t floor_bits, float *w, const int32_t *base,
              int32_t *since, uint32_t *at, uint32_t *bits)
{
    const __m512 quantum = _mm512_set1_ps(QUANTUM), steps = _mm512_set1_ps(step);
    const __m512i floors = _mm512_set1_epi32((int)floor_bits);
    const __m512i positive = _mm512_set1_epi32(INT32_MAX), lanes = _mm512_set1_epi32(16);
    __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    uint32_t picked = 0, c = 0;
    for (; c + 16 <= count; c += 16) {
        const __m512i b = _mm512_loadu_si512(base + c), s = _mm512_loadu_si512(since + c);
        __m512 x = _mm512_loadu_ps(w + c);
        const __mmask16 moved = _mm512_cmpneq_epi32_mask(b, s);
        if (moved) {
            const __m512 by = _mm512_cvtepi32_ps(_mm512_sub_epi32(b, s));
            x = _mm512_mask_add_ps(x, moved, x, _mm512_mul_ps(steps, by));
            _mm512_storeu_ps(w + c, x);
            _mm512_storeu_si512(since + c, b);
        }
        const __m512 r = _mm512_sub_ps(x, _mm512_mul_ps(quantum, _mm512_cvtepi32_ps(b)));
        const __m512i size = _mm512_and_si512(_mm512_castps_si512(r), positive);
        const __mmask16 large = _mm512_cmpge_epu32_mask(size, floors);
        if (large) {
            _mm512_storeu_si512(at + picked, _mm512_maskz_compress_epi32(large, places));
            _mm512_storeu_si512(bits + picked, _mm512_maskz_compress_epi32(large, size));
            picked += (uint32_t)__builtin_popcount(large);
        }
        places = _mm512_add_epi32(places, lanes);
    }
    return picked +
           survey_rest(c, count, step, floor_bits, w, base, since, at + picked, bits + picked);
}

/* For each bit of the mask that is set, its lane's number; they stand first. */
__attribute__((target("avx2,bmi2"))) static inline __m256i lanes_of(unsigned mask)
{
    const uint64_t spread = _pdep_u64(mask, 0x0101010101010101) * 0xFF;
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)_pext_u64(0x0706050403020100, spread)));
}

__attribute__((target("avx2,bmi2"))) static uint32_t
survey_avx2(uint32_t count, float step, uint32_t floor_bits, float *w, const int32_t *base,
            int32_t *since, uint32_t *at, uint32_t *bits)
{
    const __m256 quantum = _mm256_set1_ps(QUANTUM), steps = _mm256_set1_ps(step);
    const __m256i below = _mm256_set1_epi32((int)floor_bits - 1);
    const __m256i positive = _mm256_set1_epi32(INT32_MAX);
    uint32_t picked = 0, c = 0;
    for (; c + 8 <= count; c += 8) {
        const __m256i b = _mm256_loadu_si256((const __m256i *)(base + c));
        const __m256i s = _mm256_loadu_si256((const __m256i *)(since + c));
        __m256 x = _mm256_loadu_ps(w + c);
        const __m256i same = _mm256_cmpeq_epi32(b, s);
        if (_mm256_movemask_epi8(same) != -1) {
            const __m256 by = _mm256_cvtepi32_ps(_mm256_sub_epi32(b, s));
            const __m256 to = _mm256_add_ps(x, _mm256_mul_ps(steps, by));
            x = _mm256_blendv_ps(to, x, _mm256_castsi256_ps(same));
            _mm256_storeu_ps(w + c, x);
            _mm256_storeu_si256((__m256i *)(since + c), b);
        }
        const __m256 r = _mm256_sub_ps(x, _mm256_mul_ps(quantum, _mm256_cvtepi32_ps(b)));
        const __m256i size = _mm256_and_si256(_mm256_castps_si256(r), positive);
        const __m256i large = _mm256_cmpgt_epi32(size, below);
        const unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(large));
        if (mask) {
            const __m256i lanes = lanes_of(mask);
            const __m256i places = _mm256_add_epi32(lanes, _mm256_set1_epi32((int)c));
            _mm256_storeu_si256((__m256i *)(at + picked), places);
            _mm256_storeu_si256((__m256i *)(bits + picked),
                                _mm256_permutevar8x32_epi32(size, lanes));
            picked += (uint32_t)__builtin_popcount(mask);
        }
    }
    return picked +
           survey_rest(c, count, step, floor_bits, w, base, since, at + picked, bits + picked);
}

static const struct sweep AVX512 = {"AVX-512", survey_avx512};
static const struct sweep AVX2 = {"AVX2", survey_avx2};

const struct sweep *sweep_way(int i)
{
    if (__builtin_cpu_supports("avx512f") && i-- == 0)
        return &AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && i-- == 0)
        return &AVX2;
    return i == 0 ? &PLAIN : NULL;
}
#else
const struct sweep *sweep_way(int i)
{
    return i == 0 ? &PLAIN : NULL;
}
#endif
