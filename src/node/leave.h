/* Leaving.
 *
 *   RUNNING ── node_leave ──► LEAVING ── last publication out ──► SETTLED ── all agree ──► LEFT
 *                               └──────────────────────── grace time over ────────────────► │
 *
 * A settled node no longer trains but still relays. It leaves when every neighbour has its rumors
 * and every other leaving member has settled and holds the same base. So a swarm that is asked to
 * stop ends with one model, and a single leaving node goes only when others hold its last
 * publication. That publication is as large as any; the rest stays in the weights of the
 * checkpoint. A node alone publishes several times until little is left, so the base is what it
 * learned. In a full mesh the agreement is certain, since messages arrive in order. In a larger
 * swarm, news of another leaving node may arrive after the waiting time. Leaving takes at most the
 * grace time. A node that has finished (finish.h) is settled before it leaves. Held by
 * tests/world/test_leave.c.
 */
#ifndef HEARSAY_NODE_LEAVE_H
#define HEARSAY_NODE_LEAVE_H

#include "node/core.h"

struct leave *leave_new(struct arena *arena);
size_t leave_arena_bytes(void);

/* Ends the node without another message or publication, because the operator has expelled it. */
void leave_on_expelled(struct node *node);
/* Ends the node, because every dialled member refused it and it has joined no swarm. */
void leave_on_turned_away(struct node *node);
/* Ends training: moves from RUNNING to LEAVING and begins the last publications. */
void leave_end_training(struct node *node);
/* Handles the end of one of the last publications. */
void leave_on_published(struct node *node, const struct update *update);
/* Returns how long a node waits for news of other members: longer in a larger swarm. */
uint64_t leave_linger_ns(const struct node *node);
/* Advances the state machine while not RUNNING. */
void leave_consider(struct node *node);
/* Returns the time of an early round of gossip, since others wait for us; 0 = at its period. */
uint64_t leave_hurry_ns(const struct node *node);
/* Records that the round has happened. */
void leave_on_gossip(struct node *node);
bool leave_next_finished(struct node *node, struct action *action); /* sets FINISHED once */

#endif
