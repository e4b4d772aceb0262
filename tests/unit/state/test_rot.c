/* Checkpoints in which a disk has damaged, cut or exchanged something, or that others wrote, are
 * never taken for what they were: the generation before is (the disk: memory_disk.h). */
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

static void what_goes_on_beyond_its_end_is_noticed(void **state)
{
    const size_t rest = sizeof(struct checkpoint_header) + strlen(MODEL) + OWN;
    const size_t cases[] = {P, (CHUNK_PAYLOAD - rest) / 16}; /* the last fills a chunk */
    for (int i = 0; i < 2; i++) {
        (void)begin(state);
        story_init(&saved, cases[i], 1);
        story_fill(&saved, 1);
        assert_int_equal(checkpoint_save(&disk.table, FOLDER, &saved.checkpoint, &series, &problem),
                         OK);
        struct memory_file *file = file_of(&disk, 1);
        assert_int_equal(load_with(&disk, cases[i], 1), OK);
        for (size_t more = 1; file->size + more <= FILE_MAX; more *= 3) {
            file->size += more;
            assert_int_equal(load_with(&disk, cases[i], 1), FAILED);
            file->size -= more;
        }
    }
}

/* Two chunks of the same length change places; and one is as it was in an older generation. */
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

static void what_another_model_wrote_is_refused_and_named(void **state)
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
    assert_non_null(strstr(refusals.last.text, "4090 parameters, here 4089"));
    assert_non_null(strstr(problem.text, "none of the checkpoints here (2) can be used"));
    assert_non_null(file_of(&disk, 2)); /* to remove them is not ours */
    assert_non_null(file_of(&disk, 3));
}

/* Generation 2, well summed: this header, and behind it what was saved last and some more bytes. */
static void put_second(const struct checkpoint_header *header, size_t more)
{
    static struct checksummed_writer writer;
    static const uint8_t bytes[16];
    const struct learner_state *s = &saved.checkpoint.state;
    const void *const vectors[] = {s->base, s->base_at_last_publish, s->weights, s->moment[0]};
    struct atomic_file file;
    disk.file_count = 2; /* in the room of the one before */
    atomic_file_begin(&file, &disk.table, FOLDER, "checkpoint-2", ATOMIC_FILE_PRIVATE);
    checksummed_writer_init(&writer, &file, 2);
    checksummed_write(&writer, header, sizeof *header);
    checksummed_write(&writer, MODEL, strlen(MODEL));
    checksummed_write(&writer, saved.own, OWN);
    for (int i = 0; i < 4; i++)
        checksummed_write(&writer, vectors[i], P * sizeof(float));
    checksummed_write(&writer, bytes, more);
    checksummed_write_end(&writer);
    assert_int_equal(atomic_file_end(&file), 0);
}

static struct checkpoint_header second_header(void)
{
    struct checkpoint_header header;
    memcpy(&header, file_of(&disk, 2)->bytes, sizeof header);
    return header;
}

static void a_header_that_contradicts_itself_is_refused(void **state)
{
    (void)state;
    save_two();
    const struct checkpoint_header right = second_header();
    put_second(&right, 0);
    must_load(&disk, 2, 0);
    for (int i = 0; i < 9; i++) {
        struct checkpoint_header h = right;
        uint32_t *const words[] = {&h.format, &h.moments, &h.model_bytes, &h.own_bytes};
        uint64_t *const numbers[] = {&h.total_bytes, &h.generation, &h.parameters};
        if (i < 4)
            *words[i] = UINT32_MAX;
        else if (i < 7)
            *numbers[i - 4] = UINT64_MAX;
        else
            (i == 7 ? h.magic[0]++ : (char)h.total_bytes++);
        put_second(&h, 0);
        must_load(&disk, 1, 1);
        const char *const why = i == 0   ? "format 4294967295"
                                : i == 7 ? "is no checkpoint"
                                         : "contradicts itself";
        assert_non_null(strstr(refusals.last.text, why));
    }
}

/* Nothing is read beyond the room there is, even if the header agrees with itself. */
static void a_header_that_asks_for_more_room_than_there_may_be_is_refused(void **state)
{
    (void)state;
    save_two();
    const struct checkpoint_header right = second_header();
    for (int i = 0; i < 3; i++) {
        struct checkpoint_header h = right;
        if (i == 0)
            h.own_bytes = CHECKPOINT_OWN_MAX + 1;
        else if (i == 1)
            h.model_bytes = CHECKPOINT_MODEL_MAX + 1;
        else
            h.parameters = (uint64_t)INT32_MAX + 1;
        h.total_bytes = checkpoint_total_bytes(&h);
        put_second(&h, 0);
        must_load(&disk, 1, 1);
        assert_non_null(strstr(refusals.last.text, "contradicts itself"));
    }
}

static void well_summed_bytes_beyond_the_end_are_refused(void **state)
{
    (void)state;
    save_two();
    const struct checkpoint_header right = second_header();
    put_second(&right, 1);
    must_load(&disk, 1, 1);
    assert_non_null(strstr(refusals.last.text, "longer than its header says"));
}

/* The checksums hold, but the base is not the one that the header speaks of. */
static void a_base_without_its_digest_is_refused(void **state)
{
    (void)state;
    save_two();
    const struct checkpoint_header right = second_header();
    saved.checkpoint.state.base[P - 1] ^= 1;
    put_second(&right, 0);
    must_load(&disk, 1, 1);
    assert_non_null(strstr(refusals.last.text, "digest"));
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_flipped_byte_is_noticed),
        TEST(every_truncation_is_noticed),
        TEST(behind_what_is_damaged_the_older_generation_loads),
        TEST(what_goes_on_beyond_its_end_is_noticed),
        TEST(a_chunk_in_the_place_of_another_is_noticed),
        TEST(a_renamed_generation_is_refused),
        TEST(what_another_model_wrote_is_refused_and_named),
        TEST(a_header_that_contradicts_itself_is_refused),
        TEST(a_header_that_asks_for_more_room_than_there_may_be_is_refused),
        TEST(well_summed_bytes_beyond_the_end_are_refused),
        TEST(a_base_without_its_digest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
