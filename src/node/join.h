/* Joining: detects that the node holds the swarm's base, or that there is no member to learn from.
 * States and drawing: lifecycle/lifecycle.h.
 */
#ifndef HEARSAY_NODE_JOIN_H
#define HEARSAY_NODE_JOIN_H

#include "node/connection/connection.h"
#include "node/core.h"

struct join *join_new(struct arena *arena);
size_t join_arena_bytes(void);

/* A swarm exists: a neighbour, or a member that has no slot left. */
void join_on_company(struct node *node);
/* A dialled member refused this node. */
void join_on_turned_away(struct node *node);
/* A neighbour has shown its version; this node lacks `missing` rumors of it. */
void join_on_knowledge(struct node *node, const struct peer *from, uint64_t missing);
/* Once a second: asks a joined member to confirm that this node holds the swarm's base. */
void join_ask_to_confirm(struct node *node);
/* A few times a second: joins if there is no member to learn from. */
void join_consider(struct node *node);
/* Sets RESTART if no node is left that has the base being taken over. */
bool join_next_restart(struct node *node, struct action *action);

#endif
