/* Quarantine: a member that harms is named, and, where the configuration asks for it, put out by
 * votes of more than half of the members.
 *
 *   effect: an origin's rumors harm ──► a note that names it
 *                                   ──► a vote (orders/votes.h), to all neighbours
 *   VOTES ──► is it new? ──► to all other neighbours
 *     more than half ──► expulsion: as on a proof that the member lies (expulsion.h)
 *
 * A vote is for what this node's log can still take out, so what is decided most can carry out.
 * Held by tests/world/test_quarantine.c.
 */
#ifndef HEARSAY_NODE_QUARANTINE_H
#define HEARSAY_NODE_QUARANTINE_H

#include "node/connection/connection.h"
#include "node/core.h"

struct quarantine *quarantine_new(struct arena *arena);
size_t quarantine_arena_bytes(void);

void quarantine_on_votes(struct node *node, const struct peer *from, const struct message *message);
/* Once a second. */
void quarantine_review(struct node *node);

#endif
