#include "backend/cpu/survey_simd.h"

#include "backend/error_feedback.h"

/* Returns the |weight| from which the vector code leaves an entry to plain C. From there on, a
 * weight of a companded base differs from its value; in other bases, its entry may be saturated. */
static float large_from(bool companded)
{
    return companded ? COMPANDING_FROM : VALUE_PUBLISHED_MAX;
}

static uint32_t survey_plain(uint32_t count, uint32_t floor_bits, const float *w,
                             const int32_t *base, bool companded, uint32_t *at, uint32_t *bits)
{
    uint32_t found = 0;
    for (uint32_t c = 0; c < count; c++) {
        const uint32_t size = residual_bits(residual(w[c], base[c], companded), base[c]);
        at[found] = c;
        bits[found] = size;
        found += size >= floor_bits;
    }
    return found;
}

static const struct survey_simd PLAIN = {"plain C", survey_plain};

#if defined __x86_64__ || defined __AARCH64EL__
/* Surveys entries from .. count-1 in plain C: the last ones, which are too few for a vector, and
 * vectors with a weight that is large or NaN. */
static uint32_t survey_rest(uint32_t from, uint32_t count, uint32_t floor_bits, const float *w,
                            const int32_t *base, bool companded, uint32_t *at, uint32_t *bits)
{
    const uint32_t found =
        survey_plain(count - from, floor_bits, w + from, base + from, companded, at, bits);
    for (uint32_t i = 0; i < found; i++)
        at[i] += from;
    return found;
}
#endif

#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx512f"))) static uint32_t
survey_avx512(uint32_t count, uint32_t floor_bits, const float *w, const int32_t *base,
              bool companded, uint32_t *at, uint32_t *bits)
{
    const __m512 quantum = _mm512_set1_ps(QUANTUM);
    const __m512i floors = _mm512_set1_epi32((int)floor_bits);
    const __m512i positive = _mm512_set1_epi32(INT32_MAX), lanes = _mm512_set1_epi32(16);
    __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512 limit = _mm512_set1_ps(large_from(companded));
    uint32_t found = 0, c = 0;
    for (; c + 16 <= count; c += 16) {
        const __m512 weight = _mm512_loadu_ps(w + c);
        if (_mm512_cmp_ps_mask(_mm512_abs_ps(weight), limit, _CMP_NLT_UQ)) {
            found +=
                survey_rest(c, c + 16, floor_bits, w, base, companded, at + found, bits + found);
            places = _mm512_add_epi32(places, lanes);
            continue;
        }
        const __m512 b = _mm512_cvtepi32_ps(_mm512_loadu_si512(base + c));
        const __m512 r = _mm512_sub_ps(weight, _mm512_mul_ps(quantum, b));
        const __m512i size = _mm512_and_si512(_mm512_castps_si512(r), positive);
        const __mmask16 large = _mm512_cmpge_epu32_mask(size, floors);
        if (large) {
            _mm512_storeu_si512(at + found, _mm512_maskz_compress_epi32(large, places));
            _mm512_storeu_si512(bits + found, _mm512_maskz_compress_epi32(large, size));
            found += (uint32_t)__builtin_popcount(large);
        }
        places = _mm512_add_epi32(places, lanes);
    }
    return found + survey_rest(c, count, floor_bits, w, base, companded, at + found, bits + found);
}

/* Returns the indices of the bits that are set in the mask: one index per lane, in ascending
 * order. */
__attribute__((target("avx2,bmi2"))) static inline __m256i lanes_of(unsigned mask)
{
    const uint64_t spread = _pdep_u64(mask, 0x0101010101010101) * 0xFF;
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)_pext_u64(0x0706050403020100, spread)));
}

