/* The door of a state folder: who has it, and the unix socket at which that node answers.
 *
 *   state_dir/lock         held by the node while it lives, however it ends
 *   state_dir/status.sock  mode 0600, there while the node runs; who has the lock replaces it
 */
#ifndef HEARSAY_DAEMON_STATUS_SERVER_H
#define HEARSAY_DAEMON_STATUS_SERVER_H

#include <stdbool.h>

#include "base/error.h"

struct status_door {
    const char *dir; /* NULL: not open */
    int lock;
};

/* Take the folder, which exists. MISMATCH: another node has it. Anything but OK leaves nothing
 * taken. dir must stay. */
enum error status_door_open(struct status_door *door, const char *dir,
                            struct problem *problem) MUST_USE;

/* Make the socket; bound, not listening yet. It is the caller's. */
enum error status_door_socket(const struct status_door *door, int *made,
                              struct problem *problem) MUST_USE;

/* Nobody is to ask any more; the folder stays taken. */
void status_door_shut(const struct status_door *door);

/* Give the folder back. Nothing happens to a door that is not open. */
void status_door_close(struct status_door *door);

/* Does a node have the folder now? */
bool status_door_is_taken(const char *dir);

#endif
