/* NumPy arrays of any rank, in one file or several, become samples with labels or numeric targets,
 * for training, shards and test. Invalid arrays are rejected with the reason. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "support/model/data_folder.h"

#define COUNT 20
#define SIZE  24 /* numbers of a sample; tests give samples several shapes */

static uint8_t pixels[COUNT][SIZE];
static float numbers[COUNT][SIZE], targets[COUNT][3];
static int64_t labels[COUNT];
static struct data_path x_path, y_path, test_x_path, test_y_path;
static struct dataset_options options;
static struct dataset set;
static struct problem problem;

/* Makes samples whose first number is their index. */
static int arrays_begin(void **state)
{
    if (make_data_folder(state) != 0)
        return -1;
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < SIZE; k++) {
            pixels[i][k] = (uint8_t)(i + 7 * k);
            numbers[i][k] = (float)i + 0.125f * (float)k;
        }
        for (int k = 0; k < 3; k++)
            targets[i][k] = (float)(i * 10 + k);
        labels[i] = i % 7;
    }
    x_path = data_path("x.npy");
    y_path = data_path("y.npy");
    test_x_path = data_path("test_x.npy");
    test_y_path = data_path("test_y.npy");
    options = (struct dataset_options){
        .source = DATASET_NPY, .x = x_path.text, .y = y_path.text, .seed = 5, .shards = 1};
    write_npy("x.npy", "|u1", "(20, 4, 6)", pixels, sizeof pixels);
    write_npy("y.npy", "<i8", "(20,)", labels, sizeof labels);
    return 0;
}

static void must_load(bool train)
{
    const enum error error = train ? dataset_load_train(&set, &options, &problem)
                                   : dataset_load_test(&set, &options, &problem);
    if (error != OK)
        fail_msg("%s", problem.text);
}

static void must_refuse(bool train, const char *words)
{
    struct dataset untouched = {.count = 77};
    const enum error error = train ? dataset_load_train(&untouched, &options, &problem)
                                   : dataset_load_test(&untouched, &options, &problem);
    assert_int_not_equal(error, OK);
    assert_int_equal(untouched.count, 77);
    if (!strstr(problem.text, words))
        fail_msg("\"%s\" does not say \"%s\"", problem.text, words);
    /* the message says what to do */
    assert_true(strchr(problem.text, ';') || strchr(problem.text, ':'));
}

static void check_shape(int channels, int height, int width)
{
    assert_int_equal(set.shape.channels, channels);
    assert_int_equal(set.shape.height, height);
    assert_int_equal(set.shape.width, width);
    assert_int_equal(set.shape.length, 0);
}

static void the_last_tenth_is_the_test(void **state)
{
    (void)state;
    must_load(true);
    assert_int_equal(set.count, 18);
    assert_int_equal(set.classes, 7);
    check_shape(1, 4, 6);
    assert_memory_equal(set.pixels, pixels, (size_t)18 * SIZE);
    for (int i = 0; i < 18; i++)
        assert_int_equal(set.labels[i], i % 7);
    assert_true(!set.numbers && !set.targets && !set.tokens);
    dataset_free(&set);
    must_load(false);
    assert_int_equal(set.count, 2);
    assert_int_equal(set.classes, 7); /* classes of the whole file, not only of the test part */
    assert_memory_equal(set.pixels, pixels[18], (size_t)2 * SIZE);
    assert_true(set.labels[0] == 4 && set.labels[1] == 5);
    dataset_free(&set);
}

static void bytes_are_normalised_by_what_is_learned(void **state)
{
    (void)state;
    double sum = 0, squares = 0;
    for (int i = 0; i < 18; i++)
        for (int k = 0; k < SIZE; k++) {
            sum += pixels[i][k];
            squares += (double)pixels[i][k] * pixels[i][k];
        }
    const double mean = sum / (18 * SIZE), deviation = sqrt(squares / (18 * SIZE) - mean * mean);
    for (uint32_t shard = 0; shard < 3; shard++) {
        options.shard = shard;
        options.shards = 3;
        must_load(true);
        assert_int_equal(set.count, 6);
        assert_true(fabs((double)set.mean - mean) < 1e-4);
        assert_true(fabs(1 / (double)set.scale - deviation) < 1e-4);
        dataset_free(&set);
    }
}

