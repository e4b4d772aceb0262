/* SparseLoCo's messages: the largest entries of each chunk, two bits each, with error feedback. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/sparse.h"

#define PARAMETERS (3 * SPARSE_CHUNK + 3392)

static void draw(float *values, size_t count, uint64_t seed)
{
    struct rng rng = rng_new(seed, 0);
    for (size_t c = 0; c < count; c++)
        values[c] = (float)(rng_uniform(&rng) + rng_uniform(&rng) + rng_uniform(&rng) - 1.5);
}

static int by_falling_magnitude(const void *a, const void *b)
{
    const float x = fabsf(*(const float *)a), y = fabsf(*(const float *)b);
    return (x < y) - (x > y);
}

static void exactly_the_largest_entries_of_a_chunk_are_kept(void **state)
{
    (void)state;
    float values[SPARSE_CHUNK], sorted[SPARSE_CHUNK], kept[SPARSE_CHUNK];
    const uint32_t sizes[] = {1, 2, 37, SPARSE_CHUNK - 1, SPARSE_CHUNK};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const uint32_t count = sizes[s];
        draw(values, count, s + 1);
        memcpy(sorted, values, count * sizeof *values);
        qsort(sorted, count, sizeof *sorted, by_falling_magnitude);
        for (uint32_t k = 1; k <= count; k = k * 3 < count || k == count ? k * 3 : count) {
            memcpy(kept, values, count * sizeof *values);
            sparse_keep_largest(kept, count, k);
            for (uint32_t c = 0; c < count; c++) {
                const bool is_large = fabsf(values[c]) >= fabsf(sorted[k - 1]);
                assert_true(kept[c] == (is_large ? values[c] : 0));
            }
        }
    }
}

static void equal_entries_keep_the_first(void **state)
{
    (void)state;
    float values[] = {1, -2, 2, 1, -2, -1, 2, 1};
    sparse_keep_largest(values, 8, 3);
    assert_memory_equal(values, ((float[]){0, -2, 2, 0, -2, 0, 0, 0}), sizeof values);
    float ones[SPARSE_CHUNK];
    for (uint32_t c = 0; c < SPARSE_CHUNK; c++)
        ones[c] = c % 2 ? 1 : -1;
    sparse_keep_largest(ones, SPARSE_CHUNK, 100);
    for (uint32_t c = 0; c < SPARSE_CHUNK; c++)
        assert_true((ones[c] != 0) == (c < 100));
}

static void every_chunk_sends_at_least_one_entry(void **state)
{
    (void)state;
    assert_int_equal(sparse_kept(SPARSE_CHUNK, 0.03125), 128);
    assert_int_equal(sparse_kept(100, 0.03125), 3);
    assert_int_equal(sparse_kept(10, 0.001), 1);
    assert_int_equal(sparse_kept(10, 1), 10);
}

/* The ten values have a deviation of √(272 / 9) = 5.5, so a bucket is 8.2 wide. */
static void two_bits_are_the_means_of_four_buckets(void **state)
{
    (void)state;
    float values[] = {1, 0, -1, 3, 2, 0, -3, -2, 11, -11, 1, -1};
    sparse_two_bits(values, sizeof values / sizeof values[0]);
    const float expected[] = {0, 0, 0, 0, 0, 0, 0, 0, 11, -11, 0, 0};
    for (size_t c = 0; c < sizeof values / sizeof values[0]; c++)
        assert_true(fabsf(values[c] - expected[c]) < 1e-6f);
    /* deviation √(82 / 5); with the zeros, 2 and 6 would be in one bucket */
    float few[16] = {2, 6, -6, 1, -1, -2};
    sparse_two_bits(few, 16);
    for (size_t c = 0; c < 16; c++)
        assert_true(fabsf(few[c] - (c == 1 ? 6.0f : c == 2 ? -6.0f : 0)) < 1e-6f);
    float drawn[SPARSE_CHUNK], coded[SPARSE_CHUNK], levels[4];
    draw(drawn, SPARSE_CHUNK, 7);
    sparse_keep_largest(drawn, SPARSE_CHUNK, 400);
    memcpy(coded, drawn, sizeof coded);
    sparse_two_bits(coded, SPARSE_CHUNK);
    size_t known = 0;
    double sum = 0, coded_sum = 0;
    for (size_t c = 0; c < SPARSE_CHUNK; c++) {
        size_t at = 0;
        while (coded[c] != 0 && at < known && levels[at] != coded[c])
            at++;
        assert_true(at < 4 && (coded[c] != 0) == (drawn[c] != 0));
        if (coded[c] != 0 && at == known)
            levels[known++] = coded[c];
        sum += drawn[c];
        coded_sum += coded[c];
    }
    assert_true(known > 1 && fabs(sum - coded_sum) < 1e-3);
}

static void entries_without_spread_are_exact(void **state)
{
    (void)state;
    float one[] = {0, 0.25f, 0}, same[] = {-3, -3, 0, -3}, none[] = {0, 0};
    sparse_two_bits(one, 3);
    assert_memory_equal(one, ((float[]){0, 0.25f, 0}), sizeof one);
    sparse_two_bits(same, 4);
    assert_memory_equal(same, ((float[]){-3, -3, 0, -3}), sizeof same);
    sparse_two_bits(none, 2);
    assert_memory_equal(none, ((float[]){0, 0}), sizeof none);
}

/* An experiment for messages only. It has invented updates and no model. */
struct fixture {
    struct scenario *scenario;
    struct experiment experiment;
    float *progress;
};

