/* Key rotation: moves a running swarm to another swarm key (`hearsay rekey`).
 *
 *   an order of the operator       the hash of the new key, and until when older keys are accepted
 *   a neighbour in good standing   SWARM_KEY: the key itself, inside the session
 *
 *   new key learned ──► sent at once to all neighbours that used an older key
 *   new key missing ──► requested from the neighbour that brought the order, each new neighbour,
 *                       and one random neighbour a second
 *
 * Orders are obeyed in number order. So a node with the order for a key has obeyed all expulsions
 * before that order, and has ended its conversations with the expelled members: they get no key.
 * The hash of a key shows its age: an order names the hashes of its key and of the key before. A
 * key that no order names comes from the configuration, and is dated by the last order that this
 * node knew at its start. Handshakes accept any of the newest SWARM_KEYS_MAX keys. An older key is
 * dropped and wiped as soon as a newer key is known and the time that a later order allows for
 * older keys is over. So a wrong clock cuts off no node: a node always keeps the newest key that it
 * has. Open conversations stay open. Tests: tests/world/test_key_rotation.c.
 */
#ifndef HEARSAY_NODE_ORDERS_KEY_ROTATION_H
#define HEARSAY_NODE_ORDERS_KEY_ROTATION_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/swarm_keys.h"

/* Creates the state. Call it after orders and connections were created. */
struct key_rotation *key_rotation_new(struct node *node);
size_t key_rotation_arena_bytes(void);
void key_rotation_free(struct node *node); /* Wipes the swarm keys from memory. */

/* Call it when orders after number `before` were stored. If they introduce a key that this node
 * lacks, requests the key from the neighbour `from` that sent the orders, unless `from` is NULL. */
void key_rotation_on_orders(struct node *node, const struct peer *from, uint32_t before);
/* Handles a SWARM_KEY message about the order with this number. An empty `key` requests the key
 * that the order introduces; otherwise `key` is that key. */
void key_rotation_on_message(struct node *node, const struct peer *from, uint64_t order,
                             const struct bytes *key);
/* Requests the newest swarm key from this neighbour, if this node lacks the key. */
void key_rotation_ask(struct node *node, const struct peer *peer);
/* Requests the newest swarm key from a random neighbour, if this node lacks the key. Call it once a
 * second. */
void key_rotation_ask_one(struct node *node);
/* Drops expired swarm keys, with a note. Call it a few times a second. */
void key_rotation_consider(struct node *node);

#endif
