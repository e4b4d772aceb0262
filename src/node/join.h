/* Joining: detects that the node holds the swarm's base, or that there is no member to learn from.
 * States and drawing: lifecycle/lifecycle.h.
 */
#ifndef HEARSAY_NODE_JOIN_H
#define HEARSAY_NODE_JOIN_H

#include "node/connection/connection.h"
#include "node/core.h"

struct join *join_new(struct arena *arena);
size_t join_arena_bytes(void);

/* Call it when a neighbour, or a member without a free slot, has shown that a swarm exists. */
void join_on_company(struct node *node);
/* Call it when a dialled member does not admit this node. */
void join_on_turned_away(struct node *node);
/* Call it when a conversation has ended. */
void join_on_closed(struct node *node, const struct peer *peer);
/* Joins if the version of neighbour `from` shows that this node has the swarm's base, except for
 * the newest rumors. missing: rumors of that version that this node lacks; 0 if that version does
 * not count. */
void join_on_knowledge(struct node *node, const struct peer *from, uint64_t missing);
/* If this node has not joined but seems to have the swarm's base, requests the whole version of a
 * random neighbour that has joined, which may confirm it. Call it once a second. */
void join_ask_to_confirm(struct node *node);
/* Joins alone if no member answers; waits longer after a sign of a swarm. Leaves if members refuse
 * this node. Requests a restart if the base cannot be completed. Call it a few times a second. */
void join_consider(struct node *node);
/* For a node that is no member by the orders that it has: if no member has answered since its
 * start, leaves, since a later order may admit it, and returns true. Otherwise returns false. */
bool join_leave_unheard(struct node *node);
/* Sets *action to RESTART and returns true if join_consider has requested it. */
bool join_next_restart(struct node *node, struct action *action);

#endif
