/* Membership: the member table (members.h), the number of live members, and the failure detector
 * (failure_detector.h). discovery/member_gossip.c spreads records. */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_H

#include "base/update.h"
#include "node/core.h"
#include "node/membership/members.h"

struct membership *membership_new(struct arena *arena, const struct node *node);
size_t membership_arena_bytes(const struct node_options *options);

/* Returns the member table. Member number 0 is this node. */
const struct members *membership_members(const struct node *node);
const struct member *membership_at(const struct node *node, uint32_t number);
uint32_t membership_number(const struct node *node, const struct member *member);
const struct member *membership_find(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Returns the number of live members, this node included. */
uint32_t membership_live(const struct node *node);
/* Returns the number of live members, this node included, that have an address to dial. */
uint32_t membership_reachable(const struct node *node);
/* Returns true if this node knows another admitted member, live or dead, that has neither left nor
 * been expelled. */
bool membership_may_return(const struct node *node);
/* Returns true if the member's record says that it trains: only a node that has joined trains. */
bool membership_has_joined(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Checks and stores a record, like members_learn. Sets *before to the address in the member's
 * previous record, all zero if there was none. Sets *member to the member after OK. */
enum error membership_learn(struct node *node, const uint8_t *bytes, const struct member **member,
                            struct address *before) MUST_USE;
/* Call it after a new record. Updates the number of live members, and adds a note on a member that
 * appears or leaves if notes_allow permits it. */
void membership_on_change(struct node *node, const struct member *member);
/* An expelled member is dead whatever its records say. is_expelled = false readmits the member,
 * which is live from its next record on. */
void membership_set_expelled(struct node *node, const uint8_t id[static ID_BYTES],
                             bool is_expelled);
/* A member that is not admitted (is_barred = true) is dead. An admitted one is live from its next
 * record on. */
void membership_bar(struct node *node, const struct member *member, bool is_barred);
/* Counts a rumor of this incarnation, received or own, as a sign of life. Adds its `update` to the
 * member's movement of the base, and `samples` to the samples that the member claims. */
void membership_on_rumor(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                         const struct update *update, uint64_t samples);
/* Updates members.claim_ratio. Adds a note on a member whose rumors do not support the throughput
 * that it claims. Call it once a second. */
void membership_review(struct node *node);
/* Sets `borne_out` of all members to 0. */
void membership_recount(struct node *node);
void membership_forget(struct node *node);
void membership_update_own(struct node *node, const struct record *record);
/* Sets the member's origin to the one at this index of the version vector (broadcast/version.h);
 * ORIGIN_NONE = none. */
void membership_set_origin(struct node *node, const struct member *member, uint32_t origin_index);

#endif
