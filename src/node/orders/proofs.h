/* Equivocation proofs (wire/equivocation_proof.h): the known ones, and how they spread.
 *
 *   on opening                       PROOF: all known proofs, if any
 *   once a second to one neighbour   PROOF: a hash of the known ones, if any; a node
 *                                    that knows others answers with them
 *   a new proof                      PROOF: to all other neighbours, at once
 *
 * The table also holds expulsions that members decide by votes (quorum_votes.h), which spread as
 * votes. If a member has both, the stricter limit counts. Of the proofs against one author the
 * strictest is kept, so all nodes end with the same proofs whatever the order of arrival.
 * expulsion.c applies proofs to the other folders. Tests: tests/world/test_equivocation.c.
 */
#ifndef HEARSAY_NODE_ORDERS_PROOFS_H
#define HEARSAY_NODE_ORDERS_PROOFS_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/expulsion_api.h"
#include "wire/equivocation_proof.h"

/* Creates the state. Call it after the connections were created, which set the context of
 * signatures, and after node_proofs_check has accepted the options' proofs. */
struct proofs *proofs_new(struct arena *arena, const struct node *node);
size_t proofs_arena_bytes(void);

/* Returns the proof against this member, or the members' decision if that is stricter; NULL if
 * there is neither. */
const struct proof *proofs_against(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Returns the proof or decision against this member; NULL if there is none, or while the verdict is
 * suspended (suspension.h). */
const struct proof *proofs_in_force(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Returns the index of this member's entry in the table, which never changes; UINT32_MAX if the
 * member has no entry. */
uint32_t proofs_number(const struct node *node, const uint8_t id[static ID_BYTES]);
uint32_t proofs_count(const struct node *node);
const struct proof *proofs_at(const struct node *node, uint32_t i);
const uint8_t *proofs_author(const struct node *node, uint32_t i);
bool proofs_is_suspended(const struct node *node, uint32_t i);
void proofs_suspend(struct node *node, uint32_t i, bool is_suspended);
/* Returns true if most neighbours do not obey a proof that this node obeys. Then the difference
 * that the proof makes is no reason to take over another base. */
bool proofs_are_contested(const struct node *node);
void proofs_contest(struct node *node, bool is_contested);

/* Stores a proof. Sets *is_new if no proof as strict was known against this author. Returns
 * MALFORMED or FORGED if the bytes prove nothing. */
enum error proofs_take(struct node *node, const uint8_t in[static PROOF_BYTES],
                       bool *is_new) MUST_USE;

/* Records that the members have decided by votes to expel member `id`; or, if decision = NULL,
 * that the votes have no majority any more. Returns true if this changes the verdict on the
 * member. */
bool proofs_decide(struct node *node, const uint8_t id[static ID_BYTES],
                   const struct proof *decision);
bool proofs_is_decided(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Sends a neighbour all known proofs, as many as fit in its queue. */
void proofs_say(struct node *node, const struct peer *peer);
/* Sends a neighbour the proof against this member, if it is known. */
void proofs_say_one(struct node *node, const struct peer *peer, const uint8_t id[static ID_BYTES]);
/* Handles the hash of a neighbour's proofs. If it differs from ours, sends the neighbour our
 * proofs, or asks for its proofs if we have none. */
void proofs_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Sends one neighbour the hash of our proofs. Call it once a second. */
void proofs_show_one(struct node *node);

#endif
