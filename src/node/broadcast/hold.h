/* Origins that are held: what they publish is known and passed on as ever, but the learner is not
 * given it until they are released. It waits in the log, and others' rumors go before it: a base is
 * a sum. So is one that is given to another node meanwhile: it has nothing of what is held, and
 * says so. Held by tests/world/test_hold.c. */
#ifndef HEARSAY_NODE_BROADCAST_HOLD_H
#define HEARSAY_NODE_BROADCAST_HOLD_H

#include "node/core.h"

/* place: of the origin among the versions. */
bool hold_has(const struct node *node, uint32_t place);
void hold_begin(struct node *node, uint32_t place);
void hold_end(struct node *node, uint32_t place);

/* Of the base that is the sum of all that is known and not held: the head of the last rumor of this
 * origin, NULL if it has none; and its digest. False: the log does not have what is held. */
const struct signed_head *hold_last(const struct node *node, uint32_t place);
bool hold_digest(struct node *node, uint64_t *digest);
/* Does that take reading rumors, since some are held? */
bool hold_keeps_any(const struct node *node);

#endif
