/* Moving a running swarm to another key.
 *
 *   an order of the operator        has the hash of the new key, and until when older ones let in
 *   a neighbour of good standing    SWARM_KEY: the key itself, inside the session
 *
 *   learned ──► to all neighbours that came by an older key, at once
 *   missing ──► asked of who brought the order, of each new neighbour, and of one once a second
 *
 * Orders are numbered and obeyed in turn: whoever has the order for a key has obeyed all
 * expulsions before it, so who was put out before is no neighbour of it and gets no key. A key is
 * placed among the orders by its hash: it is that of an order, or the one before, or else newer
 * than all orders that are known, as its owner has set it. Conversations begin by any of the newest
 * SWARM_KEYS_MAX; an older one is given up, and wiped, as soon as a newer one is known and the
 * time is over that an order after it says. Until then nobody is cut off, however wrong a clock
 * is: a node without the newest key keeps what it has. Conversations that are open stay so.
 *
 * Held by tests/world/test_rekey.c.
 */
#ifndef HEARSAY_NODE_ORDERS_REKEY_H
#define HEARSAY_NODE_ORDERS_REKEY_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/swarm_keys.h"

/* After orders and connections. */
struct rekey *rekey_new(struct node *node);
size_t rekey_arena_bytes(void);
void rekey_free(struct node *node); /* wipes the keys */

/* There are orders beyond this number. from: the neighbour that brought them, or NULL. */
void rekey_on_orders(struct node *node, const struct peer *from, uint32_t before);
/* SWARM_KEY: it asks for the key of this order, or gives it. */
void rekey_on_message(struct node *node, const struct peer *from, uint64_t order,
                      const struct bytes *key);
/* It is to give the key that is missing, if one is. */
void rekey_ask(struct node *node, const struct peer *peer);
void rekey_ask_one(struct node *node); /* once a second */
/* A few times a second: is the time of an older key over? */
void rekey_consider(struct node *node);

#endif
