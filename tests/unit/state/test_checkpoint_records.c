/* Contents of checkpoints. A file with valid checksums and an impossible header or record is
 * rejected with one message. The previous generation is loaded. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "state/checkpoint_file.h"
#include "support/state/checkpoint_story.h"

#define RECORDS_MAX 64
#define FEW         300 /* parameters, in three parts */

static uint8_t stream[FILE_MAX], changed[FILE_MAX];
static size_t bytes;

/* Offsets in the stream of each record and of the stream's end. */
static size_t record_at[RECORDS_MAX + 1];
static int records;

static struct checkpoint_head head_at(size_t at)
{
    struct checkpoint_head head;
    memcpy(&head, stream + at, sizeof head);
    return head;
}

static size_t record_bytes(size_t at)
{
    const struct checkpoint_head head = head_at(at);
    switch (head.kind) {
    case SNAPSHOT_PART:
        return sizeof head + 3 * sizeof(float) * head.count;
    case CHECKPOINT_THE_END:
        return sizeof head + head.count + sizeof(struct checkpoint_numbers);
    default:
        return sizeof head + (sizeof(uint32_t) + 1) * head.count;
    }
}

/* Saves two generations. Sets `stream` to a copy of the second one. */
static int begin_with_two(void **state)
{
    (void)begin(state);
    story_part = 100;
    story_init(&saved, FEW, 1);
    save_two();
    bytes = story_stream(&disk, 2, stream);
    records = 0;
    for (size_t at = sizeof(struct checkpoint_header) + strlen(MODEL); at < bytes;
         at += record_bytes(at)) {
        assert_true(records < RECORDS_MAX);
        record_at[records++] = at;
    }
    record_at[records] = bytes;
    assert_int_equal(records, 3 + 2 * 2 + 1);
    return 0;
}

static int find(uint32_t kind)
{
    int i = 0;
    while (i < records && head_at(record_at[i]).kind != kind)
        i++;
    assert_true(i < records);
    return i;
}

/* Writes the changed bytes as generation 2. Checks that generation 2 is rejected for this reason
 * and generation 1 is loaded. */
static void must_be_refused(size_t size, const char *why)
{
    disk.file_count = 2; /* the new file replaces the old one */
    story_put_stream(&disk, 2, changed, size);
    assert_int_equal(load_with(&disk, FEW, 1), OK);
    assert_int_equal(series.good, 1);
    assert_int_equal(refusals.count, 1);
    if (!strstr(refusals.last.text, why) || strchr(refusals.last.text, '\n'))
        fail_msg("'%s', not '%s'", refusals.last.text, why);
    assert_true(story_is(&loaded, 1));
}

static void must_be_taken(size_t size)
{
    disk.file_count = 2;
    story_put_stream(&disk, 2, changed, size);
    assert_int_equal(load_with(&disk, FEW, 1), OK);
    assert_int_equal(series.good, 2);
    assert_true(story_is(&loaded, 2));
}

static void as_it_was(void)
{
    memcpy(changed, stream, bytes);
}

static void the_same_bytes_are_taken(void **state)
{
    (void)state;
    as_it_was();
    must_be_taken(bytes);
}

static void a_header_that_contradicts_itself_is_refused(void **state)
{
    (void)state;
    struct checkpoint_header right;
    memcpy(&right, stream, sizeof right);
    for (int i = 0; i < 9; i++) {
        struct checkpoint_header h = right;
        uint32_t *const words[] = {&h.format, &h.moments, &h.model_bytes, &h.part_parameters};
        as_it_was();
        if (i < 4)
            *words[i] = UINT32_MAX;
        else if (i < 6)
            *(i == 4 ? &h.generation : &h.parameters) = UINT64_MAX;
        else if (i == 6)
            h.magic[0]++;
        else
            h.part_parameters = i == 7 ? 0 : FEW + 1;
        memcpy(changed, &h, sizeof h);
        must_be_refused(bytes, i == 0   ? "format 4294967295"
                               : i == 6 ? "is not a checkpoint"
                                        : "is inconsistent");
    }
}

