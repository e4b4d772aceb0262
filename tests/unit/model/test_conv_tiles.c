/* Sums of convolutions on the CPU, for each vector width of this processor, compared with naive
 * sums. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cpu/cpu_conv_tiles.h"
#include "base/rng.h"

#define FILTERS 9
#define TAPS    31
#define PITCH   1040 /* floats of a plane, including those read behind its end */
#define BEFORE  64   /* floats read before the beginning of a plane */

static float in[3 * PITCH], out[8 * PITCH], before[8 * PITCH], dy[FILTERS * PITCH];
static float w[TAPS * 8], dw[FILTERS * TAPS];
static ptrdiff_t offset[TAPS + CONV_EXTRA];

static const struct conv_places all_places[] = {
    {1, 1, 1}, {1, 40, 40}, {1, 400, 387}, {3, 64, 49}, {3, 144, 97}, {2, 256, 222}, {7, 80, 64},
};
#define PLACES (sizeof all_places / sizeof all_places[0])

static void fill(struct rng *rng, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)(2 * rng_uniform(rng) - 1);
}

static struct conv_taps begin(int taps)
{
    struct rng rng = rng_new(3, (uint64_t)taps);
    fill(&rng, in, sizeof in / sizeof *in);
    fill(&rng, out, sizeof out / sizeof *out);
    fill(&rng, dy, sizeof dy / sizeof *dy);
    fill(&rng, w, sizeof w / sizeof *w);
    fill(&rng, dw, sizeof dw / sizeof *dw);
    for (int t = 0; t < taps + CONV_EXTRA; t++)
        offset[t] = t < taps ? (ptrdiff_t)rng_below(&rng, 2 * PITCH) - 40 : offset[taps - 1];
    return (struct conv_taps){taps, offset};
}

static int rounded(int count)
{
    return (count + CONV_LANES - 1) / CONV_LANES * CONV_LANES;
}

static int end_of_last(struct conv_places places)
{
    return (places.images - 1) * places.area + rounded(places.count);
}

static void check_sum(const struct conv_tiles *tiles, int rows, struct conv_places places,
                      int count, bool adds)
{
    const struct conv_taps taps = begin(count);
    memcpy(before, out, sizeof out);
    tiles->sum(rows, places, taps, w, in + BEFORE, out, PITCH, adds);
    for (int row = 0; row < rows; row++) {
        for (int i = 0; i < places.images * places.count; i++) {
            const int place = i / places.count * places.area + i % places.count;
            double want = adds ? (double)before[row * PITCH + place] : 0;
            for (int t = 0; t < count; t++)
                want += (double)w[t * rows + row] * (double)in[BEFORE + place + offset[t]];
            if (!(fabs((double)out[row * PITCH + place] - want) < 1e-5))
                fail_msg("%s, %d rows, place %d: %g, not %g", tiles->name, rows, place,
                         (double)out[row * PITCH + place], want);
        }
        for (int place = end_of_last(places); place < PITCH; place++)
            assert_true(out[row * PITCH + place] == before[row * PITCH + place]);
    }
}

static void sums_are_right_in_every_width_at_every_size(void **state)
{
    (void)state;
    const struct conv_tiles *tiles;
    for (int i = 0; (tiles = conv_tiles_nth(i)); i++)
        for (int rows = 1; rows <= tiles->rows_max; rows *= 2)
            for (size_t p = 0; p < PLACES; p++)
                for (int taps = 1; taps <= TAPS; taps += 10)
                    check_sum(tiles, rows, all_places[p], taps, taps % 4 == 3);
}

/* Compares only positions of images. `sum` also writes behind an image, where values do not matter.
 */
static void two_partial_products_add_up(void **state)
{
    (void)state;
    const struct conv_places places = {3, 64, 49};
    const struct conv_tiles *tiles;
    for (int i = 0; (tiles = conv_tiles_nth(i)); i++) {
        const struct conv_taps taps = begin(20);
        tiles->sum(4, places, taps, w, in + BEFORE, before, PITCH, false);
        tiles->sum(4, places, (struct conv_taps){12, offset}, w, in + BEFORE, out, PITCH, false);
        tiles->sum(4, places, (struct conv_taps){8, offset + 12}, w + 12 * 4, in + BEFORE, out,
                   PITCH, true);
        for (int at = 0; at < 4 * PITCH; at++)
            if (at % PITCH < 3 * 64 && at % PITCH % 64 < 49)
                assert_true(out[at] == before[at]);
    }
}

static void check_dot(const struct conv_tiles *tiles, int filters, struct conv_places places,
                      int count)
{
    static float was[FILTERS * TAPS];
    const struct conv_taps taps = begin(count);
    for (int f = 0; f < filters; f++)
        for (int i = 0; i < places.images; i++)
            for (int place = places.count; place < rounded(places.count); place++)
                dy[f * PITCH + i * places.area + place] = 0;
    memcpy(was, dw, sizeof was);
    tiles->dot(filters, places, taps, dy, PITCH, in + BEFORE, dw);
    for (int at = 0; at < filters * count; at++) {
        double want = (double)was[at];
        for (int i = 0; i < places.images * places.count; i++) {
            const int place = i / places.count * places.area + i % places.count;
            want += (double)dy[at / count * PITCH + place] *
                    (double)in[BEFORE + place + offset[at % count]];
        }
        if (!(fabs((double)dw[at] - want) < 1e-4))
            fail_msg("%s, %d filters of %d: weight %d: %g, not %g", tiles->name, filters, count, at,
                     (double)dw[at], want);
    }
    for (int at = filters * count; at < FILTERS * TAPS; at++)
        assert_true(dw[at] == was[at]);
}

static void weights_get_right_gradients_in_every_width_at_every_size(void **state)
{
    (void)state;
    const struct conv_tiles *tiles;
    for (int i = 0; (tiles = conv_tiles_nth(i)); i++)
        for (int filters = 1; filters <= FILTERS; filters++)
            for (size_t p = 0; p < PLACES; p++)
                for (int taps = 1; taps <= TAPS; taps += 2)
                    check_dot(tiles, filters, all_places[p], taps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right_in_every_width_at_every_size),
        cmocka_unit_test(two_partial_products_add_up),
        cmocka_unit_test(weights_get_right_gradients_in_every_width_at_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
