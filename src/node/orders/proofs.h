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

/* Creates the state; call it after creating the connections, which know the context.
 * node_proofs_check has checked the options' proofs. */
struct proofs *proofs_new(struct arena *arena, const struct node *node);
size_t proofs_arena_bytes(void);

/* Returns the proof against this member; NULL if there is none. */
const struct proof *proofs_against(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Returns the proof against this member if it is in force; NULL while the member's rumors stay
 * (suspension.h). */
const struct proof *proofs_in_force(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Returns the index of the author's entry, which never changes; UINT32_MAX if there is none. */
uint32_t proofs_number(const struct node *node, const uint8_t id[static ID_BYTES]);
uint32_t proofs_count(const struct node *node);
const struct proof *proofs_at(const struct node *node, uint32_t i);
const uint8_t *proofs_author(const struct node *node, uint32_t i);
bool proofs_is_suspended(const struct node *node, uint32_t i);
void proofs_suspend(struct node *node, uint32_t i, bool is_suspended);
/* Returns true if most neighbours disobey a proof that this node obeys. Then no base is taken over
 * because of it. */
bool proofs_are_contested(const struct node *node);
void proofs_contest(struct node *node, bool is_contested);

/* Stores a proof. *is_new: it is stricter than the known one. Returns MALFORMED or FORGED if it
 * proves nothing. */
enum error proofs_take(struct node *node, const uint8_t in[static PROOF_BYTES],
                       bool *is_new) MUST_USE;

/* Records the members' decision (PROOF_VOTES) to expel member `id`. decision = NULL revokes it.
 * Returns true if the expulsion or its limit changed. */
bool proofs_decide(struct node *node, const uint8_t id[static ID_BYTES],
                   const struct proof *decision);
bool proofs_is_decided(const struct node *node, const uint8_t id[static ID_BYTES]);

/* proofs_say sends a neighbour all known proofs, as many as fit its queue; proofs_say_one sends the
 * proof against one member. */
void proofs_say(struct node *node, const struct peer *peer);
void proofs_say_one(struct node *node, const struct peer *peer, const uint8_t id[static ID_BYTES]);
/* Handles a neighbour's hash of its proofs, and answers if it differs from ours. */
void proofs_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Sends one neighbour the hash of the known proofs; called once a second. */
void proofs_show_one(struct node *node);

#endif
