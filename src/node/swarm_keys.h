/* The swarm keys of a node, as its owner gives and keeps them: one from the configuration, and what
 * orders of the operator bring (orders/rekey.h).
 *
 *   options.swarm_key, options.swarm_keys ─► node ─ learns another ─► node_swarm_keys: to be kept
 *   the wall clock ──────────────────────────►    (until when do older ones let in?)
 */
#ifndef HEARSAY_NODE_SWARM_KEYS_H
#define HEARSAY_NODE_SWARM_KEYS_H

#include "node/node.h"

#define SWARM_KEYS_MAX      3 /* by which conversations begin, at a time */
#define NODE_SWARM_KEYS_MAX ((size_t)SWARM_KEYS_MAX * KEY_BYTES)

/* The wall clock shows so many milliseconds since 1970. Before the first time, options.wall_ms. */
void node_on_clock(struct node *node, uint64_t now_ns, uint64_t wall_ms);

/* The owner has the key of the latest order for one. MISMATCH: it is another, or none is ordered.
 */
enum error node_on_swarm_key(struct node *node, uint64_t now_ns,
                             const uint8_t key[static KEY_BYTES], struct problem *problem) MUST_USE;

/* The keys by which conversations begin now, back to back, the newest first, into
 * out[NODE_SWARM_KEYS_MAX]; returns their bytes, 0 as long as no order has brought any. They are
 * others whenever the count of changes has risen. Secret: to be wiped. */
size_t node_swarm_keys(const struct node *node, uint8_t *out);
uint32_t node_swarm_keys_changes(const struct node *node);

/* What a person may know of them. */
struct node_swarm_key {
    uint8_t hash[HASH_BYTES]; /* of the newest (swarm_key_hash) */
    uint32_t order;           /* the order that brought it; 0: none did, it is the owner's */
    uint32_t missing;         /* the order whose key has not come yet; 0: none */
    uint32_t older;           /* keys that are accepted beside it */
    uint64_t until_ms;        /* until then, since 1970, if there are any */
};
void node_swarm_key(const struct node *node, struct node_swarm_key *out);

#endif
