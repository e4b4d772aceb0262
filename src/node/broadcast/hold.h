/* Origins that are held: what they publish is known and passed on as ever, but the learner is not
 * given it until they are released. It waits in the log, and others' rumors go before it: a base is
 * a sum. Held by tests/world/test_hold.c. */
#ifndef HEARSAY_NODE_BROADCAST_HOLD_H
#define HEARSAY_NODE_BROADCAST_HOLD_H

#include "node/core.h"

/* place: of the origin among the versions. */
bool hold_has(const struct node *node, uint32_t place);
void hold_begin(struct node *node, uint32_t place);
void hold_end(struct node *node, uint32_t place);

#endif
