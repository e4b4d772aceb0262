/* Rekeying: moves a running swarm to another swarm key.
 *
 *   an order of the operator        has the hash of the new key, and until when older keys are
 * accepted a neighbour in good standing    SWARM_KEY: the key itself, inside the session
 *
 *   learned ──► to all neighbours that used an older key, at once
 *   missing ──► requested from the bringer of the order, from each new neighbour, and from one a
 * second
 *
 * Orders are obeyed in number order. So a node with the order for a key has obeyed all expulsions
 * before it, an expelled member is no neighbour of it, and that member gets no key. The hash of a
 * key places it among the orders: it belongs to an order, or to the one before, or it is newer than
 * all known orders, as its owner has set it. Handshakes accept any of the newest SWARM_KEYS_MAX
 * keys. An older key is dropped and wiped as soon as a newer key is known and a later order's time
 * is over. So a wrong clock cuts off no node: a node without the newest key keeps the ones it has.
 * Open conversations stay open.
 *
 * Held by tests/world/test_rekey.c.
 */
#ifndef HEARSAY_NODE_ORDERS_REKEY_H
#define HEARSAY_NODE_ORDERS_REKEY_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/swarm_keys.h"

/* Created after orders and connections. */
struct rekey *rekey_new(struct node *node);
size_t rekey_arena_bytes(void);
void rekey_free(struct node *node); /* wipes the keys */

/* Obeys orders after this number. from: the neighbour that brought them, or NULL. */
void rekey_on_orders(struct node *node, const struct peer *from, uint32_t before);
/* Takes a SWARM_KEY: a request for the key of this order, or the key. */
void rekey_on_message(struct node *node, const struct peer *from, uint64_t order,
                      const struct bytes *key);
/* Requests the missing key from this neighbour, if one is missing. */
void rekey_ask(struct node *node, const struct peer *peer);
void rekey_ask_one(struct node *node); /* once a second */
/* A few times a second: drops an older key whose time is over. */
void rekey_consider(struct node *node);

#endif
