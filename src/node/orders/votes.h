/* Votes that members harm (wire/vote.h): those that this node knows, how they spread, and when they
 * decide.
 *
 *   on opening                         VOTES: all that are known, if any
 *   once a second to one neighbour     VOTES: a hash of those known, if any; who knows others
 *                                      answers with its own
 *   one that is new                    VOTES: to all other neighbours, at once
 *
 * Only members of the list, or whom the operator has admitted, have a vote, and only they can be
 * accused (admitted.h): so the holder of the swarm key cannot make up voters. Whom the operator has
 * put out has none; who is out by votes or by a proof still has, or the order in which members go
 * would matter.
 *
 * More than half of the members put the accused out. What stays of its rumors is what so many of
 * them leave: of the votes by how little they leave, the one in the middle of the members. A
 * minority can move that only between what others have voted for. One vote of each voter about each
 * accused counts, the one that leaves the least, and votes are never taken back. So all of it is a
 * function of the votes and the members, in whatever order they came, and with more votes nothing
 * that was out comes back. If the members become more, a majority may be one no more. Held by
 * tests/world/test_quarantine.c.
 */
#ifndef HEARSAY_NODE_ORDERS_VOTES_H
#define HEARSAY_NODE_ORDERS_VOTES_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/harm.h"
#include "wire/proof.h"
#include "wire/vote.h"

/* After the connections, which know the context. The options' votes were checked
 * (node_votes_check). */
struct votes *votes_new(struct arena *arena, const struct node *node);
size_t votes_arena_bytes(const struct node_options *options);

/* Do votes count: does the configuration ask for it, and are there members, and not too many? */
bool votes_count_here(const struct node *node);
/* So many members must have voted against one, where votes count. */
uint32_t votes_needed(const struct node *node);

/* Takes a vote of a member against a member; *is_new if it was not known, or leaves less. Of others
 * it takes none, which is no error. MALFORMED, FORGED: it is none. */
enum error votes_take(struct node *node, const uint8_t in[static VOTE_BYTES],
                      bool *is_new) MUST_USE;
/* This node votes, unless it has: true, if that is new. */
bool votes_cast(struct node *node, const uint8_t accused[static ID_BYTES], uint64_t incarnation,
                uint32_t keep);

/* How many members have voted against this one; and what they decide, if they are enough. */
uint32_t votes_against(const struct node *node, const uint8_t accused[static ID_BYTES]);
bool votes_decide(const struct node *node, const uint8_t accused[static ID_BYTES],
                  struct proof *decision);
/* Whoever is accused, by ascending id: NULL before the first, and after the last. */
const uint8_t *votes_next_accused(const struct node *node, const uint8_t *before);

/* The members may have changed: votes of who is none, or against one, are forgotten. To be called
 * before votes come of a member that is new. */
void votes_on_members(struct node *node);

/* To this neighbour: all that are known, as its queue has room; or those against this member. */
void votes_say(struct node *node, const struct peer *peer);
void votes_say_against(struct node *node, const struct peer *peer,
                       const uint8_t accused[static ID_BYTES]);
void votes_say_one(struct node *node, const struct peer *peer,
                   const uint8_t vote[static VOTE_BYTES]);
/* A neighbour has shown what it knows; it is answered if that is something else. */
void votes_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Once a second. */
void votes_show_one(struct node *node);

#endif
