/* Expulsion: what an order of the operator (orders/orders.h), or a proof that a member lies
 * (orders/proofs.h), does to all rooms.
 *
 *   ORDERS, or the owner ──► orders: is it the next? ──► to all other neighbours, at once
 *   PROOF, or a fork here ──► proofs: does it leave less? ──► likewise
 *     conversations with the subject end, and none opens again
 *     members       it is dead; its records are passed over, nobody calls it
 *     broadcast     nothing of it is taken beyond what the order keeps, and what was is retracted,
 *                   when no publication is under way
 *     transfer      or else another base is taken over
 *     leave         the subject itself is told the order, and ends
 *
 * Held by tests/world/test_expulsion.c, test_orders.c and test_equivocation.c.
 */
#ifndef HEARSAY_NODE_EXPULSION_H
#define HEARSAY_NODE_EXPULSION_H

#include "node/connection/connection.h"
#include "node/core.h"

struct expulsion *expulsion_new(struct arena *arena);
size_t expulsion_arena_bytes(void);
/* The orders that are known from before are obeyed from the first moment. */
void expulsion_begin(struct node *node);

/* ORDERS, or PROOF. */
void expulsion_on_message(struct node *node, const struct peer *from,
                          const struct message *message);
/* A fork may have been found here (broadcast/fork.c): then it is known to all from now on. */
void expulsion_on_fork(struct node *node);
/* A vote against this member is new, or the members are others: do they put it out, or no more? */
void expulsion_on_votes(struct node *node, const uint8_t id[static ID_BYTES]);
/* No publication is under way any more: retract what waited for that. */
void expulsion_on_published(struct node *node);
/* A few times a second: does nobody give the base that is needed? */
void expulsion_consider(struct node *node);

#endif
