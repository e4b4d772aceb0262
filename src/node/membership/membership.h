/* The members of the swarm: the table of members (members.h), which of them live as last noticed,
 * and the failure detector: a member silent for longer than it promised is dead, and one given up
 * too early is given more time (Dadgar, Phillips, Currey 2018: Lifeguard).
 *
 * How news of members travels is discovery/member_gossip.c's.
 */
#ifndef HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_H
#define HEARSAY_NODE_MEMBERSHIP_MEMBERSHIP_H

#include "base/update.h"
#include "node/core.h"
#include "node/membership/members.h"

struct membership *membership_new(struct arena *arena, const struct node *node);
size_t membership_arena_bytes(const struct node_options *options);

/* The table. Number 0 is this node itself. */
const struct members *membership_members(const struct node *node);
const struct member *membership_at(const struct node *node, uint32_t number);
uint32_t membership_number(const struct node *node, const struct member *member);
const struct member *membership_find(const struct node *node, const uint8_t id[static ID_BYTES]);

uint32_t membership_live(const struct node *node);      /* members that live, this node included */
uint32_t membership_reachable(const struct node *node); /* those of them that listen */
/* Does the member with this id train, so that it has joined? */
bool membership_has_joined(const struct node *node, const uint8_t id[static ID_BYTES]);

/* A record came: members_learn. *member: whose it is; *before: where it could be dialled so far. */
enum error membership_learn(struct node *node, const uint8_t *bytes, const struct member **member,
                            struct address *before) MUST_USE;
/* After a record that was new: count and note whether the member lives. */
void membership_on_change(struct node *node, const struct member *member);
/* The operator has put it out: it is dead, whatever its records said; or has admitted it again. */
void membership_set_expelled(struct node *node, const uint8_t id[static ID_BYTES],
                             bool is_expelled);
/* It may not be in the swarm, and is dead; or it may again, and lives as soon as it says so. */
void membership_bar(struct node *node, const struct member *member, bool is_barred);
/* A rumor of this incarnation came, or is ours, and claims so many more samples: its member is no
 * more silent, and learns. */
void membership_on_rumor(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                         const struct update *update, uint64_t samples);
/* Once a second: what is usual; and note who claims much more than its rumors show. */
void membership_review(struct node *node);
/* From now on count anew what rumors bear out (member.borne_out). */
void membership_count_anew(struct node *node);
void membership_update_own(struct node *node, const struct record *record);
/* The place of its origin among the versions (broadcast/version.h). */
void membership_set_place(struct node *node, const struct member *member, uint32_t place);

#endif
