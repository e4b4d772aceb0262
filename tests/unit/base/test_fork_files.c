/* In a forked child, all registered files are closed and all other files are open. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fork_files.h"

#define FORKS 50
#define FILES 300

static int open_one(void)
{
    const int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    return file;
}

static bool is_open(int file)
{
    return fcntl(file, F_GETFD) >= 0;
}

static int wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void a_child_has_no_registered_file(void **state)
{
    int file[FILES];
    (void)state;
    for (int i = 0; i < FILES; i++) { /* enough files to fill several words of the bit set */
        file[i] = open_one();
        fork_files_add(file[i]);
    }
    fork_files_add(file[0]); /* adding a file twice has no effect */
    const pid_t child = fork();
    if (child == 0) {
        int count = 0;
        for (int i = 0; i < FILES; i++)
            count += is_open(file[i]);
        _exit(count > 0);
    }
    assert_int_equal(wait_for(child), 0);
    for (int i = 0; i < FILES; i++) {
        assert_true(is_open(file[i])); /* the files are still open in the parent */
        fork_files_remove(file[i]);
        assert_int_equal(close(file[i]), 0);
    }
}

static void a_child_keeps_all_other_files(void **state)
{
    (void)state;
    const int other = open_one(), removed = open_one();
    fork_files_add(removed);
    fork_files_remove(removed);
    fork_files_remove(removed); /* removing a file twice has no effect */
    const pid_t child = fork();
    if (child == 0)
        _exit(!is_open(other) || !is_open(removed));
    assert_int_equal(wait_for(child), 0);
    assert_int_equal(close(other), 0);
    assert_int_equal(close(removed), 0);
}

/* The child opens a file, which gets a descriptor that the parent has registered. */
static void a_grandchild_keeps_its_parents_files(void **state)
{
    (void)state;
    const int file = open_one();
    fork_files_add(file);
    const pid_t child = fork();
    if (child == 0) {
        if (open("/dev/null", O_RDONLY) != file)
            _exit(2);
        const pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(!is_open(file));
        int status;
        (void)waitpid(grandchild, &status, 0);
        _exit(status != 0);
    }
    assert_int_equal(wait_for(child), 0);
    fork_files_remove(file);
    assert_int_equal(close(file), 0);
}

static atomic_bool has_ended;

static void *change(void *argument)
{
    (void)argument;
    while (!atomic_load(&has_ended)) {
        const int file = open_one();
        fork_files_add(file);
        fork_files_remove(file);
        (void)close(file);
    }
    return NULL;
}

static void a_fork_waits_for_threads_that_change_the_register(void **state)
{
    pthread_t thread;
    (void)state;
    atomic_store(&has_ended, false);
    assert_int_equal(pthread_create(&thread, NULL, change, NULL), 0);
    for (int i = 0; i < FORKS; i++) {
        const pid_t child = fork();
        if (child == 0) {
            const int file = open("/dev/null", O_RDONLY);
            fork_files_add(file); /* would hang if the mutex were still locked */
            fork_files_remove(file);
            _exit(0);
        }
        assert_int_equal(wait_for(child), 0);
    }
    atomic_store(&has_ended, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_no_registered_file),
        cmocka_unit_test(a_child_keeps_all_other_files),
        cmocka_unit_test(a_grandchild_keeps_its_parents_files),
        cmocka_unit_test(a_fork_waits_for_threads_that_change_the_register),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
