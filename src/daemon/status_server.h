/* The door of a state folder: which node has the folder, and the unix socket at which it answers.
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
#define STATUS_JSON       (JSON_COMPACT | JSON_REAL_PRECISION(9)) /* how a page is written */

struct status_door {
    const char *dir; /* the state folder; NULL: the door is not open */
    int lock;        /* the open lock file */
};

/* Take the folder, which exists. MISMATCH: another node has it. Anything but OK leaves nothing
 * taken. dir must stay. */
enum error status_door_open(struct status_door *door, const char *dir,
                            struct problem *problem) MUST_USE;

/* Make the socket; bound, not listening yet. It is the caller's. */
enum error status_door_socket(const struct status_door *door, int *made,
                              struct problem *problem) MUST_USE;

/* Remove the socket, so that nobody asks any more; the folder stays taken. */
void status_door_shut(const struct status_door *door);

/* Give the folder back. Nothing happens to a door that is not open. */
void status_door_close(struct status_door *door);

/* Does a node have the folder now? */
bool status_door_is_taken(const char *dir);

/* The address of a folder's socket. A socket's name holds 108 bytes and a path may be longer, so it
 * goes through the open folder. */
struct status_place {
    int folder;                 /* open while the address is used */
    struct sockaddr_un address; /* for bind and connect */
};
/* False, with errno, when there is no such folder. */
bool status_place_open(struct status_place *place, const char *dir);
void status_place_close(struct status_place *place);

#endif
