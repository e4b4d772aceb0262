/* Joining: detects that the node holds the swarm's base, or that there is no member to learn from.
 * States and drawing: lifecycle/lifecycle.h.
 */
#ifndef HEARSAY_NODE_JOIN_H
#define HEARSAY_NODE_JOIN_H

#include "node/connection/connection.h"
#include "node/core.h"

struct join *join_new(struct arena *arena);
size_t join_arena_bytes(void);

/* Records that a swarm exists: a neighbour answered, or a member that has no slot left. */
void join_on_company(struct node *node);
/* Records that a dialled member refused this node. */
void join_on_turned_away(struct node *node);
/* Handles a neighbour's version, of which this node lacks `missing` rumors. */
void join_on_knowledge(struct node *node, const struct peer *from, uint64_t missing);
/* Asks a joined member to confirm that this node holds the swarm's base; called once a second. */
void join_ask_to_confirm(struct node *node);
/* Joins if there is no member to learn from; called a few times a second. */
void join_consider(struct node *node);
/* Sets RESTART if no node has the base being taken over any more. */
bool join_next_restart(struct node *node, struct action *action);

#endif
