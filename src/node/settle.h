/* Services for the owner of a running node: publish and apply everything now, and save a
 * checkpoint.
 *
 *   node_publish_soon ─► PUBLISH ─► … ─► node_is_settled
 *
 * A settled node and its neighbours have one version. Unpublished progress stays in its weights.
 * Tests: tests/unit/library/test_library_swarm.c.
 */
#ifndef HEARSAY_NODE_SETTLE_H
#define HEARSAY_NODE_SETTLE_H

#include "node/node.h"

/* Publishes now what was learned since the last publication. Returns false while a publication is
 * under way; then call again after it. */
bool node_publish_soon(struct node *node, uint64_t now_ns);

/* Requests a SAVE as soon as possible. */
void node_save_soon(struct node *node, uint64_t now_ns);

/* Returns true if the base is complete and has every known rumor, no publication is under way, and
 * every neighbour has shown this node's version. A node without neighbours is settled only if no
 * other member is live. */
bool node_is_settled(const struct node *node);

/* Ends training: publishes what was learned and stays in the swarm (finish.h). A second call has no
 * effect. Returns false while the base is not complete; then call again later. */
bool node_finish(struct node *node, uint64_t now_ns);

enum finish_state {
    FINISH_NOT_ASKED,
    FINISH_PUBLISHING, /* the last publications are under way */
    FINISH_WAITING,    /* waits for other members */
    FINISH_DONE        /* all members have finished; the base stays */
};
enum finish_state node_finish_state(const struct node *node);

enum finish_wait {
    FINISH_HAS,       /* the member has finished, does not train, is dead or has left */
    FINISH_TRAINS,    /* the member still trains */
    FINISH_PUBLISHES, /* the member's last publications are under way */
    FINISH_DIFFERS    /* its record has another base than ours, but it has finished or leaves */
};
/* Returns why a finished node waits for member i < node_members. */
enum finish_wait node_finish_wait(const struct node *node, uint32_t i);

#endif
