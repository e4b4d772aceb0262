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

/* Makes a publication due now, if there is progress to publish or running statistics were held
 * back. Returns false while a publication is under way; then call it again later. */
bool node_publish_soon(struct node *node, uint64_t now_ns);

/* Makes a checkpoint (a SAVE action) due now. */
void node_save_soon(struct node *node, uint64_t now_ns);

/* Returns true if the node has joined, its base has all known rumors, no publication is under way,
 * and every neighbour has shown this node's version. Without neighbours, returns true only if no
 * other member is live. */
bool node_is_settled(const struct node *node);

/* Ends training: publishes the last progress, and stays in the swarm (finish.h). Has no effect on a
 * node that already finishes or leaves. Returns false while the base is incomplete; then call it
 * again later. */
bool node_finish(struct node *node, uint64_t now_ns);

/* Makes this node's record say that it no longer trains: the learner makes no more steps, but the
 * node stays a member as before. */
void node_end_training(struct node *node);

enum finish_state {
    FINISH_NOT_ASKED,
    FINISH_PUBLISHING, /* the last publications are under way */
    FINISH_WAITING,    /* this node waits for other members */
    FINISH_DONE        /* all members have finished; the base stays */
};
enum finish_state node_finish_state(const struct node *node);

enum finish_wait {
    FINISH_HAS,       /* no wait: the member has finished with our base, relays, is dead, or left */
    FINISH_JOINS,     /* the member has not taken the swarm's base yet, and may then train */
    FINISH_TRAINS,    /* the member still trains */
    FINISH_PUBLISHES, /* the member's last publications are under way */
    FINISH_DIFFERS    /* the member has ended training, but its base differs from ours */
};
/* Returns why this node, which has finished, waits for member i; i < node_members. */
enum finish_wait node_finish_wait(const struct node *node, uint32_t i);

#endif
