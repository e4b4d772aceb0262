/* Differences between two status snapshots of a node: members that joined, left, fell silent or
 * returned, and the node's own stage.
 *
 * Held by tests/unit/commands/test_changes.c.
 */
#ifndef HEARSAY_COMMANDS_STATUS_CHANGES_H
#define HEARSAY_COMMANDS_STATUS_CHANGES_H

#include <jansson.h>

#include "commands/lately.h"

struct changes {
    json_t *before;       /* last page, with a reference of its own; NULL = none yet */
    struct lately lately; /* changes since the first page */
};

/* Takes a snapshot that arrived at now_s, in seconds of the watcher's time. */
void changes_see(struct changes *changes, json_t *page, double now_s);

void changes_free(struct changes *changes);

#endif
