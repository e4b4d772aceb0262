/* In a process with few file descriptors, hearsay_open returns an error with a message. The process
 * continues. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/library/program.h"

#define FILES_MOST 60 /* descriptors that are enough to open a node */

/* Exit codes of a child. */
enum outcome { OPENED = 0, REFUSED = 1, WITHOUT_SENTENCE = 2 };

static _Noreturn void open_with(rlim_t files)
{
    struct program program;
    const struct rlimit limit = {.rlim_cur = files, .rlim_max = files};
    program_init(&program, "few", 1);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(WITHOUT_SENTENCE);
    const int error = program_open(&program);
    const bool says_why = strlen(program_sentence(&program, error)) > 20;
    if (error == HEARSAY_OK)
        (void)hearsay_join(program.node, 0);
    (void)hearsay_free(program.node);
    _exit(error == HEARSAY_OK ? OPENED : says_why ? REFUSED : WITHOUT_SENTENCE);
}

static void no_limit_of_files_ends_the_process(void **state)
{
    int seen[2] = {0};
    (void)state;
    program_need_identity("few.key", 1);
    for (rlim_t files = 3; files < FILES_MOST; files++) {
        int status;
        const pid_t child = fork();
        if (child == 0)
            open_with(files);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) > REFUSED)
            fail_msg("with %d files: status %d", (int)files, status);
        seen[WEXITSTATUS(status)]++;
    }
    assert_true(seen[OPENED] > 0 && seen[REFUSED] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_limit_of_files_ends_the_process),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
