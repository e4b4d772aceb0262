/* All implementations of the survey give equal bits, whichever instructions they use. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cpu/survey_simd.h"
#include "backend/error_feedback.h"
#include "base/rng.h"
#include "base/update.h"

struct piece {
    float w[SURVEY_MAX];
    int32_t base[SURVEY_MAX];
    uint32_t at[SURVEY_ROOM], bits[SURVEY_ROOM];
    uint32_t count;
    bool companded;
};

static struct piece start, expected, found;

static float some_float(struct rng *rng)
{
    static const float odd[] = {0, -0.0f, NAN, INFINITY, -INFINITY, 1e-42f, 3e38f, 1, 2, -1000};
    const uint32_t draw = rng_below(rng, 200);
    return draw < 10 ? odd[draw] : (float)(0.01 * (rng_uniform(rng) - 0.5));
}

static void draw_piece(uint64_t seed, bool companded)
{
    struct rng rng = rng_new(seed, 1);
    memset(&start, 0, sizeof start);
    start.companded = companded;
    for (uint32_t c = 0; c < SURVEY_MAX; c++) {
        const uint32_t large = rng_below(&rng, 20); /* the largest base is saturated */
        start.base[c] = (int32_t)(rng_next(&rng) >> (large > 1 ? 40 : large ? 36 : 32));
        if (rng_below(&rng, 10) == 0)
            start.base[c] = 0;
        start.w[c] = some_float(&rng);
        if (start.base[c] != 0) /* an addition would turn -0 into 0 */
            start.w[c] += QUANTUM * (float)start.base[c];
    }
}

static void survey(const struct survey_simd *way, uint32_t count, float floor, struct piece *piece)
{
    uint32_t floor_bits;
    memcpy(&floor_bits, &floor, sizeof floor_bits);
    *piece = start;
    piece->count = way->survey(count, floor_bits, piece->w, piece->base, piece->companded,
                               piece->at, piece->bits);
}

static const struct survey_simd *plain(void)
{
    int i = 0;
    while (survey_simd_way(i + 1))
        i++;
    return survey_simd_way(i);
}

static void must_be_the_same(const struct survey_simd *way, uint32_t count, float floor)
{
    survey(plain(), count, floor, &expected);
    survey(way, count, floor, &found);
    if (memcmp(found.w, expected.w, sizeof found.w) != 0 ||
        memcmp(found.base, expected.base, sizeof found.base) != 0 ||
        found.count != expected.count ||
        memcmp(found.at, expected.at, found.count * sizeof *found.at) != 0 ||
        memcmp(found.bits, expected.bits, found.count * sizeof *found.bits) != 0)
        fail_msg("%s differs from plain C at %u entries, floor %g", way->name, count,
                 (double)floor);
}

static void every_way_gives_the_same_bits(void **state)
{
    (void)state;
    static const float floors[] = {0, 1e-45f, 0.001f, 0.0045f, 1, INFINITY};
    static const uint32_t counts[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 1000, 1023, SURVEY_MAX};
    for (int i = 0; survey_simd_way(i); i++) {
        print_message("%s\n", survey_simd_way(i)->name);
        for (uint64_t seed = 0; seed < 40; seed++) {
            draw_piece(seed, seed % 2);
            for (size_t f = 0; f < sizeof floors / sizeof *floors; f++)
                for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
                    must_be_the_same(survey_simd_way(i), counts[n], floors[f]);
        }
    }
}

/* Checks the plain C version, with which all other versions are compared. */
static void plain_c_selects_by_size(void **state)
{
    (void)state;
    draw_piece(1, false);
    for (uint32_t c = 0; c < SURVEY_MAX; c++) {
        start.base[c] =
            start.base[c] >= PUBLISHED_MAX || start.base[c] <= -PUBLISHED_MAX ? 0 : start.base[c];
        start.w[c] = isnan(start.w[c]) ? 1 : start.w[c];
    }
    survey(plain(), SURVEY_MAX, 0.002f, &found);
    uint32_t at = 0;
    for (uint32_t c = 0; c < SURVEY_MAX; c++) {
        const float r = fabsf(start.w[c] - QUANTUM * (float)start.base[c]);
        if (r < 0.002f)
            continue;
        assert_int_equal(found.at[at], c);
        assert_memory_equal(&found.bits[at++], &r, sizeof r);
    }
    assert_int_equal(found.count, at);
    assert_true(at > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_c_selects_by_size),
        cmocka_unit_test(every_way_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