__attribute__((target("avx2,bmi2"))) static uint32_t
survey_avx2(uint32_t count, uint32_t floor_bits, const float *w, const int32_t *base,
            bool companded, uint32_t *at, uint32_t *bits)
{
    const __m256 quantum = _mm256_set1_ps(QUANTUM);
    const __m256i below = _mm256_set1_epi32((int)floor_bits - 1);
    const __m256i positive = _mm256_set1_epi32(INT32_MAX);
    const __m256 limit = _mm256_set1_ps(large_from(companded));
    uint32_t found = 0, c = 0;
    for (; c + 8 <= count; c += 8) {
        const __m256 weight = _mm256_loadu_ps(w + c);
        const __m256 absolute = _mm256_and_ps(weight, _mm256_castsi256_ps(positive));
        if (_mm256_movemask_ps(_mm256_cmp_ps(absolute, limit, _CMP_NLT_UQ))) {
            found +=
                survey_rest(c, c + 8, floor_bits, w, base, companded, at + found, bits + found);
            continue;
        }
        const __m256 b = _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)(base + c)));
        const __m256 r = _mm256_sub_ps(weight, _mm256_mul_ps(quantum, b));
        const __m256i size = _mm256_and_si256(_mm256_castps_si256(r), positive);
        const __m256i large = _mm256_cmpgt_epi32(size, below);
        const unsigned mask = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(large));
        if (mask) {
            const __m256i lanes = lanes_of(mask);
            const __m256i places = _mm256_add_epi32(lanes, _mm256_set1_epi32((int)c));
            _mm256_storeu_si256((__m256i *)(at + found), places);
            _mm256_storeu_si256((__m256i *)(bits + found),
                                _mm256_permutevar8x32_epi32(size, lanes));
            found += (uint32_t)__builtin_popcount(mask);
        }
    }
    return found + survey_rest(c, count, floor_bits, w, base, companded, at + found, bits + found);
}

static const struct survey_simd AVX512 = {"AVX-512", survey_avx512};
static const struct survey_simd AVX2 = {"AVX2", survey_avx2};

const struct survey_simd *survey_simd_way(int i)
{
    if (__builtin_cpu_supports("avx512f") && i-- == 0)
        return &AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && i-- == 0)
        return &AVX2;
    return i == 0 ? &PLAIN : NULL;
}
#elif defined __AARCH64EL__
#include <arm_neon.h>

/* Returns the indices of the bits that are set in the mask: one index per lane, in ascending
 * order. */
static inline uint32x4_t lanes_of(uint32_t mask)
{
    static const uint32_t first[16] = {0,      0,        1,        0x0100,    2,      0x0200,
                                       0x0201, 0x020100, 3,        0x0300,    0x0301, 0x030100,
                                       0x0302, 0x030200, 0x030201, 0x03020100};
    return vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(first[mask]))));
}

/* Returns the vector from[lanes[0]], from[lanes[1]], from[lanes[2]], from[lanes[3]]. */
static inline uint32x4_t lanes_take(uint32x4_t from, uint32x4_t lanes)
{
    const uint32x4_t bytes = vmlaq_n_u32(vdupq_n_u32(0x03020100), lanes, 0x04040404);
    return vreinterpretq_u32_u8(
        vqtbl1q_u8(vreinterpretq_u8_u32(from), vreinterpretq_u8_u32(bytes)));
}

static uint32_t survey_neon(uint32_t count, uint32_t floor_bits, const float *w,
                            const int32_t *base, bool companded, uint32_t *at, uint32_t *bits)
{
    const uint32x4_t floors = vdupq_n_u32(floor_bits), positive = vdupq_n_u32(INT32_MAX);
    const uint32x4_t one_bit_each = {1, 2, 4, 8};
    const float32x4_t limit = vdupq_n_f32(large_from(companded));
    uint32_t found = 0, c = 0;
    for (; c + 4 <= count; c += 4) {
        const float32x4_t weight = vld1q_f32(w + c);
        if (vminvq_u32(vcltq_f32(vabsq_f32(weight), limit)) == 0) {
            found +=
                survey_rest(c, c + 4, floor_bits, w, base, companded, at + found, bits + found);
            continue;
        }
        const float32x4_t b = vcvtq_f32_s32(vld1q_s32(base + c));
        const float32x4_t r = vsubq_f32(weight, vmulq_n_f32(b, QUANTUM));
        const uint32x4_t size = vandq_u32(vreinterpretq_u32_f32(r), positive);
        const uint32x4_t large = vcgeq_u32(size, floors);
        const uint32_t mask = vaddvq_u32(vandq_u32(large, one_bit_each));
        if (mask) {
            const uint32x4_t lanes = lanes_of(mask);
            vst1q_u32(at + found, vaddq_u32(lanes, vdupq_n_u32(c)));
            vst1q_u32(bits + found, lanes_take(size, lanes));
            found += (uint32_t)__builtin_popcount(mask);
        }
    }
    return found + survey_rest(c, count, floor_bits, w, base, companded, at + found, bits + found);
}

static const struct survey_simd NEON = {"NEON", survey_neon};

const struct survey_simd *survey_simd_way(int i)
{
    return i == 0 ? &NEON : i == 1 ? &PLAIN : NULL;
}
#else
const struct survey_simd *survey_simd_way(int i)
{
    return i == 0 ? &PLAIN : NULL;
}
#endif
