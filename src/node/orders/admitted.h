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

/* Replaces the member list, and forgets all strangers until they appear again. */
void admitted_set_list(struct node *node, const uint8_t *ids, uint32_t count);

/* Called when orders have changed who is admitted: forgets all strangers until they appear
 * again. */
void admitted_on_orders(struct node *node);

/* Returns a hash of the member ids, equal on nodes with equal members; 0 if every holder of the
 * swarm key is a member. Neighbours exchange it. */
uint64_t admitted_hash(const struct node *node);
void admitted_say(struct node *node, const struct peer *peer);
void admitted_say_one(struct node *node); /* sends the hash to one neighbour, once a second */
/* Takes a neighbour's hash. Returns true if it has become equal to ours. */
bool admitted_on_hash(struct node *node, const struct peer *peer, uint64_t hash);
void admitted_on_end(struct node *node, const struct peer *peer); /* the conversation has ended */

/* Returns true if this neighbour has the same members as this node. */
bool admitted_is_same(const struct node *node, const struct peer *peer);
/* Returns true if this node may take rumors of this id from this neighbour. It takes a stranger's
 * rumors if the neighbour has the same members: they are from before the stranger's removal, and no
 * more will follow. */
bool admitted_takes(const struct node *node, const struct peer *from,
                    const uint8_t id[static ID_BYTES]);

/* Returns true if this id is admitted; always for this node. */
bool admitted_may_be(const struct node *node, const uint8_t id[static ID_BYTES]);
/* admitted_may_vote returns true if this member's vote counts (quorum_votes.h): it is on the list,
 * or admitted by the operator and not expelled. admitted_voters returns the number of such members,
 * 0 if every holder of the swarm key is a member. admitted_voters_hash changes when these members
 * do. */
bool admitted_may_vote(const struct node *node, const uint8_t id[static ID_BYTES]);
uint32_t admitted_voters(const struct node *node);
uint64_t admitted_voters_hash(const struct node *node);
/* Returns the reason that a refused caller is given. */
const char *admitted_refusal(const struct node *node);

/* Records that a record or rumor of a stranger's incarnation arrived. Returns true the first
 * time. */
bool admitted_on_stranger(struct node *node, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation, uint64_t tag);
bool admitted_is_strangers(const struct node *node, uint64_t tag);

#endif
