#include "commands/status/status_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon/status_server.h"

#define READ_BYTES ((size_t)64 << 10)

bool status_place_open(struct status_place *place, const char *dir)
{
    *place = (struct status_place){.folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
                                   .address = {.sun_family = AF_UNIX}};
    if (place->folder < 0)
        return false;
    (void)snprintf(place->address.sun_path, sizeof place->address.sun_path,
                   "/proc/self/fd/%d/" STATUS_SOCKET, place->folder);
    return true;
}

void status_place_close(struct status_place *place)
{
    (void)close(place->folder);
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static enum error no_node(const char *dir, struct problem *problem)
{
    if (status_door_is_taken(dir))
        return problem_set(problem, FAILED,
                           "the node of %s does not answer: it is just starting or ending; ask "
                           "again",
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
        return problem_set(problem, FAILED,
                           "%s/" STATUS_SOCKET " is another user's: ask as the user that runs the "
                           "node",
                           dir);
    if (reason == EAGAIN)
        return problem_set(problem, FAILED,
                           "the node of %s does not answer, and many are waiting for it: it is "
                           "stopped or stuck",
                           dir);
    return problem_set(problem, FAILED, "cannot ask at %s/" STATUS_SOCKET ": %s", dir,
                       strerror(reason));
}

/* A socket connected to the node. */
static enum error reach(const char *dir, int *out, struct problem *problem)
{
    struct status_place place;
    const int asking = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int reason = errno;
    if (asking >= 0 && status_place_open(&place, dir)) {
        const struct sockaddr *address = (const struct sockaddr *)&place.address;
        reason = connect(asking, address, sizeof place.address) == 0 ? 0 : errno;
        status_place_close(&place);
    } else if (asking >= 0) {
        reason = errno;
    }
    if (reason == 0) {
        *out = asking;
        return OK;
    }
    if (asking >= 0)
        (void)close(asking);
    return connect_failed(dir, reason, problem);
}

/* An answer being received. */
struct answer {
    const char *dir;
    int asking;
    int wait_ms;
    int64_t until_ms;
    char *bytes;
    size_t count;
    bool ended;
};

static enum error too_late(const struct answer *answer, struct problem *problem)
{
    struct ucred node = {0};
    socklen_t bytes = sizeof node;
    (void)getsockopt(answer->asking, SOL_SOCKET, SO_PEERCRED, &node, &bytes);
    return problem_set(problem, FAILED,
                       "the node of %s (process %d) has not answered within %g s: it is stopped, "
                       "stuck, or its machine is overloaded",
                       answer->dir, (int)node.pid, answer->wait_ms * 1e-3);
}

static enum error read_more(struct answer *answer, struct problem *problem)
{
    const int64_t left_ms = answer->until_ms - now_ms();
    struct pollfd ready = {.fd = answer->asking, .events = POLLIN};
    if (left_ms <= 0 || poll(&ready, 1, (int)left_ms) == 0)
        return too_late(answer, problem);
    answer->bytes = realloc(answer->bytes, answer->count + READ_BYTES + 1);
    CHECK(answer->bytes);
    const ssize_t got = read(answer->asking, answer->bytes + answer->count, READ_BYTES);
    answer->ended = got == 0;
    if (got > 0)
        answer->count += (size_t)got;
    if ((got < 0 && errno != EAGAIN && errno != EINTR) || (got == 0 && answer->count == 0))
        return problem_set(problem, FAILED, "the node of %s ended instead of answering",
                           answer->dir);
    if (answer->count > STATUS_ANSWER_MAX)
        return problem_set(problem, TOO_BIG, "the answer of the node of %s has no end",
                           answer->dir);
    return OK;
}

enum error status_ask(const char *dir, int wait_ms, char **bytes, size_t *count,
                      struct problem *problem)
{
    struct answer answer = {.dir = dir, .wait_ms = wait_ms, .until_ms = now_ms() + wait_ms};
    enum error status = reach(dir, &answer.asking, problem);
    if (status != OK)
        return status;
    while (status == OK && !answer.ended)
        status = read_more(&answer, problem);
    (void)close(answer.asking);
    if (status != OK) {
        free(answer.bytes);
        return status;
    }
    answer.bytes[answer.count] = 0;
    *bytes = answer.bytes;
    *count = answer.count;
    return OK;
}
