/* Damaged, truncated, exchanged or foreign checkpoints are never loaded. Instead, the previous
 * generation is loaded. The disk is in memory (memory_disk.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "state/atomic_file.h"
#include "state/checkpoint_file.h"
#include "state/checksummed_stream.h"
#include "support/state/checkpoint_story.h"

static void every_flipped_byte_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(save(&disk), OK);
    struct memory_file *file = file_of(&disk, 1);
    assert_true(file->size > CHUNK_BYTES);
    struct rng rng = rng_new(1, 1);
    for (size_t i = 0; i < file->size; i++) {
        const uint8_t flip = (uint8_t)(i % 2 ? 1 + rng_below(&rng, 255) : 1u << i / 2 % 8);
        file->bytes[i] ^= flip;
        assert_int_equal(load(&disk), FAILED);
        assert_int_equal(refusals.count, 1);
        file->bytes[i] ^= flip;
    }
    must_load(&disk, 1, 0);
}

static void every_truncation_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(save(&disk), OK);
    struct memory_file *file = file_of(&disk, 1);
    const size_t whole = file->size;
    for (file->size = 0; file->size < whole; file->size++) {
        assert_int_equal(load(&disk), FAILED);
        assert_int_equal(refusals.count, 1);
    }
    must_load(&disk, 1, 0);
}

static void behind_what_is_damaged_the_older_generation_loads(void **state)
{
    (void)state;
    save_two();
    struct memory_file *file = file_of(&disk, 2);
    const size_t whole = file->size;
    for (size_t i = 0; i < whole; i += 127) {
        file->bytes[i] ^= 1;
        must_load(&disk, 1, 1);
        assert_non_null(strstr(refusals.last.text, FOLDER "/checkpoint-2: chunk "));
        file->bytes[i] ^= 1;
        file->size = i;
        must_load(&disk, 1, 1);
        file->size = whole;
    }
    must_load(&disk, 2, 0);
}

static void detects_bytes_beyond_the_end(void **state)
{
    const size_t rest = sizeof(struct checkpoint_header) + strlen(MODEL) + OWN +
                        2 * sizeof(struct checkpoint_head) + sizeof(struct checkpoint_numbers);
    const size_t cases[] = {P, (CHUNK_PAYLOAD - rest) / 12}; /* the second case fills a chunk */
    for (int i = 0; i < 2; i++) {
        (void)begin(state);
        story_part = cases[i];
        story_init(&saved, cases[i], 1);
        assert_int_equal(save(&disk), OK);
        struct memory_file *file = file_of(&disk, 1);
        assert_int_equal(load_with(&disk, cases[i], 1), OK);
        for (size_t more = 1; file->size + more <= FILE_MAX; more *= 3) {
            file->size += more;
            assert_int_equal(load_with(&disk, cases[i], 1), FAILED);
            file->size -= more;
        }
    }
}

/* A chunk has the number of another chunk of equal length, or is of another generation. */
static void a_chunk_in_the_place_of_another_is_noticed(void **state)
{
    (void)state;
    uint8_t bytes[100], back[100];
    memory_disk_init(&disk);
    struct atomic_file file;
    static struct checksummed_writer writer;
    static struct checksummed_reader reader;
    memset(bytes, 7, sizeof bytes);
    for (uint64_t number = 0; number < 3; number++) {
        atomic_file_begin(&file, &disk.table, FOLDER, number == 1 ? "one" : "zero",
                          ATOMIC_FILE_PRIVATE);
        checksummed_writer_init(&writer, &file, number == 2 ? 6 : 5);
        writer.number = number == 1 ? 1 : 0;
        checksummed_write(&writer, bytes, sizeof bytes);
        checksummed_write_end(&writer);
        assert_int_equal(atomic_file_end(&file), 0);
        const int handle = disk.table.open(&disk, number == 1 ? FOLDER "/one" : FOLDER "/zero");
        checksummed_reader_init(&reader, &disk.table, handle, 5);
        assert_int_equal(checksummed_read(&reader, back, sizeof back),
                         number == 0 ? OK : MALFORMED);
        assert_int_equal(disk.table.close(&disk, handle), 0);
    }
}

static void a_renamed_generation_is_refused(void **state)
{
    (void)state;
    save_two();
    const struct memory_file *file = file_of(&disk, 1);
    memory_disk_put(&disk, "checkpoint-9", file->bytes, file->size);
    must_load(&disk, 2, 1);
    assert_int_equal(series.next, 10);
}

static void rejects_and_names_another_models_file(void **state)
{
    (void)state;
    save_two();
    saved.checkpoint.model = OTHERS;
    assert_int_equal(save(&disk), OK);
    disk.pending_count = 0;
    disk.lasting = disk.now;
    must_load(&disk, 2, 1);
    assert_non_null(strstr(refusals.last.text, OTHERS));
    assert_int_equal(load_with(&disk, P - 1, 1), FAILED);
    assert_int_equal(refusals.count, 2);
    assert_non_null(strstr(refusals.last.text, "5454 parameters, here 5453"));
    assert_non_null(strstr(problem.text, "none of the 2 checkpoints is usable"));
    /* the checkpoints are of another model, so they are not removed */
    assert_non_null(file_of(&disk, 2));
    assert_non_null(file_of(&disk, 3));
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_flipped_byte_is_noticed),
        TEST(every_truncation_is_noticed),
        TEST(behind_what_is_damaged_the_older_generation_loads),
        TEST(detects_bytes_beyond_the_end),
        TEST(a_chunk_in_the_place_of_another_is_noticed),
        TEST(a_renamed_generation_is_refused),
        TEST(rejects_and_names_another_models_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
