/* The operator's orders (wire/order.h): which this node knows, and how they spread.
 *
 *   on opening, and once a second to one neighbour   ORDERS: I know them up to number n
 *   a node that knows more                           ORDERS: the orders after n
 *   a new order                                      ORDERS: to all other neighbours, at once
 *
 * The operator numbers its orders 1, 2, 3 … and nodes take them in this sequence, so no order can
 * be replayed or omitted. The later of two orders about one member counts. In a swarm without an
 * operator, nodes have no orders and send none. expulsion.c applies orders to the other folders.
 * Tests: tests/world/test_orders.c.
 */
#ifndef HEARSAY_NODE_ORDERS_ORDERS_H
#define HEARSAY_NODE_ORDERS_ORDERS_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/expulsion_api.h"
#include "wire/order.h"

/* Call it after the connections were created, which set the context of signatures, and after
 * node_orders_check has accepted the options' orders. */
struct orders *orders_new(struct arena *arena, const struct node *node);
size_t orders_arena_bytes(const struct node_options *options);

bool orders_have_operator(const struct node *node);
/* Returns true if some order admits a member. Then the swarm's members are only those that
 * orders admit. */
bool orders_admit(const struct node *node);
uint32_t orders_count(const struct node *node);
/* Returns the order with this number, in [1, orders_count]. */
const struct order *orders_at(const struct node *node, uint32_t number);
/* Returns true if this node has the order with this number, with exactly these bytes. number: above
 * 0. */
bool orders_have(const struct node *node, uint64_t number, const uint8_t *bytes, size_t count);
/* Returns the orders [orders_count], order n at index n - 1; NULL without an operator. */
const struct order *orders_all(const struct node *node);
/* Returns the last order about this member; NULL if there is none. */
const struct order *orders_about(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns orders_about(node, id) if that order expels the member; NULL otherwise. */
const struct order *orders_expelling(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns orders_expelling of this node itself: such a node neither joins nor trains. */
const struct order *orders_expelling_self(const struct node *node);
/* Returns the number of this incarnation's rumors that may stay in a base according to the orders;
 * UINT32_MAX = all. */
uint32_t orders_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                     uint64_t incarnation);

/* Stores the orders in these bytes that follow the known ones, up to the first error. Ignores known
 * orders, and orders after a gap. Returns MALFORMED or FORGED if the bytes are no orders. Returns
 * MISMATCH if the operator signed two different orders with one number (the first one stays). */
enum error orders_take(struct node *node, const uint8_t *bytes, size_t count) MUST_USE;

/* Writes all known orders into out[NODE_ORDERS_MAX]. Returns the number of bytes. */
size_t orders_put(const struct node *node, uint8_t *out);

/* Tells a neighbour how many orders this node knows. */
void orders_show(struct node *node, const struct peer *peer);
/* Sends a neighbour the orders after number `after`, as many as fit in its queue. */
void orders_say(struct node *node, const struct peer *peer, uint32_t after);
/* Tells a random neighbour how many orders this node knows. Call it once a second. */
void orders_show_one(struct node *node);

#endif
