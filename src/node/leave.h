/* Leaving: how a node ends without loss of its last publication.
 *
 *   RUNNING ── node_leave ──► LEAVING ── last publication out ──► SETTLED ── all agree ──► LEFT
 *                               └──────────────────────── grace time over ────────────────► │
 *
 * A settled node no longer trains but still relays. It leaves when every neighbour has its rumors
 * and every other leaving member has settled and holds the same base. So a swarm that is asked to
 * stop ends with one model, and a single leaving node goes only when others hold its last
 * publication. That publication is as large as any other; the unpublished rest stays in the weights
 * of the checkpoint. A node that is alone publishes up to LAST_MOST times (leave.c), until nothing
 * is unpublished, so that its base has nearly all its progress. In a full mesh the agreement is
 * certain, since messages arrive in order. In a larger swarm, news of another leaving node may
 * arrive after the waiting time. Leaving takes at most the grace time. A node that has finished
 * (finish.h) is settled before it leaves. Tests: tests/world/test_leave.c.
 */
#ifndef HEARSAY_NODE_LEAVE_H
#define HEARSAY_NODE_LEAVE_H

#include "node/core.h"

struct leave *leave_new(struct arena *arena);
size_t leave_arena_bytes(void);

/* Makes the node leave at once, without another publication, because it is expelled. */
void leave_on_expelled(struct node *node);
/* Makes the node leave at once, because no member admits it. unheard: the orders that this node has
 * do not admit it, and this is why no member could send later ones; NULL = a member has said that
 * it does not admit this node, which must not have joined. */
void leave_on_turned_away(struct node *node, const char *unheard);
/* Ends training: moves from RUNNING to LEAVING and starts the last publications. */
void leave_end_training(struct node *node);
/* Call it after each publication that follows the end of training. If this one moved entries, the
 * next one follows if the node is alone, if the learner needs more, or if the node finishes and
 * much is unpublished. The next one also follows if a finishing node has held running statistics
 * back. Otherwise, and after LAST_MOST or FINISH_MOST publications (leave.c), settles. */
void leave_on_published(struct node *node, const struct update *update);
/* Returns how long a node waits for news that other members leave, in ns. News spreads more slowly
 * in a larger swarm. */
uint64_t leave_linger_ns(const struct node *node);
/* Moves to the next stage (drawing above) if its condition is met. Call it repeatedly after
 * training has ended. */
void leave_consider(struct node *node);
/* Returns when a round of gossip is due earlier than usual, because other nodes wait for it; 0 = no
 * early round. */
uint64_t leave_hurry_ns(const struct node *node);
/* Call it when a round of gossip has happened. */
void leave_on_gossip(struct node *node);
/* Sets *action to FINISHED and returns true, once. */
bool leave_next_finished(struct node *node, struct action *action);

#endif
