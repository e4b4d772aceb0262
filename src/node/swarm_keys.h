/* Swarm keys. The owner, the program that runs the node, gives the node one key from the
 * configuration, and stores the keys that the operator's orders bring (orders/key_rotation.h).
 *
 *   options.swarm_key, kept.swarm_keys ────► node ─ learns another ─► node_swarm_keys: to be kept
 *   wall clock ───────────────────────────►    end of the time in which older keys are accepted
 */
#ifndef HEARSAY_NODE_SWARM_KEYS_H
#define HEARSAY_NODE_SWARM_KEYS_H

#include "node/node.h"
#include "wire/order.h"

#define SWARM_KEYS_MAX      3 /* maximum swarm keys that a node accepts at once */
#define NODE_SWARM_KEYS_MAX ((size_t)SWARM_KEYS_MAX * KEY_BYTES)

/* Returns the age of a swarm key: an order number, which is higher for a newer key. It is the
 * number of the order that introduces the key, or else one less than the number of the order that
 * replaces it. Returns `otherwise` if no order names the key. orders: [count], order n at index
 * n - 1. */
uint32_t swarm_key_age(const struct order *orders, uint32_t count,
                       const uint8_t key[static KEY_BYTES], uint32_t otherwise);
/* Returns the time until which a key of this age is accepted, in ms since 1970: the earliest that a
 * later order sets; UINT64_MAX = no later order introduces a key. */
uint64_t swarm_key_until_ms(const struct order *orders, uint32_t count, uint32_t age);

/* Sets the wall clock time, in ms since 1970. Before the first call, options.wall_ms counts. */
void node_on_clock(struct node *node, uint64_t now_ns, uint64_t wall_ms);

/* Takes from the owner the key that the last order about keys introduces. Returns MISMATCH if it is
 * another key, or if there is no such order. */
enum error node_on_swarm_key(struct node *node, uint64_t now_ns,
                             const uint8_t key[static KEY_BYTES], struct problem *problem) MUST_USE;

/* Writes the accepted keys into out[NODE_SWARM_KEYS_MAX], newest first, and returns the number of
 * bytes. Returns 0 unless an order introduced the newest key. The keys have changed if
 * node_swarm_keys_changes has grown. Wipe `out` after use, because keys are secret. */
size_t node_swarm_keys(const struct node *node, uint8_t *out);
uint32_t node_swarm_keys_changes(const struct node *node);

/* Facts about the swarm keys that do not reveal them. */
struct node_swarm_key {
    uint8_t hash[HASH_BYTES]; /* hash of the newest key (swarm_key_hash) */
    uint32_t order;           /* order that introduced the newest key; 0 = the owner's key */
    uint32_t missing;         /* order whose key this node lacks; 0 = it lacks no key */
    uint32_t older;           /* older keys that this node also accepts */
    /* Time until which the newest of the older keys is accepted, in ms since 1970; 0 = there are no
     * older keys. An even older key may end earlier. */
    uint64_t until_ms;
};
void node_swarm_key(const struct node *node, struct node_swarm_key *out);

#endif
