#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "data/dataset.h"

#define IMAGES "train-images-idx3-ubyte"
#define LABELS "train-labels-idx1-ubyte"
#define COUNT  10
#define SIZE   6 /* pixels of an image of 2 rows and 3 columns */

struct bytes {
    size_t count;
    uint8_t at[20000];
};

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/hearsay-dataset-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name, const char *suffix)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    return path;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {IMAGES, LABELS, "t10k-images-idx3-ubyte",
                                        "t10k-labels-idx1-ubyte"};
    for (size_t i = 0; i < 4; i++) {
        (void)remove(path_of(names[i], ""));
        (void)remove(path_of(names[i], ".gz"));
    }
    return rmdir(folder);
}

static void write_file(const char *name, const char *suffix, const uint8_t *bytes, size_t count)
{
    FILE *file = fopen(path_of(name, suffix), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void add_big_endian(struct bytes *bytes, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes->at[bytes->count++] = (uint8_t)(number >> shift);
}

/* Makes `count` images. The first pixel is the image's number. All other pixels follow from it. */
static struct bytes images_of(uint32_t count)
{
    struct bytes bytes = {0};
    add_big_endian(&bytes, 0x00000803);
    add_big_endian(&bytes, count);
    add_big_endian(&bytes, 2);
    add_big_endian(&bytes, 3);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t pixel = 0; pixel < SIZE; pixel++)
            bytes.at[bytes.count++] = (uint8_t)(i + 41 * pixel);
    return bytes;
}

static uint8_t label_of(uint32_t i)
{
    return (uint8_t)(i * 7 % 5);
}

static struct bytes labels_of(uint32_t count)
{
    struct bytes bytes = {0};
    add_big_endian(&bytes, 0x00000801);
    add_big_endian(&bytes, count);
    for (uint32_t i = 0; i < count; i++)
        bytes.at[bytes.count++] = label_of(i);
    return bytes;
}

static struct bytes gzip(const struct bytes *plain)
{
    struct bytes packed = {0};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)plain->at,
                       .avail_in = (uInt)plain->count,
                       .next_out = packed.at,
                       .avail_out = sizeof packed.at};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.count = stream.total_out;
    assert_int_equal(deflateEnd(&stream), Z_OK);
    return packed;
}

static void write_train(uint32_t count)
{
    const struct bytes images = images_of(count), labels = labels_of(count);
    write_file(IMAGES, "", images.at, images.count);
    write_file(LABELS, "", labels.at, labels.count);
}

static struct dataset_options all_of_it(void)
{
    return (struct dataset_options){
        .source = DATASET_IDX, .directory = folder, .seed = 3, .train_count = 200, .shards = 1};
}

static enum error load_train(struct dataset *dataset, struct problem *problem)
{
    const struct dataset_options options = all_of_it();
    return dataset_load_train(dataset, &options, problem);
}

static void assert_refused_because(enum error expected, const char *text)
{
    struct dataset untouched = {.count = 77};
    struct problem problem;
    assert_int_equal(load_train(&untouched, &problem), expected);
    assert_int_equal(untouched.count, 77);
    assert_null(untouched.pixels);
    if (!strstr(problem.text, text) || !strstr(problem.text, folder))
        fail_msg("'%s' in '%s' is not in: %s", text, folder, problem.text);
}

static bool is_the_written_set(const struct dataset *dataset)
{
    const struct bytes images = images_of(COUNT);
    if (dataset->count != COUNT || dataset->classes != 5)
        return false;
    for (uint32_t i = 0; i < COUNT; i++)
        if (dataset->labels[i] != label_of(i))
            return false;
    return memcmp(dataset->pixels, images.at + 16, COUNT * SIZE) == 0;
}

static void assert_loads_as_written(void)
{
    struct dataset dataset;
    struct problem problem = {""};
    if (load_train(&dataset, &problem) != OK)
        fail_msg("%s", problem.text);
    assert_true(is_the_written_set(&dataset));
    assert_int_equal(dataset.shape.channels, 1);
    assert_int_equal(dataset.shape.height, 2);
    assert_int_equal(dataset.shape.width, 3);
    dataset_free(&dataset);
}

static void a_plain_set_loads_as_written(void **state)
{
    (void)state;
    write_train(COUNT);
    assert_loads_as_written();
}

