/* How a node finds out that it has joined: that it holds what the swarm knows, or that there is
 * nobody to learn from. The states and their drawing are in lifecycle/lifecycle.h. */
#ifndef HEARSAY_NODE_JOIN_H
#define HEARSAY_NODE_JOIN_H

#include "node/connection/connection.h"
#include "node/core.h"

struct join *join_new(struct arena *arena);
size_t join_arena_bytes(void);

/* There is a swarm: a neighbour, or one that says that it has enough of them. */
void join_on_company(struct node *node);
/* One that we called would not have us as a member. */
void join_on_turned_away(struct node *node);
/* A neighbour has shown what it knows, and of that we lack so many rumors. */
void join_on_knowledge(struct node *node, const struct peer *from, uint64_t missing);
/* Once a second: one that has joined is to confirm that we hold what the swarm knows. */
void join_ask_to_confirm(struct node *node);
/* A few times a second: is there nobody to learn from? */
void join_consider(struct node *node);
/* RESTART: no node is left that has the base being taken over. */
bool join_next_restart(struct node *node, struct action *action);

#endif