/* A header with sizes above the maximum is rejected, even if its numbers agree with each other. */
static void a_header_that_asks_for_more_room_than_there_may_be_is_refused(void **state)
{
    (void)state;
    struct checkpoint_header right;
    memcpy(&right, stream, sizeof right);
    for (int i = 0; i < 3; i++) {
        struct checkpoint_header h = right;
        as_it_was();
        if (i == 0)
            h.model_bytes = CHECKPOINT_MODEL_MAX + 1;
        else
            h.parameters = i == 1 ? (uint64_t)INT32_MAX + 1 : INT32_MAX;
        if (i == 2)
            h.part_parameters = INT32_MAX;
        memcpy(changed, &h, sizeof h);
        must_be_refused(bytes, "is inconsistent");
    }
}

static void another_format_is_named(void **state)
{
    (void)state;
    struct checkpoint_header header;
    as_it_was();
    memcpy(&header, stream, sizeof header);
    header.format = 2;
    memcpy(changed, &header, sizeof header);
    must_be_refused(bytes, "has format 2, but this program reads formats 4 and 5");
}

/* Writes the stream in the previous release's format. Returns its size in bytes. */
static size_t as_before(void)
{
    const size_t header = sizeof(struct checkpoint_header) + strlen(MODEL);
    const size_t short_head = offsetof(struct checkpoint_head, beta);
    const uint32_t outer_step[4] = {4};
    size_t to = header;
    memcpy(changed, stream, header);
    changed[offsetof(struct checkpoint_header, format)] = 4;
    for (int i = 0; i < records; i++) {
        const size_t at = record_at[i] + sizeof(struct checkpoint_head), end = record_at[i + 1];
        struct checkpoint_head head = head_at(record_at[i]);
        const size_t base = head.kind == SNAPSHOT_PART ? head.count * sizeof(int32_t) : 0;
        if (head.kind != SNAPSHOT_PART) {
            memcpy(changed + to, outer_step, sizeof outer_step);
            to += sizeof outer_step;
        }
        head.kind += head.kind == CHECKPOINT_THE_END;
        memcpy(changed + to, &head, short_head);
        memcpy(changed + to + short_head, stream + at, base);
        /* the older format also has an earlier base */
        memset(changed + to + short_head + base, 0x77, base);
        memcpy(changed + to + short_head + 2 * base, stream + at + base, end - at - base);
        to += short_head + base + end - at;
    }
    return to;
}

static void loads_the_previous_releases_format(void **state)
{
    static struct story want;
    (void)state;
    const size_t size = as_before();
    disk.file_count = 2;
    story_put_stream(&disk, 2, changed, size);
    assert_int_equal(load_with(&disk, FEW, 1), OK);
    assert_int_equal(series.good, 2);
    story_init(&want, FEW, 1);
    story_fill(&want, 2);
    story_walk(&want, 2, NULL);
    assert_memory_equal(loaded.state.base, want.state.base, FEW * sizeof(int32_t));
    assert_memory_equal(loaded.state.moment[0], want.state.moment[0], FEW * sizeof(float));
    assert_true(loaded.checkpoint.digest == story_digest(&want.state));
    assert_true(loaded.checkpoint.state.samples == want.state.samples);
    for (int i = 0; i < records; i++) /* a truncated stream is rejected */
        must_be_refused(size - 1 - (size_t)i, "damaged or missing");
}

static void a_stream_that_ends_at_a_record_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < records; i++) {
        as_it_was();
        must_be_refused(record_at[i], "damaged or missing");
        must_be_refused(record_at[i] + sizeof(struct checkpoint_head), "damaged or missing");
        must_be_refused(record_at[i + 1] - 1, "damaged or missing");
    }
    as_it_was();
    changed[bytes] = 0;
    must_be_refused(bytes + 1, "has bytes after its end");
}