static void fixture_open(struct fixture *fixture, double part, double decay)
{
    *fixture = (struct fixture){.scenario = calloc(1, sizeof *fixture->scenario),
                                .progress = calloc(PARAMETERS, sizeof(float))};
    assert_true(fixture->scenario && fixture->progress);
    fixture->scenario->made_up = true;
    fixture->scenario->parameters = PARAMETERS;
    fixture->scenario->settings.top_part = part;
    fixture->scenario->settings.error_decay = decay;
    fixture->experiment.scenario = fixture->scenario;
}

static void fixture_close(struct fixture *fixture)
{
    free(fixture->scenario);
    free(fixture->progress);
}

static uint32_t entries_of(const float *message)
{
    uint32_t entries = 0;
    for (size_t c = 0; c < PARAMETERS; c++)
        entries += message[c] != 0;
    return entries;
}

static void a_message_has_14_bits_for_each_kept_entry_of_each_chunk(void **state)
{
    (void)state;
    const uint32_t kept = 3 * 128 + 106;
    struct fixture fixture;
    fixture_open(&fixture, 0.03125, 0.95);
    void *sparse = sparse_compressor.begin(&fixture.experiment, 1);
    assert_int_equal(sparse_compressor.message_bytes(sparse, PARAMETERS), (kept * 14 + 7) / 8);
    draw(fixture.progress, PARAMETERS, 1);
    sparse_compressor.compress(sparse, 0, fixture.progress, PARAMETERS);
    assert_int_equal(entries_of(fixture.progress), kept);
    sparse_compressor.end(sparse);
    fixture_close(&fixture);
    fixture_open(&fixture, 1, 0.95);
    sparse = sparse_compressor.begin(&fixture.experiment, 1);
    assert_int_equal(sparse_compressor.message_bytes(sparse, PARAMETERS),
                     (PARAMETERS * 14 + 7) / 8);
    draw(fixture.progress, PARAMETERS, 1);
    sparse_compressor.compress(sparse, 0, fixture.progress, PARAMETERS);
    assert_int_equal(entries_of(fixture.progress), PARAMETERS);
    sparse_compressor.end(sparse);
    fixture_close(&fixture);
}

/* Without decay, a node's messages add up to its progress once it makes no more. */
static void unsent_entries_are_sent_later(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, 0.1, 1);
    float *first = calloc(PARAMETERS, sizeof *first), *sum = calloc(PARAMETERS, sizeof *sum);
    assert_true(first && sum);
    void *sparse = sparse_compressor.begin(&fixture.experiment, 2);
    draw(first, PARAMETERS, 3);
    double error = INFINITY;
    for (int round = 0; round < 60; round++) {
        memset(fixture.progress, 0, PARAMETERS * sizeof *fixture.progress);
        if (round == 0)
            memcpy(fixture.progress, first, PARAMETERS * sizeof *first);
        sparse_compressor.compress(sparse, 1, fixture.progress, PARAMETERS);
        error = 0;
        for (size_t c = 0; c < PARAMETERS; c++) {
            sum[c] += fixture.progress[c];
            error = fmax(error, fabs((double)sum[c] - first[c]));
        }
        assert_true(round > 0 || error > 0.5);
    }
    assert_true(error < 0.1);
    memset(fixture.progress, 0, PARAMETERS * sizeof *fixture.progress);
    sparse_compressor.compress(sparse, 0, fixture.progress,
                               /* node 0 has no unsent entries; those of the loop above are node 1's
                                */
                               PARAMETERS);
    assert_int_equal(entries_of(fixture.progress), 0);
    sparse_compressor.end(sparse);
    free(first);
    free(sum);
    fixture_close(&fixture);
}

static void unsent_entries_decay(void **state)
{
    (void)state;
    struct fixture kept, decayed;
    fixture_open(&kept, 1, 1);
    fixture_open(&decayed, 1, 0.5);
    void *a = sparse_compressor.begin(&kept.experiment, 1);
    void *b = sparse_compressor.begin(&decayed.experiment, 1);
    draw(kept.progress, PARAMETERS, 5);
    draw(decayed.progress, PARAMETERS, 5);
    sparse_compressor.compress(a, 0, kept.progress, PARAMETERS);
    sparse_compressor.compress(b, 0, decayed.progress, PARAMETERS);
    assert_memory_equal(kept.progress, decayed.progress, PARAMETERS * sizeof *kept.progress);
    memset(kept.progress, 0, PARAMETERS * sizeof *kept.progress);
    memset(decayed.progress, 0, PARAMETERS * sizeof *decayed.progress);
    sparse_compressor.compress(a, 0, kept.progress, PARAMETERS);
    sparse_compressor.compress(b, 0, decayed.progress, PARAMETERS);
    for (size_t c = 0; c < PARAMETERS; c++)
        assert_true(decayed.progress[c] == kept.progress[c] / 2);
    sparse_compressor.end(a);
    sparse_compressor.end(b);
    fixture_close(&kept);
    fixture_close(&decayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_largest_entries_of_a_chunk_are_kept),
        cmocka_unit_test(equal_entries_keep_the_first),
        cmocka_unit_test(every_chunk_sends_at_least_one_entry),
        cmocka_unit_test(two_bits_are_the_means_of_four_buckets),
        cmocka_unit_test(entries_without_spread_are_exact),
        cmocka_unit_test(a_message_has_14_bits_for_each_kept_entry_of_each_chunk),
        cmocka_unit_test(unsent_entries_are_sent_later),
        cmocka_unit_test(unsent_entries_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
