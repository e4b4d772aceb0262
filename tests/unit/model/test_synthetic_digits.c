#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "data/synthetic_digits.h"

static uint64_t fnv(uint64_t hash, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash;
}

static void the_generated_bytes_are_the_same_everywhere(void **state)
{
    (void)state;
    uint64_t hash = 0xCBF29CE484222325u;
    for (uint32_t i = 0; i < 20; i++) {
        uint8_t pixels[DIGIT_PIXELS];
        const uint8_t label = synthetic_digits_draw(7, DIGITS_TRAIN, i, pixels);
        hash = fnv(fnv(hash, &label, 1), pixels, sizeof pixels);
    }
    if (hash != 0xba41b9bb0374809bu)
        fail_msg("the first 20 samples hash to %016llx", (unsigned long long)hash);
}

static void a_generated_shard_is_that_part_of_the_whole(void **state)
{
    (void)state;
    struct dataset_options options = {
        .source = DATASET_GENERATED, .seed = 3, .train_count = 200, .shards = 1};
    struct dataset whole, shard;
    struct problem problem;
    uint32_t next = 0;
    assert_int_equal(dataset_load_train(&whole, &options, &problem), OK);
    assert_int_equal(whole.count, 200);
    assert_int_equal(whole.classes, 10);
    options.shard = 2;
    options.shards = 4;
    assert_int_equal(dataset_load_train(&shard, &options, &problem), OK);
    assert_int_equal(shard.count, 50);
    for (uint32_t i = 0; i < 200 && next < 50; i++)
        next += memcmp(whole.pixels + i * DIGIT_PIXELS, shard.pixels + next * DIGIT_PIXELS,
                       DIGIT_PIXELS) == 0 &&
                whole.labels[i] == shard.labels[next];
    assert_int_equal(next, 50);
    assert_true(whole.mean == shard.mean && whole.scale == shard.scale);
    dataset_free(&whole);
    dataset_free(&shard);
}

static void generated_samples_differ_by_seed_set_and_number(void **state)
{
    (void)state;
    uint8_t drawn[4][DIGIT_PIXELS];
    (void)synthetic_digits_draw(1, DIGITS_TRAIN, 5, drawn[0]);
    (void)synthetic_digits_draw(1, DIGITS_TEST, 5, drawn[1]);
    (void)synthetic_digits_draw(1, DIGITS_TRAIN, 6, drawn[2]);
    (void)synthetic_digits_draw(2, DIGITS_TRAIN, 5, drawn[3]);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(drawn[i], drawn[j], DIGIT_PIXELS);
}

static void the_ten_digits_are_equally_frequent(void **state)
{
    (void)state;
    uint32_t frequency[DIGIT_CLASSES] = {0};
    uint8_t pixels[DIGIT_PIXELS];
    for (uint32_t i = 0; i < 2000; i++)
        frequency[synthetic_digits_draw(1, DIGITS_TEST, i, pixels)]++;
    for (size_t i = 0; i < DIGIT_CLASSES; i++)
        assert_in_range(frequency[i], 150, 250);
}

static void the_statistics_are_those_of_the_first_thousand(void **state)
{
    (void)state;
    struct dataset sets[2];
    struct problem problem;
    for (uint32_t i = 0; i < 2; i++) {
        const struct dataset_options options = {
            .source = DATASET_GENERATED, .train_count = DATASET_TALLIED + 50 * i, .shards = 1};
        assert_int_equal(dataset_load_train(&sets[i], &options, &problem), OK);
    }
    double sum = 0;
    for (size_t i = 0; i < (size_t)DATASET_TALLIED * DIGIT_PIXELS; i++)
        sum += sets[1].pixels[i];
    assert_float_equal(sets[1].mean, sum / DATASET_TALLIED / DIGIT_PIXELS, 1e-4);
    assert_true(sets[0].mean == sets[1].mean && sets[0].scale == sets[1].scale);
    dataset_free(&sets[0]);
    dataset_free(&sets[1]);
}

static void the_generated_test_set_is_not_the_training_set(void **state)
{
    (void)state;
    const struct dataset_options options = {
        .source = DATASET_GENERATED, .train_count = 60, .test_count = 40, .shards = 1};
    struct dataset train, test;
    struct problem problem;
    assert_int_equal(dataset_load_train(&train, &options, &problem), OK);
    assert_int_equal(dataset_load_test(&test, &options, &problem), OK);
    assert_int_equal(test.count, 40);
    for (size_t i = 0; i < test.count; i++)
        for (size_t j = 0; j < train.count; j++)
            assert_memory_not_equal(test.pixels + i * DIGIT_PIXELS, train.pixels + j * DIGIT_PIXELS,
                                    DIGIT_PIXELS);
    dataset_free(&train);
    dataset_free(&test);
}

static void an_empty_generated_set_is_refused(void **state)
{
    (void)state;
    const struct dataset_options options = {
        .source = DATASET_GENERATED, .train_count = 0, .test_count = 0, .shards = 1};
    struct dataset dataset;
    struct problem problem;
    assert_int_equal(dataset_load_train(&dataset, &options, &problem), MISMATCH);
    assert_int_equal(dataset_load_test(&dataset, &options, &problem), MISMATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generated_bytes_are_the_same_everywhere),
        cmocka_unit_test(a_generated_shard_is_that_part_of_the_whole),
        cmocka_unit_test(generated_samples_differ_by_seed_set_and_number),
        cmocka_unit_test(the_ten_digits_are_equally_frequent),
        cmocka_unit_test(the_statistics_are_those_of_the_first_thousand),
        cmocka_unit_test(the_generated_test_set_is_not_the_training_set),
        cmocka_unit_test(an_empty_generated_set_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