static void a_record_that_is_missing_or_there_twice_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < records; i++) {
        const size_t from = record_at[i], to = record_at[i + 1];
        const uint32_t kind = head_at(from).kind;
        as_it_was();
        memmove(changed + from, stream + to, bytes - to);
        must_be_refused(bytes - (to - from), kind == CHECKPOINT_THE_END ? "damaged or missing"
                                             : kind == SNAPSHOT_PART    ? "is invalid"
                                                                        : "digest");
        as_it_was();
        memmove(changed + to, stream + from, bytes - from);
        must_be_refused(bytes + (to - from), kind == CHECKPOINT_THE_END ? "has bytes after its end"
                                             : kind == SNAPSHOT_PART    ? "is invalid"
                                                                        : "digest");
    }
}

/* Changes one number of each head in turn. */
static void a_head_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < records; i++) {
        const struct checkpoint_head right = head_at(record_at[i]);
        const bool is_update = right.kind == SNAPSHOT_APPLIED || right.kind == SNAPSHOT_OWN;
        for (int change = 0; change < 8; change++) {
            struct checkpoint_head head = right;
            if (change < 2)
                head.kind = change == 0 ? 0 : CHECKPOINT_THE_END + 1;
            else if (change == 2)
                head.count = UINT32_MAX;
            else if (change == 3)
                head.amount = AMOUNT_MAX + 1;
            else if (change == 4)
                head.beta = (float)NAN;
            else
                head.tau = change == 5 ? (float)NAN : change == 6 ? 2 * TAU_MAX : 0;
            if (change > 2 && !is_update)
                continue; /* this kind of record does not use the field */
            as_it_was();
            memcpy(changed + record_at[i], &head, sizeof head);
            must_be_refused(bytes, "is invalid");
        }
    }
}

static void an_update_of_what_is_not_there_yet_is_refused(void **state)
{
    (void)state;
    const size_t at = record_at[find(SNAPSHOT_APPLIED)];
    const uint32_t count = head_at(at).count;
    uint32_t index[2], beyond = 100; /* an index behind the first part */
    uint8_t *const indexes = changed + at + sizeof(struct checkpoint_head);
    assert_true(count > 2);
    as_it_was();
    memcpy(indexes + (count - 1) * sizeof beyond, &beyond, sizeof beyond);
    must_be_refused(bytes, "is invalid");
    as_it_was();
    memcpy(index, indexes, sizeof index);
    memcpy(indexes, &index[1], sizeof *index);
    must_be_refused(bytes, "is invalid");
    as_it_was();
    indexes[count * sizeof *index] = (uint8_t)INT8_MIN;
    must_be_refused(bytes, "is invalid");
}

/* The checksums are valid, but the digest is of another base. */
static void a_base_without_its_digest_is_refused(void **state)
{
    (void)state;
    as_it_was();
    changed[record_at[0] + sizeof(struct checkpoint_head)] ^= 1;
    must_be_refused(bytes, "digest");
    as_it_was();
    changed[bytes - 1] ^= 1;
    must_be_refused(bytes, "digest");
}

static void before_all_parts_there_is_no_end(void **state)
{
    (void)state;
    const size_t end = record_at[records - 1];
    for (int i = 0; i < records - 1; i++) {
        as_it_was();
        memmove(changed + record_at[i], stream + end, bytes - end);
        must_be_refused(record_at[i] + bytes - end, "is invalid");
    }
}

#define TEST(name) cmocka_unit_test_setup(name, begin_with_two)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_bytes_are_taken),
        TEST(a_header_that_contradicts_itself_is_refused),
        TEST(a_header_that_asks_for_more_room_than_there_may_be_is_refused),
        TEST(another_format_is_named),
        TEST(loads_the_previous_releases_format),
        TEST(a_stream_that_ends_at_a_record_is_refused),
        TEST(a_record_that_is_missing_or_there_twice_is_refused),
        TEST(a_head_that_makes_no_sense_is_refused),
        TEST(an_update_of_what_is_not_there_yet_is_refused),
        TEST(a_base_without_its_digest_is_refused),
        TEST(before_all_parts_there_is_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
