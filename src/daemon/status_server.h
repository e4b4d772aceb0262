/* Owns a state folder: the lock that shows which node uses it, and the unix socket at which the
 * node answers.
 *
 *   state_dir/lock         locked by the node while it lives, however it ends
 *   state_dir/status.sock  mode 0600, there while the node runs; the owner of the lock replaces it
 *
 * Held by tests/unit/commands/test_answer.c.
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
#define STATUS_JSON       (JSON_COMPACT | JSON_REAL_PRECISION(9)) /* format of a status page */

struct status_endpoint {
    const char *dir; /* state folder; NULL = not open */
    int lock;        /* descriptor of the open lock file */
};

/* Locks an existing folder. MISMATCH: another node has it. On errors nothing is locked. dir must
 * stay valid. */
enum error status_endpoint_open(struct status_endpoint *endpoint, const char *dir,
                                struct problem *problem) MUST_USE;

/* Creates the socket, bound but not listening yet. It belongs to the caller. */
enum error status_endpoint_socket(const struct status_endpoint *endpoint, int *made,
                                  struct problem *problem) MUST_USE;

/* Removes the socket, so that no client connects any more; the folder stays locked. */
void status_endpoint_shut(const struct status_endpoint *endpoint);

/* Releases the folder. Does nothing if it is not open. */
void status_endpoint_close(struct status_endpoint *endpoint);

/* Returns true if a node uses the folder now. */
bool status_endpoint_is_taken(const char *dir);

/* Address of a folder's socket. The name of a socket has at most 108 bytes and a path may be
 * longer, so the address goes through the open folder. */
struct status_place {
    int folder;                 /* descriptor of the folder, open while the address is used */
    struct sockaddr_un address; /* socket address for bind and connect */
};
/* Opens the folder. Returns false with errno if there is none. */
bool status_place_open(struct status_place *place, const char *dir);
void status_place_close(struct status_place *place);

#endif