static void a_gzipped_set_loads_the_same(void **state)
{
    (void)state;
    const struct bytes images = images_of(COUNT), labels = labels_of(COUNT);
    const struct bytes packed_images = gzip(&images), packed_labels = gzip(&labels);
    write_file(IMAGES, ".gz", packed_images.at, packed_images.count);
    write_file(LABELS, ".gz", packed_labels.at, packed_labels.count);
    assert_loads_as_written();
}

static void refuse_truncations(const char *name, const char *suffix, const struct bytes *whole)
{
    write_train(COUNT);
    (void)remove(path_of(name, ""));
    for (size_t length = 0; length < whole->count; length++) {
        write_file(name, suffix, whole->at, length);
        assert_refused_because(MALFORMED, "download it again");
    }
    write_file(name, suffix, whole->at, whole->count);
    assert_loads_as_written();
}

static void every_truncation_of_a_plain_file_is_refused(void **state)
{
    (void)state;
    const struct bytes images = images_of(COUNT), labels = labels_of(COUNT);
    refuse_truncations(IMAGES, "", &images);
    refuse_truncations(LABELS, "", &labels);
    write_file(IMAGES, "", images.at, 16 + 4 * SIZE + 1);
    assert_refused_because(MALFORMED, IMAGES ": ends after 4 of 10 images");
}

static void every_truncation_of_a_gzip_file_is_refused(void **state)
{
    (void)state;
    const struct bytes images = images_of(COUNT), labels = labels_of(COUNT);
    const struct bytes packed_images = gzip(&images), packed_labels = gzip(&labels);
    refuse_truncations(IMAGES, ".gz", &packed_images);
    (void)remove(path_of(IMAGES, ".gz"));
    refuse_truncations(LABELS, ".gz", &packed_labels);
}

static void rejects_bytes_after_the_last_item(void **state)
{
    (void)state;
    write_train(COUNT);
    struct bytes images = images_of(COUNT), labels = labels_of(COUNT);
    labels.at[labels.count++] = 0;
    write_file(LABELS, "", labels.at, labels.count);
    assert_refused_because(MALFORMED, LABELS ": goes on after its 10 labels");
    write_train(COUNT);
    images.at[images.count++] = 0;
    const struct bytes packed = gzip(&images);
    (void)remove(path_of(IMAGES, ""));
    write_file(IMAGES, ".gz", packed.at, packed.count);
    assert_refused_because(MALFORMED, IMAGES ".gz: goes on after its 10 images");
}

/* The gzip header has ten bytes with a time and other unimportant values. The last byte of the
 * compressed data may have unused bits. Every other flipped bit must be noticed. */
static void a_damaged_gzip_file_never_gives_other_samples(void **state)
{
    (void)state;
    write_train(COUNT);
    (void)remove(path_of(IMAGES, ""));
    const struct bytes images = images_of(COUNT);
    const struct bytes whole = gzip(&images);
    size_t accepted_behind_header = 0;
    for (size_t bit = 0; bit < 8 * whole.count; bit++) {
        struct bytes damaged = whole;
        struct dataset dataset;
        struct problem problem;
        damaged.at[bit / 8] ^= (uint8_t)(1u << bit % 8);
        write_file(IMAGES, ".gz", damaged.at, damaged.count);
        if (load_train(&dataset, &problem) != OK)
            continue;
        assert_true(is_the_written_set(&dataset));
        dataset_free(&dataset);
        accepted_behind_header += bit >= 80;
    }
    assert_in_range(accepted_behind_header, 0, 7);
}

/* Adds a file name to the gzip header, so that the checksum begins at byte `to`. */
static void move_checksum(struct bytes *packed, size_t to)
{
    const size_t name_bytes = to - (packed->count - 8);
    memmove(packed->at + 10 + name_bytes, packed->at + 10, packed->count - 10);
    memset(packed->at + 10, 'n', name_bytes - 1);
    packed->at[10 + name_bytes - 1] = 0;
    packed->at[3] |= 8; /* flag FNAME, RFC 1952 */
    packed->count += name_bytes;
}

static void refuse_wrong_checksum(uint32_t count, struct bytes packed)
{
    struct dataset dataset;
    struct problem problem;
    write_train(count);
    (void)remove(path_of(IMAGES, ""));
    write_file(IMAGES, ".gz", packed.at, packed.count);
    assert_int_equal(load_train(&dataset, &problem), OK);
    dataset_free(&dataset);
    packed.at[packed.count - 8] ^= 1;
    write_file(IMAGES, ".gz", packed.at, packed.count);
    assert_refused_because(MALFORMED, "is damaged: its compressed data or their checksum");
}

