/* Sequences: which tokens are for training, for testing, and in each shard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "data/sequences.h"
#include "support/model/data_folder.h"

#define COUNT   100003 /* tokens; more than one block, and no multiple of any size used */
#define CONTEXT 16

static uint8_t text[COUNT];
static uint16_t shorts[COUNT];
static char list[2 * DATA_PATH_MAX + 8], valid[DATA_PATH_MAX];

static void fill(void)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        text[i] = (uint8_t)(i * 2654435761u >> 13);
        shorts[i] = (uint16_t)(i % 5000);
    }
    shorts[7] = 50256;
}

static const char *in_folder(char *out, size_t room, const char *one, const char *other)
{
    (void)snprintf(out, room, "%s%s%s", data_path(one).text, other ? ", " : "",
                   other ? data_path(other).text : "");
    return out;
}

static struct dataset_options options_of(enum dataset_source source, const char *one,
                                         const char *other)
{
    fill();
    return (struct dataset_options){.source = source,
                                    .files = in_folder(list, sizeof list, one, other),
                                    .context = CONTEXT,
                                    .shards = 1};
}

static struct dataset must_load(const struct dataset_options *options, bool train)
{
    struct dataset dataset;
    struct problem problem = {""};
    if ((train ? dataset_load_train : dataset_load_test)(&dataset, options, &problem) != OK)
        fail_msg("%s", problem.text);
    assert_null(dataset.pixels);
    assert_null(dataset.labels);
    assert_int_equal(dataset.shape.length, options->context);
    assert_int_equal(shape_size(dataset.shape), options->context);
    return dataset;
}

/* Returns the index in `all` at which the tokens of the dataset begin. */
static size_t place_of(const struct dataset *dataset, const void *all)
{
    const size_t bytes = dataset->tokens_count * (size_t)dataset->token_bytes;
    const void *found = memmem(all, COUNT * (size_t)dataset->token_bytes, dataset->tokens, bytes);
    assert_non_null(found);
    return (size_t)((const char *)found - (const char *)all) / (size_t)dataset->token_bytes;
}

static void several_files_are_one_text_of_which_the_last_tenth_is_the_test(void **state)
{
    (void)state;
    const struct dataset_options options = options_of(DATASET_TEXT, "a.txt", "b.gz");
    write_data("a.txt", text, 70001);
    write_packed("b.gz", text + 70001, COUNT - 70001);
    struct dataset train = must_load(&options, true), test = must_load(&options, false);
    assert_int_equal(train.tokens_count, 90002);
    assert_int_equal(test.tokens_count, COUNT - 90002);
    assert_memory_equal(train.tokens, text, 90002);
    assert_memory_equal(test.tokens, text + 90002, COUNT - 90002);
    assert_int_equal(train.token_bytes, 1);
    assert_int_equal(train.classes, 256);
    assert_int_equal(test.classes, 256);
    dataset_free(&train);
    dataset_free(&test);
}

static void tokens_of_several_files_are_one_run(void **state)
{
    (void)state;
    const struct dataset_options options = options_of(DATASET_TOKENS, "*.bin", NULL);
    write_llmc("one.bin", 20240520, 1, 50000, shorts, 100000);
    write_data("two.bin", shorts + 50000, 2 * (COUNT - 50000));
    struct dataset train = must_load(&options, true), test = must_load(&options, false);
    assert_int_equal(train.token_bytes, 2);
    assert_memory_equal(train.tokens, shorts, 2 * 90002);
    assert_memory_equal(test.tokens, shorts + 90002, 2 * (COUNT - 90002));
    assert_int_equal(train.classes, 50257);
    assert_int_equal(test.classes, 50257); /* from the whole files, not only from the test part */
    dataset_free(&train);
    dataset_free(&test);
}

static void tokens_of_four_bytes_are_as_written_and_have_two_classes_at_least(void **state)
{
    (void)state;
    static uint32_t longs[1000];
    const struct dataset_options options = options_of(DATASET_TOKENS, "long.bin", NULL);
    write_llmc("long.bin", 20240801, 7, 1000, longs, sizeof longs);
    struct dataset train = must_load(&options, true);
    assert_int_equal(train.classes, 2);
    dataset_free(&train);
    longs[999] = 128255;
    write_llmc("long.bin", 20240801, 7, 1000, longs, sizeof longs);
    train = must_load(&options, true);
    assert_int_equal(train.token_bytes, 4);
    assert_int_equal(train.classes, 128256);
    assert_int_equal(train.tokens_count, 900);
    assert_memory_equal(train.tokens, longs, 3600);
    dataset_free(&train);
}

