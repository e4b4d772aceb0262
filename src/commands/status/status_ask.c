#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "commands/status/status.h"
#include "daemon/status_server.h"

static enum error no_node(const char *dir, struct problem *problem)
{
    if (status_endpoint_is_taken(dir))
        return problem_set(problem, FAILED,
                           "the node of %s does not answer: it is starting or ending; try again",
                           dir);
    return problem_set(problem, MISSING,
                       "no node runs with the state_dir %s: start it (hearsay node), or name the "
                       "right folder with --state DIR or --config FILE",
                       dir);
}

static enum error connect_failed(const char *dir, int reason, struct problem *problem)
{
    if (reason == ENOENT || reason == ECONNREFUSED || reason == ENOTDIR)
        return no_node(dir, problem);
    if (reason == EACCES || reason == EPERM)
        return problem_set(
            problem, FAILED,
            "%s/" STATUS_SOCKET
            " belongs to another user: run the command as the user that runs the node",
            dir);
    if (reason == EAGAIN)
        return problem_set(
            problem, FAILED,
            "the node of %s does not answer, and many requests are waiting: it is stopped or hangs",
            dir);
    return problem_set(problem, FAILED, "cannot connect to %s/" STATUS_SOCKET ": %s", dir,
                       strerror(reason));
}

/* Connects a socket to the node. A later read or write fails if it takes longer than wait_ms. */
static enum error connect_to(const char *dir, int wait_ms, int *out, struct problem *problem)
{
    const struct timeval wait = {.tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000};
    struct status_place place;
    const int asking = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_connected = false;
    if (asking >= 0 && status_place_open(&place, dir)) {
        (void)setsockopt(asking, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        (void)setsockopt(asking, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
        is_connected =
            connect(asking, (const struct sockaddr *)&place.address, sizeof place.address) == 0;
        const int reason = errno;
        status_place_close(&place);
        errno = reason;
    }
    if (is_connected) {
        *out = asking;
        return OK;
    }
    const enum error error = connect_failed(dir, errno, problem);
    if (asking >= 0)
        (void)close(asking);
    return error;
}

/* Returns an error that says why no status page came: the node did not answer in time, ended, or
 * sent something else. */
static enum error no_page(const char *dir, int asking, int reason, int received, int wait_ms,
                          struct problem *problem)
{
    struct ucred node = {0};
    socklen_t bytes = sizeof node;
    (void)getsockopt(asking, SOL_SOCKET, SO_PEERCRED, &node, &bytes);
    if (reason == EAGAIN)
        return problem_set(problem, FAILED,
                           "the node of %s (process %d) has not answered within %g s: it is "
                           "stopped, it hangs, or its machine is overloaded",
                           dir, (int)node.pid, wait_ms * 1e-3);
    if (reason || received == 0)
        return problem_set(problem, FAILED, "the node of %s ended instead of answering", dir);
    return problem_set(problem, MALFORMED,
                       "the answer is not the status of a node: another program answered, or a "
                       "node of another version");
}

enum error status_ask(const char *dir, int wait_ms, json_t **page, struct problem *problem)
{
    int asking = -1;
    json_error_t where;
    CHECK(wait_ms > 0);
    enum error error = connect_to(dir, wait_ms, &asking, problem);
    if (error != OK)
        return error;
    FILE *in = fdopen(asking, "r");
    CHECK(in);
    errno = 0;
    *page = json_loadf(in, 0, &where);
    const int reason = ferror(in) ? errno : 0;
    if (reason || !json_is_string(json_object_get(*page, "stage"))) {
        json_decref(*page);
        error = no_page(dir, asking, reason, where.position, wait_ms, problem);
    }
    (void)fclose(in);
    return error;
}