/* zlib reads 8 KiB and writes 16 KiB at a time, so it usually reaches the checksum by itself. In
 * the second file both blocks end just before the checksum. Only the read after the last item then
 * reaches it. */
static void a_wrong_checksum_is_called_damage(void **state)
{
    (void)state;
    const uint32_t count = (16384 - 16) / SIZE;
    const struct bytes few = images_of(COUNT), many = images_of(count);
    struct bytes packed = gzip(&many);
    refuse_wrong_checksum(COUNT, gzip(&few));
    move_checksum(&packed, 8192);
    refuse_wrong_checksum(count, packed);
}

static void a_wrong_header_is_refused_with_its_reason(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t value;
        enum error error;
        const char *reason;
    } wrongs[] = {
        {0, 1, MALFORMED, "is not an IDX file"},
        {1, 1, MALFORMED, "is not an IDX file"},
        {2, 0x0D, MALFORMED, "IDX type 0x0d"},
        {3, 1, MALFORMED, "has 1 dimensions, and images have 3"},
        {7, 0, MALFORMED, "holds no images"},
        {4, 0xFF, MALFORMED, "more than its 76 bytes can hold"},
        {8, 0x80, TOO_BIG, "1x1x1 to 64x1024x1024"},
        {11, 0, TOO_BIG, "images of 1x0x3"},
        {14, 5, TOO_BIG, "images of 1x2x1283"},
        {15, 0, TOO_BIG, "images of 1x2x0"},
        {15, 4, MALFORMED, "ends after 7 of 10"},
        {15, 2, MALFORMED, "goes on after"},
        {7, 9, MALFORMED, "holds 9 images for the 10 labels"},
        {7, 11, MALFORMED, "holds 11 images for the 10 labels"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct bytes images = images_of(COUNT);
        write_train(COUNT);
        images.at[wrongs[i].at] = wrongs[i].value;
        write_file(IMAGES, "", images.at, images.count);
        assert_refused_because(wrongs[i].error, wrongs[i].reason);
    }
}

static void names_a_missing_file(void **state)
{
    (void)state;
    assert_refused_because(MISSING, "holds no " IMAGES ", nor");
    write_train(COUNT);
    (void)remove(path_of(LABELS, ""));
    assert_refused_because(MISSING, "holds no " LABELS ",");
    assert_int_equal(mkdir(path_of(LABELS, ""), 0755), 0);
    assert_refused_because(MALFORMED, "is not a file");
    struct dataset_options options = all_of_it();
    struct dataset dataset;
    struct problem problem;
    options.directory = "/nonexistent/digits";
    assert_int_equal(dataset_load_train(&dataset, &options, &problem), MISSING);
    assert_non_null(strstr(problem.text, "/nonexistent/digits: there is no such folder"));
}

static void the_test_set_is_whole_and_has_no_statistics(void **state)
{
    (void)state;
    const struct bytes images = images_of(4), labels = labels_of(4);
    write_file("t10k-images-idx3-ubyte", "", images.at, images.count);
    write_file("t10k-labels-idx1-ubyte", "", labels.at, labels.count);
    struct dataset_options options = all_of_it();
    struct dataset dataset;
    struct problem problem;
    options.shard = 1;
    options.shards = 4;
    assert_int_equal(dataset_load_test(&dataset, &options, &problem), OK);
    assert_int_equal(dataset.count, 4);
    assert_int_equal(dataset.pixels[3 * SIZE], 3);
    assert_true(dataset.mean == 0 && dataset.scale == 0);
    dataset_free(&dataset);
}

/* Marks one shard's samples in `seen`, by the number in their first pixel. */
static uint32_t mark_shard(uint32_t shard, uint32_t shards, uint8_t seen[static 256])
{
    struct dataset_options options = all_of_it();
    struct dataset dataset;
    struct problem problem;
    options.shard = shard;
    options.shards = shards;
    assert_int_equal(dataset_load_train(&dataset, &options, &problem), OK);
    for (uint32_t i = 0; i < dataset.count; i++) {
        const uint8_t number = dataset.pixels[i * SIZE];
        assert_int_equal(dataset.labels[i], label_of(number));
        assert_int_equal(dataset.classes, 5);
        seen[number]++;
    }
    const uint32_t count = dataset.count;
    dataset_free(&dataset);
    return count;
}

