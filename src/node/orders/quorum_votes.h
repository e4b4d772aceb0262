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

/* Creates the state. Call it after the connections were created, which set the context of
 * signatures, and after node_votes_check has accepted the options' votes. */
struct votes *votes_new(struct arena *arena, const struct node *node);
size_t votes_arena_bytes(const struct node_options *options);

/* Returns true if votes count: they are configured on, and the number of members is known and at
 * most NODE_VOTERS. */
bool votes_count_here(const struct node *node);
/* Returns the number of votes that suffices to expel a member. Call it only if votes_count_here
 * is true. */
uint32_t votes_needed(const struct node *node);

/* Stores a vote by one member against another. Sets *is_new if no vote as strict by this voter
 * was known. Ignores a vote by or against a non-member and returns OK. Returns MALFORMED or FORGED
 * if the bytes are no vote. */
enum error votes_take(struct node *node, const uint8_t in[static VOTE_BYTES],
                      bool *is_new) MUST_USE;
/* Casts this node's vote to expel a member and sends it to all neighbours. Returns false if the
 * node has voted before, or if the vote would not count. */
bool votes_cast(struct node *node, const uint8_t accused[static ID_BYTES], uint64_t incarnation,
                uint32_t keep);

/* Returns the number of votes against this member; 0 if votes do not count (votes_count_here). */
uint32_t votes_against(const struct node *node, const uint8_t accused[static ID_BYTES]);
/* Returns true if the votes against this member suffice to expel it. Then sets *decision to the
 * number of its rumors that stay. */
bool votes_decide(const struct node *node, const uint8_t accused[static ID_BYTES],
                  struct proof *decision);
/* Returns the accused member with the next higher id than *before, or the lowest id if before =
 * NULL. Returns NULL after the last one. */
const uint8_t *votes_next_accused(const struct node *node, const uint8_t *before);

/* Call it when the members have changed: drops votes by or against non-members. Only after this
 * call, take votes of new members. */
void votes_on_members(struct node *node);

/* Sends a neighbour all known votes, as many as fit in its queue. */
void votes_say(struct node *node, const struct peer *peer);
/* Sends a neighbour the votes against this member. */
void votes_say_against(struct node *node, const struct peer *peer,
                       const uint8_t accused[static ID_BYTES]);
/* Sends a neighbour one vote. */
void votes_say_one(struct node *node, const struct peer *peer,
                   const uint8_t vote[static VOTE_BYTES]);
/* Handles the hash of a neighbour's votes. If it differs from ours, sends the neighbour our
 * votes, or asks for its votes if we have none. */
void votes_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Sends one neighbour the hash of our votes. Call it once a second. */
void votes_show_one(struct node *node);

#endif
