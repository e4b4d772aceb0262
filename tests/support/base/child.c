#include "support/base/child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

int child_run(void (*act)(void), char *said, size_t capacity)
{
    int ends[2];
    int status;
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL); /* removes cmocka's handler */
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        act();
        _exit(0);
    }
    (void)close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while ((got = read(ends[0], said + used, capacity - 1 - used)) > 0)
        used += (size_t)got;
    said[used] = '\0';
    (void)close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}