static void floats_stay_as_they_are(void **state)
{
    (void)state;
    write_npy("x.npy", "<f4", "(20, 24)", numbers, sizeof numbers);
    must_load(true);
    check_shape(1, 1, 24);
    assert_true(set.mean == 0 && set.scale == 1 && !set.pixels);
    double sum = 0, squares = 0;
    for (int i = 0; i < 18 * SIZE; i++) {
        const double number = (double)numbers[i / SIZE][i % SIZE];
        sum += number;
        squares += number * number;
    }
    const double mean = sum / (18 * SIZE), deviation = sqrt(squares / (18 * SIZE) - mean * mean);
    assert_true(fabs((double)set.input_mean - mean) < 1e-5);
    assert_true(fabs((double)set.input_deviation - deviation) < 1e-5);
    assert_memory_equal(set.numbers, numbers, sizeof(float) * 18 * SIZE);
    dataset_free(&set);
    must_load(false);
    assert_memory_equal(set.numbers, numbers[18], sizeof(float) * 2 * SIZE);
    dataset_free(&set);
}

static void any_rank_is_a_shape(void **state)
{
    (void)state;
    static const struct {
        const char *shape;
        int channels, height, width;
    } ranks[] = {{"(480,)", 1, 1, 1},           {"(20, 24)", 1, 1, 24},
                 {"(20, 4, 6)", 1, 4, 6},       {"(20, 3, 2, 4)", 3, 2, 4},
                 {"(20, 3, 2, 2, 2)", 6, 2, 2}, {"(20, 2, 1, 3, 2, 2)", 6, 2, 2},
                 {"(20, 1, 24, 1)", 1, 24, 1}};
    static const int8_t none[480];
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        write_npy("x.npy", "|u1", ranks[i].shape, pixels, sizeof pixels);
        write_npy("y.npy", "|i1", i == 0 ? "(480,)" : "(20, 1)", none, i == 0 ? 480 : 20);
        must_load(true);
        check_shape(ranks[i].channels, ranks[i].height, ranks[i].width);
        assert_memory_equal(set.pixels, pixels, (size_t)18 * SIZE);
        dataset_free(&set);
    }
}

