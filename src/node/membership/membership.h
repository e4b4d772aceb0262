/* Membership: the member table (members.h), the number of live members that the last note
 * stated, and the failure detector (failure_detector.h). discovery/member_gossip.c spreads
 * records. */
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
/* Returns the number of live members that have an address to dial. */
uint32_t membership_reachable(const struct node *node);
/* Returns true if the member's record says that the member trains. Only a node that has joined
 * trains. */
bool membership_has_joined(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Checks and stores a record (members_learn). Sets *member to the record's member and *before to
 * the address in that member's previous record. */
enum error membership_learn(struct node *node, const uint8_t *bytes, const struct member **member,
                            struct address *before) MUST_USE;
/* Call it after a new record: updates the number of live members, and adds a note if that number
 * changes. */
void membership_on_change(struct node *node, const struct member *member);
/* Marks a member as expelled, so that it is dead whatever its records say; or readmits it
 * (is_expelled = false). */
void membership_set_expelled(struct node *node, const uint8_t id[static ID_BYTES],
                             bool is_expelled);
/* Marks a member as not admitted (is_barred = true), so that it is dead; or as admitted, so that
 * it is live from its next record on. */
void membership_bar(struct node *node, const struct member *member, bool is_barred);
/* Counts a rumor of this incarnation, received or own. The rumor is a sign of life, moves the
 * base, and claims `samples` samples. */
void membership_on_rumor(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                         const struct update *update, uint64_t samples);
/* Updates the median ratio of claimed samples to movement (shares_review). Adds a note on a
 * member whose rumors do not support the throughput that it claims. Call it once a second. */
void membership_review(struct node *node);
/* Sets `borne_out` of all members to 0, so that a new counting period can start. */
void membership_recount(struct node *node);
/* Removes all members except this node. */
void membership_forget(struct node *node);
void membership_update_own(struct node *node, const struct record *record);
/* Sets the index of the member's origin in the version vector (broadcast/version.h). */
void membership_set_origin(struct node *node, const struct member *member, uint32_t origin_index);

#endif
