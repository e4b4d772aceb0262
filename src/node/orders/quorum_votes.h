/* Expulsion votes (wire/vote.h): which this node knows, how they spread, and when they decide.
 *
 *   on opening                       VOTES: all known votes, if any
 *   once a second to one neighbour   VOTES: a hash of the known ones, if any; a node with
 *                                    another hash answers with its votes
 *   a new vote                       VOTES: to all other neighbours, at once
 *
 * Only members of the list, or those admitted by the operator, can vote or be accused (admitted.h),
 * so the holder of the swarm key cannot invent voters. A member that the operator expelled has no
 * vote. A member expelled by votes or a proof keeps its vote, otherwise the order of expulsions
 * would matter.
 *
 * Votes of more than half of the members expel the accused, if they count together: they name
 * rumors of one incarnation at most VOTES_APART apart, or of incarnations that started within as
 * many seconds. So false votes of different weeks never add up, and no clock is read. Of several
 * such majorities the strictest counts. The number of rumors that stay is the median over the
 * members, in which a member without a vote of that majority counts as setting no limit. A minority
 * moves the median only between values that others voted for.
 *
 * Of a voter's votes against one accused the latest counts, by incarnation and number. A node votes
 * again if it finds harm beyond its old vote's reach. So the result is a function of the votes and
 * the members, whatever the order of arrival. New members may end a majority, and so may a voter
 * that moves its vote. Tests: tests/world/test_quarantine.c.
 */
#ifndef HEARSAY_NODE_ORDERS_QUORUM_VOTES_H
#define HEARSAY_NODE_ORDERS_QUORUM_VOTES_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/quarantine_api.h"
#include "wire/equivocation_proof.h"
#include "wire/vote.h"

/* Call it after the connections were created, which set the context of signatures, and after
 * node_votes_check has accepted the options' votes. */
struct votes *votes_new(struct arena *arena, const struct node *node);
size_t votes_arena_bytes(const struct node_options *options);

/* Returns true if votes count: they are configured on, and 1 to NODE_VOTERS members may vote. */
bool votes_count_here(const struct node *node);
/* Returns how many votes expel a member. Call it only if votes_count_here is true. */
uint32_t votes_needed(const struct node *node);

/* Stores a vote by one member against another, and sets *is_new. Sets *is_new to false and returns
 * OK if the vote does not count, is not later than this voter's last one, or cannot be stored
 * now. Returns MALFORMED or FORGED if the bytes are no vote. */
enum error votes_take(struct node *node, const uint8_t in[static VOTE_BYTES],
                      bool *is_new) MUST_USE;
/* Casts this node's vote to expel a member and sends it to all neighbours. It replaces the node's
 * earlier vote against that member. Returns false if that vote is not earlier or counts together
 * with this one, if this vote would not count, or if the table is full. */
bool votes_cast(struct node *node, const uint8_t accused[static ID_BYTES], uint64_t incarnation,
                uint32_t keep);

/* Returns true if votes_cast would cast this vote. */
bool votes_may_cast(const struct node *node, const uint8_t accused[static ID_BYTES],
                    uint64_t incarnation, uint32_t keep);

/* Returns the largest number of votes against this member that count together; 0 unless
 * votes_count_here. */
uint32_t votes_against(const struct node *node, const uint8_t accused[static ID_BYTES]);
/* Returns true if the votes against this member suffice to expel it. Then sets *decision, which
 * says how many of its rumors stay. */
bool votes_decide(const struct node *node, const uint8_t accused[static ID_BYTES],
                  struct proof *decision);
/* Returns the lowest id of an accused member, above `before` unless that is NULL. Returns NULL
 * after the last one. */
const uint8_t *votes_next_accused(const struct node *node, const uint8_t *before);

/* Call it when admitted_voters_hash has changed: drops votes by or against ids that may not vote,
 * unless no id may. Take votes of new members only after this call. */
void votes_on_members(struct node *node);

/* Sends a neighbour all known votes, as many as fit in its queue. */
void votes_say(struct node *node, const struct peer *peer);
/* Sends a neighbour the votes against this member. */
void votes_say_against(struct node *node, const struct peer *peer,
                       const uint8_t accused[static ID_BYTES]);
void votes_say_one(struct node *node, const struct peer *peer,
                   const uint8_t vote[static VOTE_BYTES]);
/* If the hash of a neighbour's votes differs from ours, sends the neighbour our votes; if we have
 * none, asks for the neighbour's. */
void votes_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Sends a random neighbour the hash of our votes, if we have any. Call it once a second. */
void votes_show_one(struct node *node);

#endif
