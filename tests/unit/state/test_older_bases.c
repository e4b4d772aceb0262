/* Older bases: when a base is kept, which one is removed, and other files in the folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "state/older_bases.h"
#include "support/state/memory_disk.h"

#define BEGIN_S 1795617005ull /* 2026-11-25 14:30:05 UTC */
#define HOUR_S  3600ull

static char folder[64];
static struct older_bases bases;

/* Replaces the folder's base by a new one, as a save does. */
static void save_base(const char *text)
{
    char path[BASE_PATH_BYTES], fresh[BASE_PATH_BYTES + 4];
    export_path(path, folder);
    (void)snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = fopen(fresh, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(fresh, path), 0);
}

static void list(void)
{
    struct problem problem;
    assert_int_equal(older_bases_list(disk_real(), folder, &bases, &problem), OK);
}

static void keep(uint64_t now_s, uint32_t most)
{
    struct problem problem;
    if (older_bases_keep(disk_real(), folder, now_s, most, &problem) != OK)
        fail_msg("%s", problem.text);
    list();
}

static void must_hold(uint64_t saved_s, const char *text)
{
    char path[BASE_PATH_BYTES], read[32] = "";
    older_bases_path(path, folder, saved_s);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(read, sizeof read, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(read, text);
}

static int start(void **state)
{
    (void)state;
    (void)strcpy(folder, "/tmp/hearsay-older-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int stop(void **state)
{
    char path[BASE_PATH_BYTES];
    (void)state;
    list();
    for (uint32_t i = 0; i < bases.count; i++) {
        older_bases_path(path, folder, bases.saved_s[i]);
        assert_int_equal(unlink(path), 0);
    }
    export_path(path, folder);
    (void)unlink(path);
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

static void one_is_kept_an_hour_after_the_one_before(void **state)
{
    (void)state;
    save_base("first");
    keep(BEGIN_S, 4);
    save_base("second");
    keep(BEGIN_S + HOUR_S - 1, 4);
    assert_int_equal(bases.count, 1);
    must_hold(BEGIN_S, "first");
    save_base("third");
    keep(BEGIN_S + HOUR_S, 4);
    assert_int_equal(bases.count, 2);
    must_hold(BEGIN_S, "first");
    must_hold(BEGIN_S + HOUR_S, "third");
}

static void none_is_kept_where_none_is_to_be(void **state)
{
    (void)state;
    save_base("first");
    keep(BEGIN_S, 0);
    assert_int_equal(bases.count, 0);
}

static void a_single_place_keeps_the_newest_base(void **state)
{
    (void)state;
    for (uint64_t hour = 0; hour < 5; hour++) {
        save_base("one");
        keep(BEGIN_S + hour * HOUR_S, 1);
        assert_int_equal(bases.count, 1);
        assert_true(bases.saved_s[0] == BEGIN_S + hour * HOUR_S);
    }
}

/* For any time at which harm may have begun, a base from shortly before is kept. */
static void they_lie_the_closer_the_younger_they_are(void **state)
{
    (void)state;
    enum { HOURS = 1000, MOST = 8 };
    for (uint64_t hour = 0; hour < HOURS; hour++) {
        const uint64_t now_s = BEGIN_S + hour * HOUR_S;
        save_base("some");
        keep(now_s, MOST);
        assert_int_equal(bases.count, hour < MOST ? hour + 1 : MOST);
        assert_true(bases.saved_s[0] == BEGIN_S && bases.saved_s[bases.count - 1] == now_s);
        for (uint32_t i = 1; i < bases.count; i++) {
            const uint64_t older = (now_s - bases.saved_s[i - 1]) / HOUR_S + 1;
            const uint64_t younger = (now_s - bases.saved_s[i]) / HOUR_S + 1;
            assert_in_range(older, younger + 1, 5 * younger);
        }
    }
}

static void a_clock_that_was_ahead_is_not_waited_for(void **state)
{
    (void)state;
    save_base("ahead");
    keep(BEGIN_S + 1000 * HOUR_S, 3);
    save_base("right");
    keep(BEGIN_S, 3);
    assert_int_equal(bases.count, 2);
    must_hold(BEGIN_S, "right");
}

static void other_files_are_left_alone(void **state)
{
    (void)state;
    static const char *const OTHERS[] = {
        "base-20261125-143005.safetensors.new", "base-2026115-143005.safetensors",
        "base-20260231-120000.safetensors", "my-base-20261125-143005.safetensors",
        "base-.safetensors"};
    char path[BASE_PATH_BYTES];
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, OTHERS[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    save_base("first");
    keep(BEGIN_S, 4);
    assert_int_equal(bases.count, 1);
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, OTHERS[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

static void reports_a_base_that_cannot_be_kept(void **state)
{
    (void)state;
    struct problem problem = {""};
    assert_int_equal(older_bases_keep(disk_real(), folder, BEGIN_S, 4, &problem),
                     FAILED); /* there is no base */
    assert_non_null(strstr(problem.text, "cannot keep this base"));
    assert_non_null(strstr(problem.text, "node.older_bases = 0"));
}

/* Makes a folder with three older bases, and a newer one that was just saved. */
static void three_and_a_new_one(struct memory_disk *disk)
{
    char path[BASE_PATH_BYTES];
    memory_disk_init(disk);
    for (uint64_t i = 0; i < 3; i++) {
        older_bases_path(path, FOLDER, BEGIN_S + i * HOUR_S);
        (void)memory_disk_put(disk, path + sizeof FOLDER, &i, 1);
    }
    export_path(path, FOLDER);
    (void)memory_disk_put(disk, path + sizeof FOLDER, "\3", 1);
}

static enum error keep_the_new_one(struct memory_disk *disk, struct problem *problem)
{
    return older_bases_keep(&disk->table, FOLDER, BEGIN_S + 3 * HOUR_S, 3, problem);
}

/* Checks that three or four bases are present and unchanged, among them the first one, and the new
 * one if is_kept. */
static void must_be_sound(struct memory_disk *disk, bool is_kept)
{
    char path[BASE_PATH_BYTES];
    struct older_bases found;
    struct problem problem;
    memory_disk_heal(disk);
    assert_int_equal(older_bases_list(&disk->table, FOLDER, &found, &problem), OK);
    assert_in_range(found.count, 3, 4);
    assert_true(found.saved_s[0] == BEGIN_S);
    for (uint32_t i = 0; i < found.count; i++) {
        older_bases_path(path, FOLDER, found.saved_s[i]);
        const struct memory_file *file = memory_disk_file(disk, path + sizeof FOLDER);
        assert_true(file && file->size == 1);
        assert_true(file->bytes[0] == (found.saved_s[i] - BEGIN_S) / HOUR_S);
    }
    if (is_kept)
        assert_true(found.saved_s[found.count - 1] == BEGIN_S + 3 * HOUR_S);
}

static void a_failing_disk_costs_no_older_base_and_is_named(void **state)
{
    (void)state;
    static struct memory_disk disk;
    unsigned failed = 0;
    bool is_over = false;
    for (int at = 0; !is_over; at++) {
        struct problem problem = {""};
        three_and_a_new_one(&disk);
        disk.fail_at = at;
        disk.fail_error = EROFS;
        const bool is_kept = keep_the_new_one(&disk, &problem) == OK;
        is_over = !disk.has_failed;
        if (!is_over)
            failed |= OPERATION(disk.failed_in);
        assert_true(is_kept || strstr(problem.text, strerror(EROFS)));
        must_be_sound(&disk, is_kept);
    }
    assert_int_equal(failed, OPERATION(LIST) | OPERATION(LINK) | OPERATION(SYNC_FOLDER) |
                                 OPERATION(REMOVE));
}

static void a_crash_costs_no_older_base(void **state)
{
    (void)state;
    static struct memory_disk before, after;
    bool is_over = false;
    for (int at = 0; !is_over; at++) {
        struct problem problem;
        three_and_a_new_one(&before);
        before.cut_at = at;
        const bool is_kept = keep_the_new_one(&before, &problem) == OK;
        is_over = !before.has_failed;
        for (unsigned names = 0; names < 1u << before.pending_count; names++) {
            memory_disk_crash(&after, &before, 0, names);
            must_be_sound(&after, is_kept);
            /* the next start keeps the new base */
            assert_int_equal(keep_the_new_one(&after, &problem), OK);
            must_be_sound(&after, true);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_is_kept_an_hour_after_the_one_before),
        TEST(none_is_kept_where_none_is_to_be),
        TEST(a_single_place_keeps_the_newest_base),
        TEST(they_lie_the_closer_the_younger_they_are),
        TEST(a_clock_that_was_ahead_is_not_waited_for),
        TEST(other_files_are_left_alone),
        TEST(reports_a_base_that_cannot_be_kept),
        cmocka_unit_test(a_failing_disk_costs_no_older_base_and_is_named),
        cmocka_unit_test(a_crash_costs_no_older_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
