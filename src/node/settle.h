/* Services for the owner of a running node: publish and apply everything now, and save a
 * checkpoint.
 *
 *   node_publish_soon ─► PUBLISH ─► … ─► node_is_settled
 *
 * Settled nodes that have learned nothing since have one version and one digest. A leaving node
 * does the same for the last time (leave.h). Held by tests/unit/library/test_library_swarm.c.
 */
#ifndef HEARSAY_NODE_SETTLE_H
#define HEARSAY_NODE_SETTLE_H

#include "node/node.h"

/* Publishes what was learned since the last publication, now. Returns false while a publication is
 * under way; call again after it. */
bool node_publish_soon(struct node *node, uint64_t now_ns);

/* Requests a SAVE as soon as possible. */
void node_save_soon(struct node *node, uint64_t now_ns);

/* Returns true if the base is complete and has every known rumor, no publication is under way, and
 * every neighbour has shown this node's version. A node without neighbours is settled only if no
 * other member is live. */
bool node_is_settled(const struct node *node);

#endif
