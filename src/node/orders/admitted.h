/* Admission: the ids that may be in the swarm, as far as this node knows (node/admission.h), and
 * strangers: ids that are not admitted, whose records or rumors arrived through neighbours.
 *
 * Two machines' lists differ for a while when a member is added. So a neighbour that passes on a
 * stranger's rumors has done nothing wrong. This node skips these rumors and remembers the
 * stranger's tag, so that it neither requests them nor counts them as missing. Two nodes with equal
 * members take from each other rumors of former members, so their versions become equal. Tests:
 * tests/world/test_admission.c.
 */
#ifndef HEARSAY_NODE_ORDERS_ADMITTED_H
#define HEARSAY_NODE_ORDERS_ADMITTED_H

#include "node/admission.h"
#include "node/connection/connection.h"
#include "node/core.h"

struct admitted *admitted_new(struct arena *arena);
size_t admitted_arena_bytes(void);

/* Replaces the member list by `count` ids, and forgets all strangers. */
void admitted_set_list(struct node *node, const uint8_t *ids, uint32_t count);

/* Call it when orders have changed which ids are admitted: forgets all strangers. */
void admitted_on_orders(struct node *node);

/* Returns a hash of the admitted ids, which neighbours exchange: equal on nodes with the same
 * members; 0 if everyone who holds the swarm key is a member. */
uint64_t admitted_hash(const struct node *node);
void admitted_say(struct node *node, const struct peer *peer);
/* Sends admitted_hash to a random neighbour, unless it is 0. Call it once a second. */
void admitted_say_one(struct node *node);
/* Stores the neighbour's admitted_hash. Returns true if it has changed and now equals ours. */
bool admitted_on_hash(struct node *node, const struct peer *peer, uint64_t hash);
void admitted_on_end(struct node *node, const struct peer *peer);

/* Returns true if this neighbour's last admitted_hash equals ours. */
bool admitted_is_same(const struct node *node, const struct peer *peer);
/* Returns true if this node may take rumors of `id` from the neighbour `from`. Rumors of a stranger
 * may come from a neighbour with the same members: they are from before the stranger's removal,
 * and no more will follow. */
bool admitted_takes(const struct node *node, const struct peer *from,
                    const uint8_t id[static ID_BYTES]);

/* Returns true if this id is admitted, or is this node's own id. */
bool admitted_may_be(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns true if this member may vote and be accused (quorum_votes.h): it is on the list or
 * admitted by the operator, and no order expels it. */
bool admitted_may_vote(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns how many members may vote; 0 if everyone who holds the swarm key is a member. */
uint32_t admitted_voters(const struct node *node);
/* Returns a hash that changes whenever the members that may vote change. */
uint64_t admitted_voters_hash(const struct node *node);
/* Returns the reason why a peer that is not admitted is refused, for the BYE message. */
const char *admitted_refusal(const struct node *node);

/* Call it when a record or rumor of a stranger has arrived. Returns false if this incarnation of
 * the stranger is remembered already. */
bool admitted_on_stranger(struct node *node, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation, uint64_t tag);
bool admitted_is_strangers(const struct node *node, uint64_t tag);

#endif
