/* Membership: the member table (members.h), the number of members that were live at the last note,
 * and the failure detector (failure_detector.h). discovery/member_gossip.c spreads records.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_H

#include "base/update.h"
#include "node/core.h"
#include "node/membership/members.h"

struct membership *membership_new(struct arena *arena, const struct node *node);
size_t membership_arena_bytes(const struct node_options *options);

/* Returns the table. Number 0 is this node. */
const struct members *membership_members(const struct node *node);
const struct member *membership_at(const struct node *node, uint32_t number);
uint32_t membership_number(const struct node *node, const struct member *member);
const struct member *membership_find(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Returns the number of live members, this node included. */
uint32_t membership_live(const struct node *node);
/* Returns the number of live members that listen. */
uint32_t membership_reachable(const struct node *node);
/* Returns true if the member trains, which means that it has joined. */
bool membership_has_joined(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Stores a record (members_learn). Sets *member to the record's member and *before to that member's
 * previous address. */
enum error membership_learn(struct node *node, const uint8_t *bytes, const struct member **member,
                            struct address *before) MUST_USE;
/* Called after a new record: counts the live members and adds a note if the number changed. */
void membership_on_change(struct node *node, const struct member *member);
/* Applies an expulsion: the member is dead whatever its records say. is_expelled = false readmits
 * it. */
void membership_set_expelled(struct node *node, const uint8_t id[static ID_BYTES],
                             bool is_expelled);
/* Sets whether the member lacks admission. Without it the member is dead; with it the member lives
 * from its next record on. */
void membership_bar(struct node *node, const struct member *member, bool is_barred);
/* Counts a rumor of this incarnation, received or own, that claims this many more samples: a sign
 * of life and of progress. */
void membership_on_rumor(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                         const struct update *update, uint64_t samples);
/* Updates the median claim ratio, and adds notes on members that claim far more than their rumors
 * support; called once a second. */
void membership_review(struct node *node);
/* Resets the supported samples of all members (member.borne_out). */
void membership_recount(struct node *node);
/* Forgets all members except this node. */
void membership_forget(struct node *node);
void membership_update_own(struct node *node, const struct record *record);
/* Sets the index of the member's origin among the versions (broadcast/version.h). */
void membership_set_origin(struct node *node, const struct member *member, uint32_t origin_index);

#endif
