/* Swarm keys in the state folder: secret, complete, and loaded unchanged. Each test creates a
 * folder in the working directory and removes it. */
#include <fcntl.h>
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

#include "state/swarm_key_files.h"

static char folder[] = "test_swarm_keys.XXXXXX";
static struct problem problem;
static uint8_t got[NODE_SWARM_KEYS_MAX];
static const uint8_t three[NODE_SWARM_KEYS_MAX] = {
    [0] = 3, [KEY_BYTES] = 2, [2 * KEY_BYTES] = 1}; /* the newest key is first */

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    static const char *const names[] = {SWARM_KEY_FILE, SWARM_KEY_OLDER_FILE, SWARM_KEY_NEXT_FILE};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(names[i]);
    return chdir("..") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static size_t loaded(void)
{
    size_t bytes = 7;
    assert_int_equal(swarm_key_files_load(".", got, &bytes, &problem), OK);
    return bytes;
}

static void save(size_t bytes)
{
    assert_int_equal(swarm_key_files_save(disk_real(), ".", three, bytes, &problem), OK);
}

static void assert_secret(const char *name)
{
    struct stat about;
    assert_int_equal(stat(name, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
}

static void a_folder_without_files_has_no_keys(void **state)
{
    (void)state;
    assert_int_equal(loaded(), 0);
    assert_int_equal(swarm_key_files_next(".", got, &problem), MISSING);
}

static void the_newest_two_are_kept_and_secret(void **state)
{
    (void)state;
    save(3 * KEY_BYTES);
    assert_int_equal(loaded(), 2 * KEY_BYTES);
    assert_memory_equal(got, three, 2 * KEY_BYTES);
    assert_secret(SWARM_KEY_FILE);
    assert_secret(SWARM_KEY_OLDER_FILE);
}

static void the_newest_is_a_file_as_any_swarm_key(void **state)
{
    (void)state;
    uint8_t key[KEY_BYTES];
    save(KEY_BYTES);
    assert_int_equal(swarm_key_load(key, SWARM_KEY_FILE, &problem), OK);
    assert_memory_equal(key, three, KEY_BYTES);
}

static void an_old_key_that_lets_in_nobody_leaves_the_disk(void **state)
{
    (void)state;
    save(2 * KEY_BYTES);
    save(KEY_BYTES);
    assert_int_equal(loaded(), KEY_BYTES);
    assert_int_equal(access(SWARM_KEY_OLDER_FILE, F_OK), -1);
}

static void a_key_is_handed_over_until_it_is_taken(void **state)
{
    (void)state;
    assert_int_equal(swarm_key_files_hand_over(disk_real(), ".", three, &problem), OK);
    assert_secret(SWARM_KEY_NEXT_FILE);
    assert_int_equal(swarm_key_files_hand_over(disk_real(), ".", three, &problem), OK);
    assert_int_equal(swarm_key_files_next(".", got, &problem), OK);
    assert_memory_equal(got, three, KEY_BYTES);
    swarm_key_files_taken(disk_real(), ".");
    assert_int_equal(swarm_key_files_next(".", got, &problem), MISSING);
}

static void a_file_that_others_may_read_is_refused(void **state)
{
    (void)state;
    size_t bytes = 7;
    save(2 * KEY_BYTES);
    assert_int_equal(chmod(SWARM_KEY_OLDER_FILE, 0644), 0);
    assert_int_equal(swarm_key_files_load(".", got, &bytes, &problem), FORGED);
    assert_non_null(strstr(problem.text, "chmod 600 ./" SWARM_KEY_OLDER_FILE));
}

static void a_folder_that_cannot_be_written_says_so(void **state)
{
    (void)state;
    assert_int_equal(swarm_key_files_save(disk_real(), "gone", three, KEY_BYTES, &problem), FAILED);
    assert_non_null(strstr(problem.text, "gone/" SWARM_KEY_FILE ": cannot be written"));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_folder_without_files_has_no_keys),
        IN_FOLDER(the_newest_two_are_kept_and_secret),
        IN_FOLDER(the_newest_is_a_file_as_any_swarm_key),
        IN_FOLDER(an_old_key_that_lets_in_nobody_leaves_the_disk),
        IN_FOLDER(a_key_is_handed_over_until_it_is_taken),
        IN_FOLDER(a_file_that_others_may_read_is_refused),
        IN_FOLDER(a_folder_that_cannot_be_written_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
