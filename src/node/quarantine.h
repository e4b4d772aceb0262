/* Quarantine: a member that harms is named, and, where the configuration asks for it, put out by
 * votes of more than half of the members.
 *
 *   effect: an origin's rumors are long ──► where there are votes, they are held
 *   effect: an origin's rumors harm ──► a note that names it
 *                                   ──► a vote (orders/votes.h), to all neighbours
 *   VOTES ──► is it new? ──► to all other neighbours
 *     more than half ──► expulsion: as on a proof that the member lies (expulsion.h)
 *
 * What is longer than others' waits until it is so no more, or for as long as votes take: then it
 * goes to the learner after all. So an honest member's work comes later at the worst, all nodes
 * have the same base in the end, and what so many find to harm in that time has never moved it.
 *
 * A vote is for what this node's log can still take out, so what is decided most can carry out.
 * Held by tests/world/test_quarantine.c.
 */
#ifndef HEARSAY_NODE_QUARANTINE_H
#define HEARSAY_NODE_QUARANTINE_H

#include "node/broadcast/rumor_step.h"
#include "node/connection/connection.h"
#include "node/core.h"

struct quarantine *quarantine_new(struct arena *arena, const struct node_options *options);
size_t quarantine_arena_bytes(const struct node_options *options);

/* A rumor of another node has come. */
void quarantine_on_rumor(struct node *node, const struct rumor_step *step);
void quarantine_on_votes(struct node *node, const struct peer *from, const struct message *message);
/* Once a second. */
void quarantine_review(struct node *node);

#endif