static void the_shards_are_disjoint_and_cover_everything(void **state)
{
    (void)state;
    write_train(200);
    for (uint32_t shards = 1; shards <= 200; shards = shards * 3 / 2 + 1) {
        uint8_t seen[256] = {0};
        for (uint32_t shard = 0; shard < shards; shard++)
            assert_in_range(mark_shard(shard, shards, seen), 200 / shards,
                            (200 + shards - 1) / shards);
        for (uint32_t i = 0; i < 200; i++)
            assert_int_equal(seen[i], 1);
    }
}

static void a_shard_is_a_random_part_and_not_a_stretch_of_the_file(void **state)
{
    (void)state;
    uint8_t seen[256] = {0};
    uint32_t in_first_half = 0;
    write_train(200);
    assert_int_equal(mark_shard(0, 2, seen), 100);
    for (uint32_t i = 0; i < 100; i++)
        in_first_half += seen[i];
    assert_in_range(in_first_half, 35, 65);
}

static void every_shard_is_normalised_by_the_whole_set(void **state)
{
    (void)state;
    write_train(200);
    const struct bytes images = images_of(200);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 200 * SIZE; i++)
        sum += images.at[16 + i];
    const double mean = sum / (200 * SIZE);
    for (size_t i = 0; i < 200 * SIZE; i++)
        squares += (images.at[16 + i] - mean) * (images.at[16 + i] - mean);
    for (uint32_t shard = 0; shard < 5; shard++) {
        struct dataset_options options = all_of_it();
        struct dataset dataset;
        struct problem problem;
        options.shard = shard;
        options.shards = 5;
        assert_int_equal(dataset_load_train(&dataset, &options, &problem), OK);
        assert_float_equal(dataset.mean, mean, 1e-4);
        assert_float_equal(1 / (dataset.scale * dataset.scale), squares / (200 * SIZE), 0.1);
        dataset_free(&dataset);
    }
}

static void a_shard_that_does_not_exist_is_refused(void **state)
{
    (void)state;
    static const enum dataset_source sources[] = {DATASET_IDX, DATASET_GENERATED};
    static const uint32_t wrongs[][2] = {{4, 4}, {0, 0}, {0, 201}};
    write_train(200);
    for (size_t i = 0; i < 6; i++) {
        struct dataset_options options = all_of_it();
        struct dataset dataset;
        struct problem problem;
        options.source = sources[i % 2];
        options.shard = wrongs[i / 2][0];
        options.shards = wrongs[i / 2][1];
        assert_int_equal(dataset_load_train(&dataset, &options, &problem), MISMATCH);
    }
}

static void xor_is_its_four_cases_in_every_shard(void **state)
{
    (void)state;
    static const uint8_t pixels[8] = {0, 0, 0, 255, 255, 0, 255, 255};
    static const int32_t labels[4] = {0, 1, 1, 0};
    const struct dataset_options options = {.source = DATASET_XOR, .shard = 6, .shards = 9};
    struct dataset sets[2];
    struct problem problem;
    assert_int_equal(dataset_load_train(&sets[0], &options, &problem), OK);
    assert_int_equal(dataset_load_test(&sets[1], &options, &problem), OK);
    assert_true(sets[0].mean == 127.5f && sets[0].scale == 1 / 127.5f);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sets[i].count, 4);
        assert_int_equal(sets[i].classes, 2);
        assert_int_equal(shape_size(sets[i].shape), 2);
        assert_memory_equal(sets[i].pixels, pixels, sizeof pixels);
        assert_memory_equal(sets[i].labels, labels, sizeof labels);
        dataset_free(&sets[i]);
    }
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_plain_set_loads_as_written),
        IN_FOLDER(a_gzipped_set_loads_the_same),
        IN_FOLDER(every_truncation_of_a_plain_file_is_refused),
        IN_FOLDER(every_truncation_of_a_gzip_file_is_refused),
        IN_FOLDER(rejects_bytes_after_the_last_item),
        IN_FOLDER(a_damaged_gzip_file_never_gives_other_samples),
        IN_FOLDER(a_wrong_checksum_is_called_damage),
        IN_FOLDER(a_wrong_header_is_refused_with_its_reason),
        IN_FOLDER(names_a_missing_file),
        IN_FOLDER(the_test_set_is_whole_and_has_no_statistics),
        IN_FOLDER(the_shards_are_disjoint_and_cover_everything),
        IN_FOLDER(a_shard_is_a_random_part_and_not_a_stretch_of_the_file),
        IN_FOLDER(every_shard_is_normalised_by_the_whole_set),
        IN_FOLDER(a_shard_that_does_not_exist_is_refused),
        cmocka_unit_test(xor_is_its_four_cases_in_every_shard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
