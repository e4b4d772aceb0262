/* Admission: the ids that may be in the swarm, as far as this node knows (node/admission.h), and
 * the strangers whose statements arrived through neighbours.
 *
 * Two machines' lists differ for a while when a member is added. So a neighbour that passes on a
 * stranger's rumors has done nothing wrong. This node skips them and remembers the stranger's tag,
 * so that its rumors are neither requested nor counted as missing. Two nodes with equal members
 * take from each other rumors of former members, so their versions become equal. Tests:
 * tests/world/test_admission.c.
 */
#ifndef HEARSAY_NODE_ORDERS_ADMITTED_H
#define HEARSAY_NODE_ORDERS_ADMITTED_H

#include "node/admission.h"
#include "node/connection/connection.h"
#include "node/core.h"

struct admitted *admitted_new(struct arena *arena);
size_t admitted_arena_bytes(void);

/* Replaces the list of admitted members. Forgets all strangers until they appear again. */
void admitted_set_list(struct node *node, const uint8_t *ids, uint32_t count);

/* Call it when orders have changed which ids are admitted: forgets all strangers until they
 * appear again. */
void admitted_on_orders(struct node *node);

/* Returns a hash of the admitted ids, equal on nodes with the same members; 0 if everyone who
 * holds the swarm key is a member. Neighbours exchange the hash. */
uint64_t admitted_hash(const struct node *node);
void admitted_say(struct node *node, const struct peer *peer);
/* Sends the hash of the admitted ids to one neighbour. Call it once a second. */
void admitted_say_one(struct node *node);
/* Stores the hash of a neighbour's admitted ids. Returns true if the hash has changed and now
 * equals ours. */
bool admitted_on_hash(struct node *node, const struct peer *peer, uint64_t hash);
/* Call it when the conversation has ended: forgets the hash that the neighbour sent. */
void admitted_on_end(struct node *node, const struct peer *peer);

/* Returns true if this neighbour has the same members as this node. */
bool admitted_is_same(const struct node *node, const struct peer *peer);
/* Returns true if this node may take rumors of member `id` from the neighbour `from`. A
 * stranger's rumors may be taken from a neighbour with the same members: these rumors are from
 * before the stranger's removal, and no more will follow. */
bool admitted_takes(const struct node *node, const struct peer *from,
                    const uint8_t id[static ID_BYTES]);

/* Returns true if this id is admitted, or is this node's own id. */
bool admitted_may_be(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns true if this member's vote counts (quorum_votes.h): the member is on the list, or
 * admitted by the operator, and no order expels it. */
bool admitted_may_vote(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns the number of members whose vote counts; 0 if everyone who holds the swarm key is a
 * member. */
uint32_t admitted_voters(const struct node *node);
/* Returns a hash of the members whose vote counts. It changes whenever these members change. */
uint64_t admitted_voters_hash(const struct node *node);
/* Returns the reason why a peer that is not admitted is refused, for the BYE message. */
const char *admitted_refusal(const struct node *node);

/* Call it when a record or rumor of a stranger has arrived. Returns true if it is the first one
 * of this incarnation. */
bool admitted_on_stranger(struct node *node, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation, uint64_t tag);
bool admitted_is_strangers(const struct node *node, uint64_t tag);

#endif
