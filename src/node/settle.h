/* Everything published, everything applied: what an owner may wait for while the node goes on.
 *
 *   node_publish_soon ─► PUBLISH ─► … ─► node_is_settled
 *
 * Nodes that are settled, and have learned nothing since, have one version and so one digest. A
 * node that leaves does the same for the last time (leave.h). Held by
 * tests/unit/library/test_swarm.c.
 */
#ifndef HEARSAY_NODE_SETTLE_H
#define HEARSAY_NODE_SETTLE_H

#include "node/node.h"

/* What was learned since the last publication is published now, without waiting until it is time;
 * nothing happens if that is nothing. */
void node_publish_soon(struct node *node, uint64_t now_ns);

/* The base is whole and has all that is known, no publication is under way, and every neighbour has
 * shown the version that this node has. One without neighbours is settled only where no other
 * member is alive. */
bool node_is_settled(const struct node *node);

#endif
