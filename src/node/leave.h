/* How a node leaves.
 *
 *   RUNNING ── node_leave ──► LEAVING ── last publication out ──► SETTLED ── all agree ──► LEFT
 *                               └──────────────────────── grace time over ────────────────► │
 *
 * A settled node trains no more but passes on what it receives. It leaves when every neighbour has
 * all its rumors, and every member that is leaving too has settled and holds the same base: so a
 * whole swarm that is asked to stop ends with one model, and a single node that is asked to goes
 * only when what it published last is known to others. The last publication is as large as any;
 * what it leaves out stays in the weights of the checkpoint. Where nobody else is there, it is
 * published all the same, in publications until little is left: the base that stays is what was
 * learned. Where each talks to each the first is certain, since what a neighbour says comes in its
 * order; in a larger swarm the news that another leaves too may take longer than the others linger.
 * Nobody waits longer than the grace time. Held by tests/world/test_leave.c.
 */
#ifndef HEARSAY_NODE_LEAVE_H
#define HEARSAY_NODE_LEAVE_H

#include "node/core.h"

struct leave *leave_new(struct arena *arena);
size_t leave_arena_bytes(void);

/* The operator has put this node out: it says nothing more, publishes nothing more, and ends. */
void leave_on_expelled(struct node *node);
/* Nobody would have it as a member, and it has joined nothing: it ends. */
void leave_on_turned_away(struct node *node);
/* A last publication is out, of so many entries. */
void leave_on_published(struct node *node, uint32_t entries);
/* While not RUNNING: is it time to go on? */
void leave_consider(struct node *node);
/* Gossip is to come at this moment, since others wait for us; 0: when it is due. */
uint64_t leave_hurry_ns(const struct node *node);
void leave_on_gossip(struct node *node);                            /* it has come */
bool leave_next_finished(struct node *node, struct action *action); /* FINISHED, once */

#endif
