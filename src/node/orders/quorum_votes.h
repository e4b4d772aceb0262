/* Expulsion votes (wire/vote.h): the known ones, how they spread, and when they decide.
 *
 *   on opening                       VOTES: all known votes, if any
 *   once a second to one neighbour   VOTES: a hash of the known ones, if any; a node
 *                                    that knows others answers with them
 *   a new vote                       VOTES: to all other neighbours, at once
 *
 * Only members of the list, or those admitted by the operator, can vote or be accused (admitted.h),
 * so the holder of the swarm key cannot invent voters. A member that the operator expelled has no
 * vote. A member expelled by votes or a proof keeps its vote, otherwise the order of expulsions
 * would matter.
 *
 * More than half of the members expel the accused. The number of its rumors that stay is the median
 * over the members, counting a missing vote as no limit. A minority moves it only between values
 * that others voted for. Of a voter's votes against one accused the strictest counts, and no vote
 * is ever withdrawn. So the result is a function of the votes and the members, whatever the order
 * of arrival, and further votes never readmit an expelled member. New members may end a majority.
 * Tests: tests/world/test_quarantine.c.
 */
#ifndef HEARSAY_NODE_ORDERS_QUORUM_VOTES_H
#define HEARSAY_NODE_ORDERS_QUORUM_VOTES_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/quarantine_api.h"
#include "wire/equivocation_proof.h"
#include "wire/vote.h"

/* Creates the state; call it after creating the connections, which know the context.
 * node_votes_check has checked the options' votes. */
struct votes *votes_new(struct arena *arena, const struct node *node);
size_t votes_arena_bytes(const struct node_options *options);

/* Returns true if votes count: they are configured, and the number of members is known and not too
 * large. */
bool votes_count_here(const struct node *node);
/* Returns the number of votes that expel a member, where votes count. */
uint32_t votes_needed(const struct node *node);

/* Stores a member's vote against a member. *is_new: it is new or stricter. Ignores votes by or
 * against non-members without an error. MALFORMED, FORGED: not a vote. */
enum error votes_take(struct node *node, const uint8_t in[static VOTE_BYTES],
                      bool *is_new) MUST_USE;
/* Casts this node's vote. Returns true if it is new. */
bool votes_cast(struct node *node, const uint8_t accused[static ID_BYTES], uint64_t incarnation,
                uint32_t keep);

/* votes_against returns the number of votes against this member. votes_decide returns true and the
 * decision if they are enough. */
uint32_t votes_against(const struct node *node, const uint8_t accused[static ID_BYTES]);
bool votes_decide(const struct node *node, const uint8_t accused[static ID_BYTES],
                  struct proof *decision);
/* Returns the next accused member by ascending id; NULL starts and ends the iteration. */
const uint8_t *votes_next_accused(const struct node *node, const uint8_t *before);

/* Drops votes by or against non-members, after a change of members. Call it before taking votes of
 * a new member. */
void votes_on_members(struct node *node);

/* votes_say sends a neighbour all known votes, as many as fit its queue; votes_say_against sends
 * the votes against one member, votes_say_one a single vote. */
void votes_say(struct node *node, const struct peer *peer);
void votes_say_against(struct node *node, const struct peer *peer,
                       const uint8_t accused[static ID_BYTES]);
void votes_say_one(struct node *node, const struct peer *peer,
                   const uint8_t vote[static VOTE_BYTES]);
/* Handles a neighbour's hash of its votes, and answers if it differs from ours. */
void votes_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Sends one neighbour the hash of the known votes; called once a second. */
void votes_show_one(struct node *node);

#endif
