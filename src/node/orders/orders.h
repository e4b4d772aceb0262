/* The operator's orders (wire/order.h): the known ones, and how they spread.
 *
 *   on opening, and once a second to one neighbour   ORDERS: I know them up to number n
 *   a node that knows more                           ORDERS: the orders after n
 *   a new order                                      ORDERS: to all other neighbours, at once
 *
 * The operator numbers them 1, 2, 3 … and nodes take them in this order, so no order can be
 * replayed or omitted. The later of two orders about one member counts. A node without an operator
 * (options) has no orders and sends none. expulsion.c applies orders to the other folders. Tests:
 * tests/world/test_orders.c.
 */
#ifndef HEARSAY_NODE_ORDERS_ORDERS_H
#define HEARSAY_NODE_ORDERS_ORDERS_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/expulsion_api.h"
#include "wire/order.h"

/* Creates the state; call it after creating the connections, which know the context.
 * node_orders_check has checked the options' orders. */
struct orders *orders_new(struct arena *arena, const struct node *node);
size_t orders_arena_bytes(const struct node_options *options);

bool orders_have_operator(const struct node *node);
bool orders_admit(const struct node *node);     /* an order admits some member */
uint32_t orders_count(const struct node *node); /* number of the latest known order */
const struct order *orders_at(const struct node *node, uint32_t number); /* number: 1 .. count */
/* Returns the latest order about this member; NULL if there is none. */
const struct order *orders_about(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns the latest order about the member if it expels the member; NULL otherwise. */
const struct order *orders_expelling(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns the number of rumors of this incarnation that orders keep; UINT32_MAX = unlimited. */
uint32_t orders_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation);

/* Stores the new orders among these bytes if they follow the known ones; skips known orders and
 * those after a gap. Returns MALFORMED or FORGED if the bytes hold anything else, MISMATCH if the
 * operator signed two orders of one number (the first is kept). */
enum error orders_take(struct node *node, const uint8_t *bytes, size_t count) MUST_USE;

/* Writes all known orders into out[NODE_ORDERS_MAX] and returns the number of bytes. */
size_t orders_put(const struct node *node, uint8_t *out);

/* orders_show tells a neighbour how many orders are known. orders_say sends the orders after this
 * number, as many as fit its queue. */
void orders_show(struct node *node, const struct peer *peer);
void orders_say(struct node *node, const struct peer *peer, uint32_t after);
/* Tells one neighbour how many orders are known; called once a second. */
void orders_show_one(struct node *node);

#endif
