/* What is new on a node's status page, compared with the page before: who joined, left, fell silent
 * or came back, and the stage of the node itself.
 *
 * Held by tests/unit/commands/test_changes.c.
 */
#ifndef HEARSAY_COMMANDS_STATUS_CHANGES_H
#define HEARSAY_COMMANDS_STATUS_CHANGES_H

#include <jansson.h>

#include "commands/lately.h"

struct changes {
    json_t *before;       /* the last page, a reference of its own; NULL: none yet */
    struct lately lately; /* what was new since the first one */
};

/* A page that came at so many seconds of the watcher's time. */
void changes_see(struct changes *changes, json_t *page, double now_s);

void changes_free(struct changes *changes);

#endif
