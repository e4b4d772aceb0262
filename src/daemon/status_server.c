#include "daemon/status_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fork_files.h"
#include "daemon/lock_holder.h"

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
    CHECK(place->folder >= 0);
    (void)close(place->folder);
    place->folder = -1;
}

/* A lock on the whole file. F_OFD_SETLK gives it to the open file description, not to the process.
 * So the lock stays when this process opens and closes the file again only to test it. */
static const struct flock WHOLE = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

static const char *path_of(char out[static STATUS_PATH_BYTES], const char *dir, const char *name)
{
    CHECK((size_t)snprintf(out, STATUS_PATH_BYTES, "%s/%s", dir, name) < STATUS_PATH_BYTES);
    return out;
}

static enum error refuse(const char *dir, int file, struct problem *problem)
{
    char holder[LOCK_HOLDER_BYTES];
    lock_holder_find(file, holder);
    return problem_set(problem, MISMATCH,
                       "another node uses this state_dir (%.250s)%s%s; stop that node, or set "
                       "another node.state_dir",
                       dir, holder[0] ? ", " : "", holder);
}

enum error status_endpoint_open(struct status_endpoint *endpoint, const char *dir,
                                struct problem *problem)
{
    char path[STATUS_PATH_BYTES];
    struct flock whole = WHOLE;
    CHECK(dir && !endpoint->dir);
    const int file =
        open(path_of(path, dir, "lock"), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return problem_set(problem, FAILED,
                           "cannot make %s/lock: %s; choose another node.state_dir", dir,
                           strerror(errno));
    /* If the file system has no locks, the node starts without one. */
    if (fcntl(file, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
        const enum error error = refuse(dir, file, problem);
        (void)close(file);
        return error;
    }
    lock_holder_sign(file);
    fork_files_add(file);
    *endpoint = (struct status_endpoint){.dir = dir, .lock = file};
    return OK;
}

bool status_endpoint_is_taken(const char *dir)
{
    char path[STATUS_PATH_BYTES];
    struct flock whole = WHOLE;
    const int file = open(path_of(path, dir, "lock"), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const bool asked = fcntl(file, F_OFD_GETLK, &whole) == 0;
    (void)close(file);
    return asked && whole.l_type != F_UNLCK;
}

/* Removes the socket of an earlier node, which has ended, since this node holds the lock. Sets the
 * mode before listen(), so that no other user can connect. */
static bool replace_socket(int made, const struct status_place *place)
{
    const struct sockaddr_un *address = &place->address;
    if (unlink(address->sun_path) != 0 && errno != ENOENT)
        return false;
    return bind(made, (const struct sockaddr *)address, sizeof *address) == 0 &&
           chmod(address->sun_path, 0600) == 0;
}

enum error status_endpoint_socket(const struct status_endpoint *endpoint, int *made,
                                  struct problem *problem)
{
    struct status_place place;
    const int fresh = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool bound = false;
    CHECK(endpoint->dir);
    if (fresh >= 0 && status_place_open(&place, endpoint->dir)) {
        bound = replace_socket(fresh, &place);
        const int reason = errno;
        status_place_close(&place);
        errno = reason;
    }
    if (bound) {
        *made = fresh;
        return OK;
    }
    (void)problem_set(problem, FAILED, "cannot make %s/%s: %s; choose another node.state_dir",
                      endpoint->dir, STATUS_SOCKET, strerror(errno));
    if (fresh >= 0)
        (void)close(fresh);
    return FAILED;
}

void status_endpoint_shut(const struct status_endpoint *endpoint)
{
    char path[STATUS_PATH_BYTES];
    CHECK(endpoint->dir);
    (void)unlink(path_of(path, endpoint->dir, STATUS_SOCKET));
}

void status_endpoint_close(struct status_endpoint *endpoint)
{
    if (!endpoint->dir)
        return;
    struct flock whole = WHOLE;
    status_endpoint_shut(endpoint);
    /* Unlocks explicitly, because another process may share the open file. */
    whole.l_type = F_UNLCK;
    (void)fcntl(endpoint->lock, F_OFD_SETLK, &whole);
    fork_files_remove(endpoint->lock);
    (void)close(endpoint->lock);
    endpoint->dir = NULL;
}
