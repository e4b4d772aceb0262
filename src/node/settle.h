/* What an owner may want of a node that goes on: now and then everything published and applied, and
 * a checkpoint.
 *
 *   node_publish_soon ─► PUBLISH ─► … ─► node_is_settled
 *
 * Nodes that are settled, and have learned nothing since, have one version and so one digest. A
 * node that leaves does the same for the last time (leave.h). Held by
 * tests/unit/library/test_library_swarm.c.
 */
#ifndef HEARSAY_NODE_SETTLE_H
#define HEARSAY_NODE_SETTLE_H

#include "node/node.h"

/* What was learned since the last publication, if anything was, is published now, without waiting
 * until it is time. False: a publication is under way; ask again when it is not. */
bool node_publish_soon(struct node *node, uint64_t now_ns);

/* A SAVE comes as soon as one can. */
void node_save_soon(struct node *node, uint64_t now_ns);

/* The base is whole and has all that is known, no publication is under way, and every neighbour has
 * shown the version that this node has. One without neighbours is settled only where no other
 * member is alive. */
bool node_is_settled(const struct node *node);

#endif
