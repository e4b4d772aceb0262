/* The incarnation increases with each start, despite failures of clock, disk and power. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "state/incarnation.h"
#include "support/state/memory_disk.h"

#define NOW     1700000000000u
#define RESERVE 1000
#define NAME    "incarnation"

static struct memory_disk disk, crashed, tried;
static struct problem problem;

static int begin(void **state)
{
    (void)state;
    memory_disk_init(&disk);
    return 0;
}

static uint64_t begin_on(struct memory_disk *on, uint64_t wall_ms)
{
    uint64_t incarnation = 0;
    assert_int_equal(
        incarnation_begin(&on->table, FOLDER, wall_ms, RESERVE, &incarnation, &problem), OK);
    return incarnation;
}

static void the_first_start_has_the_number_of_the_clock(void **state)
{
    (void)state;
    assert_true(begin_on(&disk, NOW) == NOW);
    assert_true(begin_on(&disk, NOW + 10 * RESERVE) == NOW + 10 * RESERVE);
}

static void a_later_start_is_above_all_earlier_numbers(void **state)
{
    (void)state;
    assert_true(begin_on(&disk, NOW) == NOW);
    assert_true(begin_on(&disk, NOW) == NOW + RESERVE);
    assert_true(begin_on(&disk, NOW - 500000) == NOW + 2 * RESERVE);
    assert_true(begin_on(&disk, 0) == NOW + 3 * RESERVE);
    assert_true(begin_on(&disk, NOW + 3 * RESERVE + 1) == NOW + 4 * RESERVE);
}

static void nothing_is_left_but_the_one_line(void **state)
{
    (void)state;
    memory_disk_put(&disk, NAME ".new", "half a li", 9);
    (void)begin_on(&disk, NOW);
    assert_null(memory_disk_file(&disk, NAME ".new"));
    const struct memory_file *file = memory_disk_file(&disk, NAME);
    assert_true(memchr(file->bytes, '\n', file->size) == file->bytes + file->size - 1);
    assert_memory_equal(file->bytes, "1700000001000 ", 14);
}

/* A number is returned only when its file is durable, so after a crash the next one is higher. */
static void after_a_crash_anywhere_the_next_start_is_above_all_before(void **state)
{
    (void)state;
    int crashes = 0, cut = 0;
    (void)begin_on(&disk, NOW);
    for (bool goes_on = true; goes_on; cut++) {
        memory_disk_copy(&tried, &disk);
        memory_disk_heal(&tried);
        tried.cut_at = cut;
        uint64_t second = 0;
        const bool begun =
            incarnation_begin(&tried.table, FOLDER, 0, RESERVE, &second, &problem) == OK;
        assert_true(begun == (second == NOW + RESERVE));
        goes_on = tried.has_failed;
        for (int kind = 0; kind < CRASH_KINDS; kind++) {
            for (unsigned names = 0; names < 1u << tried.pending_count; names++, crashes++) {
                memory_disk_crash(&crashed, &tried, kind, names);
                const uint64_t third = begin_on(&crashed, 0);
                assert_true(third == NOW + 2 * RESERVE || (third == NOW + RESERVE && !begun));
            }
        }
    }
    assert_true(cut > 8 && crashes > 200);
}

static void whatever_operation_fails_no_number_is_given_and_none_is_lost(void **state)
{
    (void)state;
    const int errors[] = {EIO, ENOSPC};
    (void)begin_on(&disk, NOW);
    for (int i = 0; i < 8; i++) {
        int at = 0, failures = 0;
        for (bool goes_on = true; goes_on; at++) {
            memory_disk_copy(&tried, &disk);
            memory_disk_heal(&tried);
            tried.fail_at = at;
            tried.fail_error = errors[i % 2];
            tried.fail_short = i % 4 / 2;
            tried.fail_on = i / 4;
            uint64_t second = 0;
            const enum error error =
                incarnation_begin(&tried.table, FOLDER, 0, RESERVE, &second, &problem);
            goes_on = tried.has_failed;
            failures += error != OK;
            assert_true(error == OK ? second == NOW + RESERVE : second == 0 && error == FAILED);
            assert_true(error == OK || strstr(problem.text, strerror(errors[i % 2])));
            memory_disk_heal(&tried);
            assert_true(begin_on(&tried, 0) >= NOW + RESERVE + (error == OK ? RESERVE : 0));
        }
        assert_true(failures >= 6 && at > 8);
    }
}

static void a_damaged_line_is_refused_and_stays(void **state)
{
    (void)state;
    (void)begin_on(&disk, NOW);
    struct memory_file *file = memory_disk_file(&disk, NAME);
    const struct memory_file whole = *file;
    uint64_t incarnation = 7;
    for (size_t i = 0; i < whole.size * 8; i++) {
        file->bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(incarnation_begin(&disk.table, FOLDER, NOW, 1, &incarnation, &problem),
                         MALFORMED);
        assert_non_null(strstr(problem.text, FOLDER "/" NAME ": is damaged"));
        file->bytes[i / 8] = whole.bytes[i / 8];
    }
    for (file->size = 0; file->size < whole.size; file->size++)
        assert_int_equal(incarnation_begin(&disk.table, FOLDER, NOW, 1, &incarnation, &problem),
                         MALFORMED);
    for (file->size++; file->size < 100; file->size++)
        assert_int_equal(incarnation_begin(&disk.table, FOLDER, NOW, 1, &incarnation, &problem),
                         MALFORMED);
    assert_int_equal(incarnation, 7);
    file->size = whole.size;
    assert_true(begin_on(&disk, 0) == NOW + RESERVE);
}

static void at_the_end_of_the_numbers_nothing_starts(void **state)
{
    (void)state;
    uint64_t incarnation = 7;
    assert_int_equal(
        incarnation_begin(&disk.table, FOLDER, UINT64_MAX - 9, 10, &incarnation, &problem), FAILED);
    assert_int_equal(incarnation, 7);
    assert_int_equal(
        incarnation_begin(&disk.table, FOLDER, UINT64_MAX - 10, 10, &incarnation, &problem), OK);
    assert_int_equal(incarnation_begin(&disk.table, FOLDER, NOW, 1, &incarnation, &problem),
                     FAILED);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_start_has_the_number_of_the_clock),
        TEST(a_later_start_is_above_all_earlier_numbers),
        TEST(nothing_is_left_but_the_one_line),
        TEST(after_a_crash_anywhere_the_next_start_is_above_all_before),
        TEST(whatever_operation_fails_no_number_is_given_and_none_is_lost),
        TEST(a_damaged_line_is_refused_and_stays),
        TEST(at_the_end_of_the_numbers_nothing_starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
