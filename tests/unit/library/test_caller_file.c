/* The caller's data in the state folder: a file is complete or absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "library/caller_file.h"
#include "support/library/program.h"

static void a_saved_file_loads_unchanged(void **state)
{
    static uint8_t bytes[200000];
    struct caller_file file = {.start_digest = 0x0123456789abcdef}, found = {.bytes = 1};
    struct problem problem;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i);
    assert_int_equal(caller_file_load(".", &found, &problem), MISSING);
    assert_int_equal(caller_file_save(".", &file, &problem), OK);
    assert_int_equal(caller_file_load(".", &found, &problem), OK);
    assert_true(found.start_digest == file.start_digest && found.bytes == 0 && !found.extra);
    file.extra = bytes;
    file.bytes = sizeof bytes;
    assert_int_equal(caller_file_save(".", &file, &problem), OK);
    assert_int_equal(caller_file_load(".", &found, &problem), OK);
    assert_int_equal(found.bytes, sizeof bytes);
    assert_memory_equal(found.extra, bytes, sizeof bytes);
    free(found.extra);
}

/* Flips the lowest bit of one byte. A second call restores the byte. */
static void flip(long offset, int from)
{
    FILE *file = fopen("caller", "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, from), 0);
    const int byte = fgetc(file);
    assert_int_equal(fseek(file, offset, from), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

static void damage_is_found(void **state)
{
    static const struct {
        long offset;
        int from;
    } places[] = {{0, SEEK_SET}, {8, SEEK_SET}, {100000, SEEK_SET}, {-1, SEEK_END}};
    struct caller_file found;
    struct problem problem;
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        flip(places[i].offset, places[i].from);
        assert_int_equal(caller_file_load(".", &found, &problem), MALFORMED);
        assert_non_null(strstr(problem.text, "is damaged"));
        flip(places[i].offset, places[i].from);
    }
    assert_int_equal(caller_file_load(".", &found, &problem), OK);
    free(found.extra);
}

static void a_folder_that_is_not_there_is_said(void **state)
{
    const struct caller_file file = {.bytes = 0};
    struct problem problem;
    bool has;
    (void)state;
    assert_int_equal(caller_file_save("nowhere", &file, &problem), FAILED);
    assert_non_null(strstr(problem.text, "nowhere/caller"));
    assert_int_equal(caller_file_has_checkpoint("nowhere", &has, &problem), FAILED);
    assert_int_equal(caller_file_has_checkpoint(".", &has, &problem), OK);
    assert_false(has);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_file_loads_unchanged),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(a_folder_that_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