static void labels_of_any_integers_are_read(void **state)
{
    (void)state;
    const uint8_t of_1[COUNT] = {3, 200};
    const uint16_t of_2[COUNT] = {3, 65535};
    const uint32_t of_4[COUNT] = {3, 999999};
    const uint64_t of_8[COUNT] = {3, 70000};
    const struct {
        const char *descr;
        const void *labels;
        size_t bytes;
        int highest;
    } types[] = {{"|u1", of_1, sizeof of_1, 200},
                 {"<u2", of_2, sizeof of_2, 65535},
                 {"<u4", of_4, sizeof of_4, 999999},
                 {"<i4", of_4, sizeof of_4, 999999},
                 {"<u8", of_8, sizeof of_8, 70000},
                 {"<i8", of_8, sizeof of_8, 70000},
                 {"|b1", "\1\1\0", 0, 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const uint8_t truths[COUNT] = {1, 1};
        const bool is_bool = types[i].bytes == 0;
        write_npy("y.npy", types[i].descr, "(20,)", is_bool ? truths : types[i].labels,
                  is_bool ? sizeof truths : types[i].bytes);
        must_load(true);
        assert_int_equal(set.labels[0], is_bool ? 1 : 3);
        assert_int_equal(set.labels[1], types[i].highest);
        assert_int_equal(set.labels[2], 0);
        assert_int_equal(set.classes, types[i].highest + 1);
        dataset_free(&set);
    }
}

static void floats_are_numbers_to_be_predicted(void **state)
{
    (void)state;
    write_npy("y.npy", "<f4", "(20, 3)", targets, sizeof targets);
    must_load(true);
    assert_true(dataset_is_regression(&set) && !set.labels);
    assert_int_equal(set.classes, 3);
    assert_memory_equal(set.targets, targets, (size_t)18 * sizeof targets[0]);
    dataset_free(&set);
    must_load(false);
    assert_memory_equal(set.targets, targets[18], 2 * sizeof targets[0]);
    dataset_free(&set);
    write_npy("y.npy", "<f4", "(20,)", targets, COUNT * sizeof(float));
    must_load(true);
    assert_int_equal(set.classes, 1);
    dataset_free(&set);
}

static void load_floats_as(const char *descr, enum dataset_task task, int period)
{
    static double doubles[COUNT];
    static float floats[COUNT];
    for (int i = 0; i < COUNT; i++)
        floats[i] = (float)(doubles[i] = i % period);
    const bool is_double = strcmp(descr, "<f8") == 0;
    write_npy("y.npy", descr, "(20,)", is_double ? (const void *)doubles : floats,
              is_double ? sizeof doubles : sizeof floats);
    options.task = task;
    must_load(true);
}

static void floats_that_look_like_classes_are_learned_as_those_if_they_are_doubles(void **state)
{
    (void)state;
    load_floats_as("<f8", DATASET_TASK_AUTO, 4);
    assert_true(!dataset_is_regression(&set) && set.look == LOOK_FLOAT_LABELS && set.classes == 4);
    assert_int_equal(set.labels[7], 3);
    dataset_free(&set);
    load_floats_as("<f8", DATASET_TASK_AUTO, 7); /* each class has fewer than four samples */
    assert_true(dataset_is_regression(&set) && set.look == LOOK_WHOLE_NUMBERS);
    dataset_free(&set);
    load_floats_as("<f4", DATASET_TASK_AUTO, 4);
    assert_true(dataset_is_regression(&set) && set.look == LOOK_WHOLE_NUMBERS);
    dataset_free(&set);
    load_floats_as("<f4", DATASET_CLASSES, 4);
    assert_true(!dataset_is_regression(&set) && set.look == LOOK_LABELS && set.classes == 4);
    dataset_free(&set);
    load_floats_as("<f8", DATASET_NUMBERS, 4);
    assert_true(dataset_is_regression(&set) && set.targets[7] == 3);
    dataset_free(&set);
}

/* Loads one double for each sample; sample i has some[i % count]. */
static enum dataset_look look_of_doubles(const char *shape, const double *some, size_t count)
{
    double doubles[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        doubles[i] = some[i % count];
    write_npy("y.npy", "<f8", shape, doubles, sizeof doubles);
    must_load(true);
    const enum dataset_look look = set.look;
    assert_int_equal(dataset_is_regression(&set), look != LOOK_LABELS && look != LOOK_FLOAT_LABELS);
    dataset_free(&set);
    return look;
}

/* Whole floats that skip a class or do not begin at 0 are numeric targets, and a node warns of
 * them. */
static void whole_floats_that_are_no_classes_are_marked(void **state)
{
    (void)state;
    assert_int_equal(look_of_doubles("(20,)", (double[]){0, 1, 3}, 3), LOOK_WHOLE_NUMBERS);
    assert_int_equal(look_of_doubles("(20,)", (double[]){1, 2, 3, 4}, 4), LOOK_WHOLE_NUMBERS);
    assert_int_equal(look_of_doubles("(20, 1)", (double[]){1, 2}, 2), LOOK_WHOLE_NUMBERS);
    assert_int_equal(look_of_doubles("(20, 1)", (double[]){0, 1}, 2), LOOK_FLOAT_LABELS);
    assert_int_equal(look_of_doubles("(20,)", (double[]){-1, 1}, 2), LOOK_WHOLE_NUMBERS);
    assert_int_equal(look_of_doubles("(20,)", (double[]){5}, 1), LOOK_WHOLE_NUMBERS);
    assert_int_equal(look_of_doubles("(20,)", (double[]){0, 1, 2.5}, 3), LOOK_NUMBERS);
    assert_int_equal(look_of_doubles("(20,)", (double[]){200000, 250000}, 2), LOOK_NUMBERS);
    options.task = DATASET_NUMBERS;
    assert_int_equal(look_of_doubles("(20,)", (double[]){0, 1, 3}, 3), LOOK_NUMBERS);
    options.task = DATASET_CLASSES;
    assert_int_equal(look_of_doubles("(20,)", (double[]){0, 1, 3}, 3), LOOK_LABELS);
}

static void floats_that_look_like_one_hot_labels_are_marked(void **state)
{
    float rows[COUNT][3] = {{0}};
    (void)state;
    for (int i = 0; i < COUNT; i++)
        rows[i][i % 3] = 1;
    write_npy("y.npy", "<f4", "(20, 3)", rows, sizeof rows);
    must_load(true);
    assert_true(dataset_is_regression(&set) && set.look == LOOK_ONE_HOT && set.classes == 3);
    dataset_free(&set);
    options.task = DATASET_NUMBERS;
    must_load(true);
    assert_int_equal(set.look, LOOK_NUMBERS);
    dataset_free(&set);
    options.task = DATASET_TASK_AUTO;
    rows[19][0] = rows[19][1] = 1;
    write_npy("y.npy", "<f4", "(20, 3)", rows, sizeof rows);
    must_load(true);
    assert_int_equal(set.look, LOOK_NUMBERS);
    dataset_free(&set);
}

/* Neighbours compare these ranges, so all shards of one file must report the same. */
static void each_shard_knows_the_range_of_all_labels_and_targets(void **state)
{
    (void)state;
    options.shards = 18;
    for (int i = 0; i < COUNT; i++)
        labels[i] = 1 + i % 7;
    write_npy("y.npy", "<i8", "(20,)", labels, sizeof labels);
    must_load(true);
    assert_true(set.count == 1 && set.lowest_label == 1 && set.highest_label == 7);
    dataset_free(&set);
    write_npy("y.npy", "<f4", "(20, 3)", targets, sizeof targets);
    must_load(true);
    assert_true(set.count == 1 && set.target_mean == 96);
    assert_true(set.target_deviation > 57.6f && set.target_deviation < 57.7f);
    dataset_free(&set);
}

static void a_test_without_all_classes_is_of_the_task_of_the_training(void **state)
{
    static const double three[] = {3, 3, 3};
    (void)state;
    options.test_x = test_x_path.text;
    options.test_y = test_y_path.text;
    write_npy("test_x.npy", "|u1", "(3, 4, 6)", pixels[5], (size_t)3 * SIZE);
    write_npy("test_y.npy", "<f8", "(3,)", three, sizeof three);
    load_floats_as("<f8", DATASET_TASK_AUTO, 4);
    dataset_free(&set);
    must_load(false);
    assert_true(!dataset_is_regression(&set) && set.labels[2] == 3);
    dataset_free(&set);
}

static void a_task_that_y_does_not_fit_is_refused(void **state)
{
    static const float half[COUNT] = {0, 1, 0.5f};
    (void)state;
    options.task = DATASET_NUMBERS;
    must_refuse(true, "data.task = numbers predicts floats");
    options.task = DATASET_CLASSES;
    write_npy("y.npy", "<f4", "(20,)", half, sizeof half);
    must_refuse(true, "the label of sample 2 is 0.5");
    options.task = DATASET_TASK_AUTO; /* targets are numbers, although the test file has integers */
    options.test_x = test_x_path.text;
    options.test_y = test_y_path.text;
    write_npy("test_x.npy", "|u1", "(3, 4, 6)", pixels[5], (size_t)3 * SIZE);
    write_npy("test_y.npy", "<i8", "(3,)", labels, 3 * sizeof *labels);
    must_refuse(false, "those of the training are floats");
}

static void shards_are_disjoint_and_cover_everything(void **state)
{
    (void)state;
    bool seen[COUNT] = {false};
    write_npy("x.npy", "<f4", "(20, 24)", numbers, sizeof numbers);
    write_npy("y.npy", "<f4", "(20, 3)", targets, sizeof targets);
    for (options.shard = 0, options.shards = 4; options.shard < 4; options.shard++) {
        must_load(true);
        assert_in_range(set.count, 4, 5);
        for (uint32_t i = 0; i < set.count; i++) {
            const int place = (int)set.numbers[(size_t)i * SIZE];
            assert_false(seen[place]);
            seen[place] = true;
            assert_memory_equal(set.numbers + (size_t)i * SIZE, numbers[place], sizeof numbers[0]);
            assert_memory_equal(set.targets + (size_t)i * 3, targets[place], sizeof targets[0]);
        }
        dataset_free(&set);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(seen[i], i < 18);
}

/* The files of x end at other samples than the files of y. */
static void several_files_are_one_run(void **state)
{
    (void)state;
    write_npy("x.npy", "|u1", "(1, 4, 6)", pixels[0], SIZE);
    write_npy("x2.npy", "|u1", "(17, 4, 6)", pixels[1], (size_t)17 * SIZE);
    write_npy("x3.npy", "|u1", "(2, 4, 6)", pixels[18], (size_t)2 * SIZE);
    write_npy("y.npy", "<i8", "(19,)", labels, 19 * sizeof *labels);
    write_npy("y2.npy", "<i8", "(1,)", labels + 19, sizeof *labels);
    struct data_path x = data_path("x*.npy"), y = data_path("y*.npy");
    options.x = x.text;
    options.y = y.text;
    must_load(true);
    assert_memory_equal(set.pixels, pixels, (size_t)18 * SIZE);
    assert_int_equal(set.labels[17], 17 % 7);
    dataset_free(&set);
    must_load(false);
    assert_int_equal(set.count, 2);
    assert_memory_equal(set.pixels, pixels[18], (size_t)2 * SIZE);
    assert_true(set.labels[0] == 4 && set.labels[1] == 5);
    dataset_free(&set);
}

static void arrays_for_the_test_leave_all_others_to_be_learned(void **state)
{
    (void)state;
    options.test_x = test_x_path.text;
    options.test_y = test_y_path.text;
    write_npy("test_x.npy", "|u1", "(3, 4, 6)", pixels[5], (size_t)3 * SIZE);
    write_npy("test_y.npy", "<i8", "(3,)", labels, 3 * sizeof *labels);
    must_load(true);
    assert_int_equal(set.count, COUNT);
    dataset_free(&set);
    must_load(false);
    assert_int_equal(set.count, 3);
    assert_memory_equal(set.pixels, pixels[5], (size_t)3 * SIZE);
    dataset_free(&set);
    options.x = options.y = ""; /* loading only the test data needs no training files */
    must_load(false);
    assert_int_equal(set.count, 3);
    dataset_free(&set);
}

/* The array, and in the first case each of its samples, is larger than a block that is read at
 * once. */
static void large_arrays_are_read_block_by_block(void **state)
{
    (void)state;
    static uint8_t large[20 * 100000];
    for (size_t i = 0; i < sizeof large; i++)
        large[i] = (uint8_t)(i * 2654435761u >> 20);
    write_npy("x.npy", "|u1", "(20, 100, 1000)", large, sizeof large);
    must_load(false);
    assert_memory_equal(set.pixels, large + 1800000, 200000);
    dataset_free(&set);
    write_npy("x.npy", "|u1", "(200000, 10)", large, sizeof large);
    write_npy("y.npy", "|u1", "(200000,)", large, 200000);
    must_load(true);
    assert_int_equal(set.count, 180000);
    assert_memory_equal(set.pixels, large, 1800000);
    for (size_t i = 0; i < set.count; i++)
        if (set.labels[i] != large[i])
            fail_msg("label %zu is %d", i, set.labels[i]);
    dataset_free(&set);
}

static void samples_that_cannot_be_learned_are_refused(void **state)
{
    (void)state;
    write_npy("x.npy", "<i8", "(20,)", labels, sizeof labels);
    must_refuse(true, "x.npy: holds int64, and samples are uint8 or float32");
    write_npy("x.npy", "<f4", "(20, 24)", numbers, sizeof numbers);
    numbers[19][3] = NAN;
    write_npy("x.npy", "<f4", "(20, 24)", numbers, sizeof numbers);
    must_refuse(false, "x.npy: sample 19 holds NaN");
    numbers[3][23] = -INFINITY;
    write_npy("x.npy", "<f4", "(20, 24)", numbers, sizeof numbers);
    must_refuse(true, "x.npy: sample 3 holds infinity");
}

static void samples_that_are_too_large_are_refused(void **state)
{
    (void)state;
    static uint8_t wide[2 * 65537];
    write_npy("x.npy", "|u1", "(2, 65537)", wide, sizeof wide);
    write_npy("y.npy", "|u1", "(2,)", wide, 2);
    must_refuse(true, "x.npy: its samples are 1x1x65537 (channels, height, width)");
    write_npy("x.npy", "|u1", "(2, 65536)", wide, (size_t)2 * 65536);
    must_load(true);
    dataset_free(&set);
}

static void labels_that_are_none_are_refused(void **state)
{
    (void)state;
    labels[7] = -1;
    write_npy("y.npy", "<i8", "(20,)", labels, sizeof labels);
    must_refuse(true, "y.npy: the label of sample 7 is -1, and labels are whole numbers from 0");
    labels[7] = 1000000;
    write_npy("y.npy", "<i8", "(20,)", labels, sizeof labels);
    must_refuse(true, "y.npy: the label of sample 7 is 1000000,");
    const uint64_t huge[COUNT] = {[19] = UINT64_MAX};
    write_npy("y.npy", "<u8", "(20,)", huge, sizeof huge);
    must_refuse(true, "y.npy: the label of sample 19 is above 9223372036854775807");
    write_npy("y.npy", "|u1", "(20, 3)", pixels, 60);
    must_refuse(true, "y.npy: has 3 numbers of uint8 for each sample, and a label is one");
}

static void numbers_that_cannot_be_predicted_are_refused(void **state)
{
    (void)state;
    targets[4][2] = INFINITY;
    write_npy("y.npy", "<f4", "(20, 3)", targets, sizeof targets);
    must_refuse(true, "y.npy: sample 4 holds infinity");
    write_npy("y.npy", "<f4", "(20, 3, 1)", targets, sizeof targets);
    must_refuse(true, "y.npy: has 3 dimensions, and y has one");
}

static void files_that_do_not_go_together_are_refused(void **state)
{
    (void)state;
    write_npy("y.npy", "<i8", "(19,)", labels, 19 * sizeof *labels);
    must_refuse(true, "data.x has 20 samples and data.y 19");
    write_npy("y.npy", "<i8", "(20,)", labels, sizeof labels);
    write_npy("x2.npy", "|u1", "(20, 6, 4)", pixels, sizeof pixels);
    struct data_path x = data_path("x*.npy");
    options.x = x.text;
    must_refuse(true, "x2.npy: its numbers are of another type, or its samples of another shape");
    options.x = x_path.text;
    options.test_x = x_path.text;
    options.test_y = y_path.text;
    must_refuse(true, "x.npy is among the files to learn from, too");
    options.test_y = "";
    must_refuse(false, "data.test_y is empty");
    options.test_x = NULL;
    options.x = "";
    must_refuse(true, "data.x is empty");
    options.x = "/nowhere/*.npy";
    must_refuse(true, "data.x: there is no folder \"/nowhere\"");
}

static void too_few_samples_are_refused(void **state)
{
    (void)state;
    write_npy("x.npy", "|u1", "(1, 24)", pixels, SIZE);
    write_npy("y.npy", "<i8", "(1,)", labels, sizeof *labels);
    must_refuse(true, "data.x has 1 samples, and the last tenth is the test");
    write_npy("x.npy", "|u1", "(20, 24)", pixels, sizeof pixels);
    write_npy("y.npy", "<i8", "(20,)", labels, sizeof labels);
    options.shards = 19;
    must_refuse(true, "18 samples cannot be cut into 19 shards");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, arrays_begin, remove_data_folder)
    const struct CMUnitTest tests[] = {
        TEST(the_last_tenth_is_the_test),
        TEST(bytes_are_normalised_by_what_is_learned),
        TEST(floats_stay_as_they_are),
        TEST(any_rank_is_a_shape),
        TEST(labels_of_any_integers_are_read),
        TEST(floats_are_numbers_to_be_predicted),
        TEST(floats_that_look_like_classes_are_learned_as_those_if_they_are_doubles),
        TEST(floats_that_look_like_one_hot_labels_are_marked),
        TEST(each_shard_knows_the_range_of_all_labels_and_targets),
        TEST(whole_floats_that_are_no_classes_are_marked),
        TEST(a_test_without_all_classes_is_of_the_task_of_the_training),
        TEST(a_task_that_y_does_not_fit_is_refused),
        TEST(shards_are_disjoint_and_cover_everything),
        TEST(several_files_are_one_run),
        TEST(arrays_for_the_test_leave_all_others_to_be_learned),
        TEST(large_arrays_are_read_block_by_block),
        TEST(samples_that_cannot_be_learned_are_refused),
        TEST(samples_that_are_too_large_are_refused),
        TEST(labels_that_are_none_are_refused),
        TEST(numbers_that_cannot_be_predicted_are_refused),
        TEST(files_that_do_not_go_together_are_refused),
        TEST(too_few_samples_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
