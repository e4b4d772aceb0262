#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_BYTES 512

/* Keep the end of what it writes to stderr. */
static void listen_to_end(int from, char said[static SAID_BYTES])
{
    size_t used = 0;
    char piece[SAID_BYTES / 2];
    for (;;) {
        const ssize_t got = read(from, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        const size_t room = SAID_BYTES - 1 - (size_t)got;
        if (used > room) {
            memmove(said, said + used - room, room);
            used = room;
        }
        memcpy(said + used, piece, (size_t)got);
        used += (size_t)got;
    }
    said[used] = 0;
}

static int spawn(pid_t *pid, const char *dir, char *const *argv, int complaints)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, complaints, 2);
    if (!error)
        error = posix_spawn_file_actions_addchdir_np(&actions, dir);
    if (!error)
        error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* 0: success; > 0: errno of the system; < 0: it failed, see said. */
static int run(const char *dir, char *const *argv, char said[static SAID_BYTES])
{
    int ends[2], status = 0;
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    const int error = spawn(&pid, dir, argv, ends[1]);
    (void)close(ends[1]);
    if (!error) {
        listen_to_end(ends[0], said);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    (void)close(ends[0]);
    if (error)
        return error;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

enum error gnuplot_ready(struct problem *problem)
{
    char said[SAID_BYTES] = "";
    char *const argv[] = {"gnuplot", "--version", NULL};
    if (run(".", argv, said) == 0)
        return OK;
    return problem_set(problem, MISSING,
                       "the plots need gnuplot, which does not start; apt-get install gnuplot-nox, "
                       "or leave out the folder");
}

/* The last line that is not blank says what is wrong. */
static const char *last_line(char *said)
{
    size_t used = strlen(said);
    while (used > 0 && (said[used - 1] == '\n' || said[used - 1] == ' '))
        said[--used] = 0;
    const char *feed = strrchr(said, '\n');
    const char *line = feed ? feed + 1 : said;
    return line + strspn(line, " ");
}

enum error gnuplot_draw(const char *dir, const char *kind, struct problem *problem)
{
    char said[SAID_BYTES] = "", set[32];
    (void)snprintf(set, sizeof set, "kind='%s'", kind);
    /* -d: ignore the user's start file. */
    char *const argv[] = {"gnuplot", "-d", "-e", set, "plot.gp", NULL};
    const int error = run(dir, argv, said);
    if (error > 0)
        return problem_set(problem, FAILED, "gnuplot does not start in %.200s: %s", dir,
                           strerror(error));
    if (error < 0)
        return problem_set(problem, FAILED, "gnuplot cannot draw %.200s/plot.gp: %.250s", dir,
                           last_line(said));
    return OK;
}
