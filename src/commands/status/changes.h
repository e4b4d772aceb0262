/* Differences between two status snapshots of a node: members that joined, left, fell silent or
 * returned; the node's id and stage; and whether it reaches any peer.
 *
 * Tests: tests/unit/commands/test_changes.c.
 */
#ifndef HEARSAY_COMMANDS_STATUS_CHANGES_H
#define HEARSAY_COMMANDS_STATUS_CHANGES_H

#include <jansson.h>

#include "commands/lately.h"

struct changes {
    json_t *before; /* last status page, on which the struct holds a reference; NULL = none yet */
    struct lately lately;
};

/* Compares a status page with the last one and notes the changes. now_s: seconds since any fixed
 * time. */
void changes_see(struct changes *changes, json_t *page, double now_s);

void changes_free(struct changes *changes);

#endif
