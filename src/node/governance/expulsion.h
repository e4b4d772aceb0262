/* Expulsion: applies an operator's order (orders/orders.h), a proof (orders/proofs.h) or a majority
 * of votes to all folders.
 *
 *   ORDERS, or the owner ──► orders: is it the next? ──► to all other neighbours, at once
 *   PROOF, or equivocation ──► proofs: is it stricter? ──► to all other neighbours, at once
 *     conversations with the subject end, and none starts again
 *     members       it is dead; its records are ignored, and it is not dialled
 *     broadcast     its rumors beyond the limit are refused, and those in the base are retracted
 *                   as soon as no publication is under way
 *     transfer      if the log no longer holds them, another base is taken over
 *     leave         the subject itself gets the order, and ends
 *
 * Tests: tests/world/test_expulsion.c, test_orders.c and test_equivocation.c.
 */
#ifndef HEARSAY_NODE_GOVERNANCE_EXPULSION_H
#define HEARSAY_NODE_GOVERNANCE_EXPULSION_H

#include "node/connection/connection.h"
#include "node/core.h"

struct expulsion *expulsion_new(struct arena *arena);
size_t expulsion_arena_bytes(void);
/* Applies the orders and proofs that were stored before this start. A node that an order expels
 * leaves after NODE_JOIN_WAIT_NS, unless members have a later order that admits it. If no member
 * has answered by then, it does not know. */
void expulsion_begin(struct node *node);

void expulsion_on_message(struct node *node, const struct peer *from,
                          const struct message *message);
/* Spreads and obeys a proof if this node has detected equivocation (broadcast/equivocation.c). */
void expulsion_on_equivocation(struct node *node);
/* Expels the member if the votes against it suffice, or revokes its expulsion if they no longer do.
 * Call it after a new vote, or when the members have changed. */
void expulsion_on_votes(struct node *node, const uint8_t id[static ID_BYTES]);
/* Call it when a publication has ended: takes rumors of expelled members out of the base, if that
 * had to wait. */
void expulsion_on_published(struct node *node);
/* Call it a few times a second. When this node has joined a swarm with a member list or admission
 * orders, forgets, a single time, the proofs against ids that are not members and have no rumors
 * here. Lets this node leave at the end of the wait of expulsion_begin. Suspends proofs that at
 * least half of this node and its neighbours have long disobeyed, and ends suspensions of proofs
 * that most have obeyed (suspension.h). Adds a note if this node has long needed another base and
 * no neighbour has given one. */
void expulsion_consider(struct node *node);

#endif
