/* Who may be in the swarm, as far as this node knows (node/admission.h), and who is not and was
 * heard of by way of others.
 *
 * Lists on two machines differ for a while when a member is added. So a neighbour that passes on
 * what this node does not take has done nothing wrong: it is passed over, and remembered by its
 * tag, so that it is neither asked for nor counted as missing. Two that have the same members take
 * from each other what either had of others before these were none: so their versions come
 * together. Held by tests/world/test_admission.c.
 */
#ifndef HEARSAY_NODE_ORDERS_ADMITTED_H
#define HEARSAY_NODE_ORDERS_ADMITTED_H

#include "node/admission.h"
#include "node/connection/connection.h"
#include "node/core.h"

struct admitted *admitted_new(struct arena *arena);
size_t admitted_arena_bytes(void);

/* The list is this from now on; nobody is a stranger until heard of again. */
void admitted_set_list(struct node *node, const uint8_t *ids, uint32_t count);

/* Orders have changed who may be here: nobody is a stranger until heard of again. */
void admitted_on_orders(struct node *node);

/* Who the members are here, as a hash: two nodes that have the same have the same members. 0:
 * whoever has the swarm key. It is said to neighbours, and they say theirs. */
uint64_t admitted_hash(const struct node *node);
void admitted_say(struct node *node, const struct peer *peer);
void admitted_say_one(struct node *node); /* once a second */
/* True: it has become the same as ours. */
bool admitted_on_hash(struct node *node, const struct peer *peer, uint64_t hash);
void admitted_on_end(struct node *node, const struct peer *peer); /* the conversation is over */

/* Does this neighbour have the same members? */
bool admitted_is_same(const struct node *node, const struct peer *peer);
/* May what this neighbour passes on of that member be taken? Of who may not be here it may if the
 * neighbour has the same members: that is what came before, and no more follows. */
bool admitted_takes(const struct node *node, const struct peer *from,
                    const uint8_t id[static ID_BYTES]);

/* This node itself always may. */
bool admitted_may_be(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Is this a member whose vote counts (votes.h): of the list or admitted by the operator, who has
 * not put it out? How many there are; 0: whoever has the swarm key is a member. A hash: another
 * one, and they may be others. */
bool admitted_may_vote(const struct node *node, const uint8_t id[static ID_BYTES]);
uint32_t admitted_voters(const struct node *node);
uint64_t admitted_voters_hash(const struct node *node);
/* What somebody is told who may not. */
const char *admitted_refusal(const struct node *node);

/* Something of this incarnation came, of somebody who may not be here. True: that is the first. */
bool admitted_on_stranger(struct node *node, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation, uint64_t tag);
bool admitted_is_strangers(const struct node *node, uint64_t tag);

#endif
