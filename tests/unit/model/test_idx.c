/* IDX images with channels, which have an additional dimension. test_dataset.c tests images without
 * channels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "data/idx.h"

#define COUNT    5
#define CHANNELS 3
#define HEIGHT   2
#define WIDTH    4
#define SIZE     (CHANNELS * HEIGHT * WIDTH)
#define NAME     "train-images-idx4-ubyte"
#define LABELS   "train-labels-idx1-ubyte"

struct bytes {
    size_t count;
    uint8_t at[1024];
};

static char folder[64];

static const char *path_of(const char *name)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%.60s/%.60s", folder, name);
    return path;
}

static int begin(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/hearsay-idx-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    static const char *const names[] = {NAME, LABELS, "train-images-idx3-ubyte"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(path_of(names[i]));
    return rmdir(folder);
}

static void write_file(const char *name, const struct bytes *bytes, size_t count)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->at, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static struct bytes header_of(uint8_t dimensions, const uint32_t *sizes)
{
    struct bytes bytes = {.count = 4, .at = {0, 0, 8, dimensions}};
    for (int i = 0; i < dimensions; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes.at[bytes.count++] = (uint8_t)(sizes[i] >> shift);
    return bytes;
}

static uint8_t pixel_of(uint32_t i, uint32_t at)
{
    return (uint8_t)(17 * i + 5 * at);
}

static struct bytes images(void)
{
    struct bytes bytes = header_of(4, (uint32_t[]){COUNT, CHANNELS, HEIGHT, WIDTH});
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t at = 0; at < SIZE; at++)
            bytes.at[bytes.count++] = pixel_of(i, at);
    return bytes;
}

static enum error open_and_read(struct problem *problem)
{
    struct idx idx;
    uint8_t item[SIZE];
    enum error error = idx_open(&idx, folder, "train", IDX_IMAGES, problem);
    if (error != OK)
        return error;
    while (error == OK && idx.at < idx.count)
        error = idx_next(&idx, item, problem);
    if (error == OK)
        error = idx_end(&idx, problem);
    idx_close(&idx);
    return error;
}

static void channels_come_one_after_the_other(void **state)
{
    (void)state;
    const struct bytes bytes = images();
    struct bytes labels = header_of(1, (uint32_t[]){COUNT});
    for (uint32_t i = 0; i < COUNT; i++)
        labels.at[labels.count++] = (uint8_t)(i % 3);
    write_file(NAME, &bytes, bytes.count);
    write_file(LABELS, &labels, labels.count);
    const struct dataset_options options = {
        .source = DATASET_IDX, .directory = folder, .shards = 1};
    struct dataset dataset;
    struct problem problem;
    if (dataset_load_train(&dataset, &options, &problem) != OK)
        fail_msg("%s", problem.text);
    assert_int_equal(dataset.count, COUNT);
    assert_int_equal(dataset.classes, 3);
    assert_int_equal(dataset.shape.channels, CHANNELS);
    assert_int_equal(dataset.shape.height, HEIGHT);
    assert_int_equal(dataset.shape.width, WIDTH);
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t at = 0; at < SIZE; at++)
            assert_int_equal(dataset.pixels[i * SIZE + at], pixel_of(i, at));
    dataset_free(&dataset);
}

static void every_truncation_is_noticed(void **state)
{
    (void)state;
    const struct bytes bytes = images();
    struct problem problem;
    for (size_t count = 0; count < bytes.count; count++) {
        write_file(NAME, &bytes, count);
        assert_int_equal(open_and_read(&problem), MALFORMED);
        assert_non_null(strstr(problem.text, NAME));
    }
    write_file(NAME, &bytes, bytes.count);
    assert_int_equal(open_and_read(&problem), OK);
    write_file(NAME, &bytes, bytes.count + 1);
    assert_int_equal(open_and_read(&problem), MALFORMED);
}

static void must_refuse(uint8_t dimensions, const uint32_t *sizes, enum error want,
                        const char *words)
{
    struct bytes bytes = header_of(dimensions, sizes);
    struct problem problem;
    write_file(NAME, &bytes, sizeof bytes.at);
    assert_int_equal(open_and_read(&problem), want);
    if (!strstr(problem.text, words))
        fail_msg("\"%s\" does not say \"%s\"", problem.text, words);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    must_refuse(2, (uint32_t[]){2, 3}, MALFORMED, "has 2 dimensions, and images have 3 or");
    must_refuse(5, (uint32_t[]){1, 1, 1, 1, 1}, MALFORMED, "has 5 dimensions");
    must_refuse(0, NULL, MALFORMED, "has 0 dimensions");
    must_refuse(4, (uint32_t[]){1, 0, 2, 2}, TOO_BIG, "images of 0x2x2");
    must_refuse(4, (uint32_t[]){1, 65, 2, 2}, TOO_BIG, "images of 65x2x2");
    must_refuse(4, (uint32_t[]){1, 3, 1025, 2}, TOO_BIG, "images of 3x1025x2");
    must_refuse(4, (uint32_t[]){1, 3, 2, UINT32_MAX}, TOO_BIG, "images of 3x2x4294967295");
    must_refuse(4, (uint32_t[]){0, 3, 2, 2}, MALFORMED, "holds no images");
    must_refuse(4, (uint32_t[]){UINT32_MAX, 64, 1024, 1024}, MALFORMED, "can hold");
}

static void a_missing_file_is_reported_under_both_names(void **state)
{
    (void)state;
    struct idx idx;
    struct problem problem;
    assert_int_equal(idx_open(&idx, folder, "train", IDX_IMAGES, &problem), MISSING);
    assert_non_null(
        strstr(problem.text, "no train-images-idx3-ubyte, nor train-images-idx4-ubyte, plain"));
    assert_int_equal(idx_open(&idx, folder, "t10k", IDX_LABELS, &problem), MISSING);
    assert_non_null(strstr(problem.text, "no t10k-labels-idx1-ubyte, plain or with .gz"));
}

static void only_where_the_package_puts_its_files_it_is_a_remedy(void **state)
{
    (void)state;
    struct problem problem;
    struct idx idx = {.path = "/usr/share/datasets/fashion-mnist/t10k-labels-idx1-ubyte.gz"};
    assert_non_null(strstr(idx_remedy(&idx), "dataset-fashion-mnist"));
    assert_int_equal(idx_open(&idx, folder, "train", IDX_IMAGES, &problem), MISSING);
    assert_null(strstr(idx_remedy(&idx), "dataset-fashion-mnist"));
    assert_null(strstr(problem.text, "dataset-fashion-mnist"));
}

static void prefers_the_file_without_channels(void **state)
{
    (void)state;
    const struct bytes with = images();
    struct bytes without = header_of(3, (uint32_t[]){1, 1, 2});
    without.count += 2;
    struct idx idx;
    struct problem problem;
    write_file(NAME, &with, with.count);
    write_file("train-images-idx3-ubyte", &without, without.count);
    assert_int_equal(idx_open(&idx, folder, "train", IDX_IMAGES, &problem), OK);
    assert_int_equal(idx.shape.channels, 1);
    assert_int_equal(idx.shape.width, 2);
    idx_close(&idx);
}

int main(void)
{
    const struct CMUnitTest stories[] = {
        cmocka_unit_test_setup_teardown(channels_come_one_after_the_other, begin, end),
        cmocka_unit_test_setup_teardown(every_truncation_is_noticed, begin, end),
        cmocka_unit_test_setup_teardown(impossible_sizes_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_missing_file_is_reported_under_both_names, begin, end),
        cmocka_unit_test_setup_teardown(only_where_the_package_puts_its_files_it_is_a_remedy, begin,
                                        end),
        cmocka_unit_test_setup_teardown(prefers_the_file_without_channels, begin, end),
    };
    return cmocka_run_group_tests(stories, NULL, NULL);
}
