/* Owns a state folder: the lock of the node that uses it, and the Unix socket at which the node
 * answers `hearsay status`.
 *
 *   state_dir/lock         locked by the node; unlocked when its process ends
 *   state_dir/status.sock  mode 0600, exists while the node runs; a node replaces an old one
 *
 * Tests: tests/unit/commands/test_answer.c.
 */
#ifndef HEARSAY_DAEMON_STATUS_SERVER_H
#define HEARSAY_DAEMON_STATUS_SERVER_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/un.h>

#include "base/error.h"
#include "config/config.h"

#define STATUS_SOCKET     "status.sock"
#define STATUS_PATH_BYTES (CONFIG_PATH_BYTES + 32)
#define STATUS_JSON       (JSON_COMPACT | JSON_REAL_PRECISION(9))

struct status_endpoint {
    const char *dir; /* state folder; NULL = the endpoint is not open */
    int lock;        /* file descriptor */
};

/* Locks an existing folder. MISMATCH: another node has locked it. After an error nothing is locked.
 * dir must stay valid. */
enum error status_endpoint_open(struct status_endpoint *endpoint, const char *dir,
                                struct problem *problem) MUST_USE;

/* Creates and binds the socket; the caller owns it and calls listen(). */
enum error status_endpoint_socket(const struct status_endpoint *endpoint, int *made,
                                  struct problem *problem) MUST_USE;

/* Removes the socket's file, so that no further client connects. The folder stays locked. */
void status_endpoint_shut(const struct status_endpoint *endpoint);

void status_endpoint_close(struct status_endpoint *endpoint);

/* Returns true if a node has locked the folder; false also if that is unknown. */
bool status_endpoint_is_taken(const char *dir);

/* Address of a folder's status socket. A socket's path may have at most 108 bytes, but the folder's
 * path may be longer. So the address names the folder by its open descriptor. */
struct status_place {
    int folder; /* file descriptor of the state folder; open while the address is used */
    struct sockaddr_un address;
};
/* Returns false, with errno, if the folder cannot be opened. */
bool status_place_open(struct status_place *place, const char *dir);
void status_place_close(struct status_place *place);

#endif