static void files_for_the_test_leave_all_others_for_training(void **state)
{
    (void)state;
    struct dataset_options options = options_of(DATASET_TEXT, "a.txt", NULL);
    options.valid = in_folder(valid, sizeof valid, "v*.txt", NULL);
    options.shards = 2; /* only training data are cut into shards */
    write_data("a.txt", text, 1000);
    write_data("v1.txt", text + 1000, 50);
    write_data("v2.txt", text + 1050, 60);
    struct dataset train = must_load(&options, true), test = must_load(&options, false);
    assert_int_equal(train.tokens_count, 500);
    assert_int_equal(test.tokens_count, 110);
    assert_memory_equal(test.tokens, text + 1000, 110);
    dataset_free(&train);
    dataset_free(&test);
}

static void the_shards_are_stretches_that_cover_everything(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 7, 100, 1000};
    struct dataset_options options = options_of(DATASET_TOKENS, "*.bin", NULL);
    for (uint32_t i = 0; i < COUNT; i++)
        shorts[i] = (uint16_t)(i ^ (i >> 16) * 0x9e37);
    write_data("one.bin", shorts, 2 * 33000);
    write_data("two.bin", shorts + 33000, 2 * (COUNT - 33000));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t next = 0;
        options.shards = counts[i];
        for (options.shard = 0; options.shard < options.shards; options.shard++) {
            struct dataset shard = must_load(&options, true);
            assert_int_equal(place_of(&shard, shorts), next);
            assert_int_equal(shard.classes, 65536); /* whichever tokens the shard has */
            assert_true(shard.tokens_count - 90002 / options.shards <= 1);
            next += shard.tokens_count;
            dataset_free(&shard);
        }
        assert_int_equal(next, 90002);
    }
}

/* Training windows begin at any position below the context, and have a label behind them. */
static void as_many_windows_as_fit_at_every_beginning(void **state)
{
    (void)state;
    for (size_t tokens = 1; tokens < 200; tokens++)
        for (int context = 2; context < 40; context++) {
            const size_t windows = sequences_windows(tokens, context), length = (size_t)context;
            if (windows > 0)
                assert_true(length - 1 + windows * length + 1 <= tokens);
            assert_true(length - 1 + (windows + 1) * length + 1 > tokens);
        }
    struct dataset_options options = options_of(DATASET_TEXT, "a.txt", NULL);
    write_data("a.txt", text, 2 * CONTEXT);
    write_data("v.txt", text, 3 * CONTEXT + 1);
    options.valid = in_folder(valid, sizeof valid, "v.txt", NULL);
    struct dataset train = must_load(&options, true), test = must_load(&options, false);
    assert_int_equal(train.count, 1);
    assert_int_equal(test.count, 3); /* the last token is only a label */
    dataset_free(&train);
    dataset_free(&test);
}

static void must_refuse(const struct dataset_options *options, bool train, enum error error,
                        const char *words)
{
    struct dataset dataset = {.count = 77};
    struct problem problem = {""};
    assert_int_equal((train ? dataset_load_train : dataset_load_test)(&dataset, options, &problem),
                     error);
    assert_int_equal(dataset.count, 77);
    if (!strstr(problem.text, words))
        fail_msg("\"%s\" does not say \"%s\"", problem.text, words);
    assert_non_null(strchr(problem.text, ';'));
}

static void too_few_tokens_are_refused(void **state)
{
    (void)state;
    struct dataset_options options = options_of(DATASET_TEXT, "a.txt", NULL);
    write_data("a.txt", text, 150);
    options.shard = 4;
    options.shards = 5;
    must_refuse(&options, true, MISMATCH,
                "data.text: shard 5 of 5 has 27 tokens, and with a context of 16 at least 32 are "
                "needed; use fewer shards, a smaller data.context, or more tokens");
    must_refuse(&options, false, MISMATCH,
                "the test has 15 tokens, and with a context of 16 at "
                "least 17 are needed; ");
    must_refuse(&options, false, MISMATCH, "use files of their own (data.valid), a smaller");
    write_data("a.txt", text, 170);
    struct dataset test = must_load(&options, false);
    assert_int_equal(test.count, 1);
    dataset_free(&test);
    write_data("a.txt", text, 1);
    must_refuse(&options, true, MISMATCH, "shard 5 of 5 has 0 tokens, and");
}

