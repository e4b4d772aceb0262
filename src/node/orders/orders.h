/* Orders of the operator (wire/order.h): those that this node knows, and how they spread.
 *
 *   on opening, and once a second to one neighbour   ORDERS: I know them up to number n
 *   who knows more                                   ORDERS: those that follow n
 *   one that is new                                  ORDERS: to all other neighbours, at once
 *
 * They are numbered 1, 2, 3 … by the operator and taken in this order, so none can be replayed or
 * left out. Of two about one member the later counts. A node without an operator (options) has none
 * and says nothing. What an order does to the other rooms is expulsion.c's.
 * Held by tests/world/test_orders.c.
 */
#ifndef HEARSAY_NODE_ORDERS_ORDERS_H
#define HEARSAY_NODE_ORDERS_ORDERS_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/put_out.h"
#include "wire/order.h"

/* After the connections, which know the context. The options' orders were checked
 * (node_orders_check). */
struct orders *orders_new(struct arena *arena, const struct node *node);
size_t orders_arena_bytes(const struct node_options *options);

bool orders_have_operator(const struct node *node);
bool orders_admit(const struct node *node);     /* Was anybody admitted by one? */
uint32_t orders_count(const struct node *node); /* the latest number */
const struct order *orders_at(const struct node *node, uint32_t number); /* 1 .. count */
/* The latest order about the member with this id; NULL: there is none. */
const struct order *orders_about(const struct node *node, const uint8_t id[static ID_BYTES]);
/* The same, if it puts the member out; NULL: none does, or it was admitted again. */
const struct order *orders_expelling(const struct node *node, const uint8_t id[static ID_BYTES]);
/* So many rumors of this incarnation they leave; UINT32_MAX: any. */
uint32_t orders_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation);

/* Takes the orders that are new of these bytes, if they follow those that are known, and passes
 * over those that are known or follow later. MALFORMED, FORGED: the bytes have something else.
 * MISMATCH: the operator has signed two orders of one number; the first is kept. */
enum error orders_take(struct node *node, const uint8_t *bytes, size_t count) MUST_USE;

/* All that are known, back to back, into out[NODE_ORDERS_MAX]; returns their bytes. */
size_t orders_put(const struct node *node, uint8_t *out);

/* To this neighbour: how many are known; and those after this number, as its queue has room. */
void orders_show(struct node *node, const struct peer *peer);
void orders_say(struct node *node, const struct peer *peer, uint32_t after);
/* Once a second. */
void orders_show_one(struct node *node);

#endif
