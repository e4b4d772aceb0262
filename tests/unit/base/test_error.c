/* Failed CHECKs: what they print, and the hooks that they run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "support/base/child.h"

static char said[8192]; /* standard error of the last child process */

static void a_problem_is_one_line_without_control_characters(void **state)
{
    struct problem problem;
    (void)state;
    assert_int_equal(problem_set(&problem, MISSING, "%s: not ё", "a\nb\033[2J\x7f"), MISSING);
    assert_string_equal(problem.text, "a?b?[2J?: not ё");
}

/* Runs a function in a child process. Checks that it aborts. */
static void abort_in_child(void (*act)(void))
{
    const int status = child_run(act, said, sizeof said);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void say(void *context)
{
    const char *text = context;
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(1);
}

static void fail_plainly(void)
{
    int two = 1;
    CHECK(two == 2);
}

static void a_failed_check_prints_its_place_condition_and_stack(void **state)
{
    (void)state;
    abort_in_child(fail_plainly);
    assert_non_null(strstr(said, "hearsay: a defect: "));
    assert_non_null(strstr(said, "test_error.c:"));
    assert_non_null(strstr(said, ": not (two == 2)\nbacktrace:\n"));
    assert_non_null(
        strstr(strstr(said, "backtrace:\n"), "test_error")); /* a frame of this program */
}

static void fail_with_hooks(void)
{
    char first[] = "first\n", second[] = "second\n", third[] = "third\n";
    struct check_hook hook[] = {{.run = say, .context = first},
                                {.run = say, .context = second},
                                {.run = say, .context = third}};
    for (int i = 0; i < 3; i++)
        check_on_failure(&hook[i]);
    check_forget(&hook[1]);
    fail_plainly();
}

static void hooks_run_the_latest_first_but_those_that_were_removed(void **state)
{
    (void)state;
    abort_in_child(fail_with_hooks);
    assert_non_null(strstr(said, "third\nfirst\n"));
    assert_null(strstr(said, "second"));
}

static void fail_again(void *context)
{
    const char *text = context;
    CHECK(text == NULL);
}

static void fail_in_a_hook(void)
{
    char once[] = "once\n";
    struct check_hook fails = {.run = fail_again, .context = once};
    struct check_hook says = {.run = say, .context = once};
    check_on_failure(&fails);
    check_on_failure(&says);
    fail_plainly();
}

static void a_hook_that_fails_ends_it(void **state)
{
    (void)state;
    abort_in_child(fail_in_a_hook);
    assert_non_null(strstr(said, "once\n"));
    assert_null(strstr(strstr(said, "once\n") + 1, "once\n"));
    assert_null(strstr(said, "text == NULL"));
}

static atomic_bool is_beside;

static void *fail_beside(void *unused)
{
    atomic_store(&is_beside, true);
    fail_plainly();
    return unused;
}

/* A hook during which another thread fails a CHECK. That thread must not end the process. */
static void see_another_fail(void *context)
{
    pthread_t other;
    char done[] = "done\n";
    (void)context;
    if (pthread_create(&other, NULL, fail_beside, NULL) != 0)
        _exit(1);
    while (!atomic_load(&is_beside))
        (void)sched_yield();
    for (int i = 0; i < 10000; i++)
        (void)sched_yield();
    say(done);
}

static void fail_beside_another(void)
{
    struct check_hook hook = {.run = see_another_fail};
    check_on_failure(&hook);
    fail_plainly();
}

static void a_second_thread_that_fails_waits_for_the_first(void **state)
{
    (void)state;
    abort_in_child(fail_beside_another);
    assert_non_null(strstr(said, "done\n"));
    assert_null(strstr(strstr(said, "not (") + 1, "not ("));
}

static void forget_what_is_not_there(void)
{
    struct check_hook there = {.run = say}, other = {.run = say};
    check_on_failure(&there);
    check_forget(&there);
    check_forget(&other);
}

static void only_a_hook_that_is_there_is_removed(void **state)
{
    (void)state;
    abort_in_child(forget_what_is_not_there);
    assert_non_null(strstr(said, "*at == hook"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_one_line_without_control_characters),
        cmocka_unit_test(a_failed_check_prints_its_place_condition_and_stack),
        cmocka_unit_test(hooks_run_the_latest_first_but_those_that_were_removed),
        cmocka_unit_test(a_hook_that_fails_ends_it),
        cmocka_unit_test(a_second_thread_that_fails_waits_for_the_first),
        cmocka_unit_test(only_a_hook_that_is_there_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