static void too_many_tokens_are_refused_before_they_are_read(void **state)
{
    (void)state;
    struct dataset_options options = options_of(DATASET_TEXT, "a.txt", NULL);
    write_data("a.txt", text, 100);
    stretch_data("a.txt", 0x120000000);
    must_refuse(&options, true, TOO_BIG,
                "shard 1 of 1 has 4348654387 tokens, and 4294967295 can be used at most; cut them "
                "into more shards");
    stretch_data("a.txt", UINT64_C(1) << 43); /* tokens of all files times shards exceed 64 bits */
    options.shards = 4096;
    options.shard = 4095;
    must_refuse(&options, false, TOO_BIG, "data.text: the test has 879609302221 tokens, and");
}

static void a_token_that_no_vocabulary_has_is_refused(void **state)
{
    (void)state;
    static uint32_t longs[1000];
    const struct dataset_options options = options_of(DATASET_TOKENS, "long.bin", NULL);
    for (int i = 0; i < 2; i++) {
        longs[500] = i ? UINT32_MAX : DATASET_TOKENS_MAX;
        write_llmc("long.bin", 20240801, 7, 1000, longs, sizeof longs);
        must_refuse(&options, true, TOO_BIG,
                    i ? "its highest token is 4294967295, and 999999 is the highest"
                      : "its highest token is 1000000, and 999999 is the highest");
    }
}

static void files_of_two_formats_are_refused(void **state)
{
    (void)state;
    const struct dataset_options options = options_of(DATASET_TOKENS, "a.bin", "b.bin");
    static const uint32_t longs[1000];
    write_data("a.bin", shorts, 2000);
    write_llmc("b.bin", 20240801, 7, 1000, longs, sizeof longs);
    must_refuse(&options, true, MISMATCH, "b.bin: has tokens of 4 bytes, and ");
    must_refuse(&options, true, MISMATCH, "a.bin of 2; name files of one format");
}

static void training_and_test_sequences_are_disjoint(void **state)
{
    (void)state;
    struct dataset_options options = options_of(DATASET_TOKENS, "*.bin", NULL);
    options.valid = in_folder(valid, sizeof valid, "val.bin", NULL);
    write_data("train.bin", shorts, 2000);
    write_data("val.bin", shorts + 1000, 2000);
    for (int train = 0; train < 2; train++)
        must_refuse(&options, train, MISMATCH,
                    "val.bin is among the files to learn from, too; take it out of one of them");
}

static void a_fault_in_any_of_the_files_is_named(void **state)
{
    (void)state;
    struct dataset_options options = options_of(DATASET_TEXT, "a.txt", "b.txt");
    write_data("a.txt", text, 1000);
    must_refuse(&options, true, MISSING, "b.txt: cannot be opened: No such file or directory; ");
    write_data("b.txt", "", 0);
    must_refuse(&options, true, MALFORMED, "b.txt: is empty; ");
    options.valid = in_folder(valid, sizeof valid, "v*", NULL);
    write_data("b.txt", text, 1000);
    must_refuse(&options, false, MISSING, "data.valid: no file matches \"");
    options.shards = 0;
    must_refuse(&options, true, MISMATCH, "there is no shard 0 among 0; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DATA_FOLDER(several_files_are_one_text_of_which_the_last_tenth_is_the_test),
        IN_DATA_FOLDER(tokens_of_several_files_are_one_run),
        IN_DATA_FOLDER(tokens_of_four_bytes_are_as_written_and_have_two_classes_at_least),
        IN_DATA_FOLDER(files_for_the_test_leave_all_others_for_training),
        IN_DATA_FOLDER(the_shards_are_stretches_that_cover_everything),
        IN_DATA_FOLDER(as_many_windows_as_fit_at_every_beginning),
        IN_DATA_FOLDER(too_few_tokens_are_refused),
        IN_DATA_FOLDER(too_many_tokens_are_refused_before_they_are_read),
        IN_DATA_FOLDER(a_token_that_no_vocabulary_has_is_refused),
        IN_DATA_FOLDER(files_of_two_formats_are_refused),
        IN_DATA_FOLDER(training_and_test_sequences_are_disjoint),
        IN_DATA_FOLDER(a_fault_in_any_of_the_files_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
