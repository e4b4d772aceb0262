/* Equivocation proofs (wire/equivocation_proof.h): which this node knows, and how they spread.
 *
 *   on opening                       PROOF: all known proofs, if any
 *   once a second to one neighbour   PROOF: a hash of the known ones, if any; a node with
 *                                    another hash answers with its proofs
 *   a new proof                      PROOF: to all other neighbours, at once
 *
 * The table also holds expulsions that members decide by votes (quorum_votes.h), which spread as
 * votes. If a member has both, the stricter limit counts. Of the proofs against one author the
 * strictest is kept, so all nodes end with the same proofs whatever the order of arrival.
 * expulsion.c refuses proofs against ids that are no members, and applies the others. Proofs and
 * decisions have separate limits, so neither can fill the table for the other. Tests:
 * tests/world/test_equivocation.c and test_quarantine.c.
 */
#ifndef HEARSAY_NODE_ORDERS_PROOFS_H
#define HEARSAY_NODE_ORDERS_PROOFS_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/expulsion_api.h"
#include "node/quarantine_api.h"
#include "wire/equivocation_proof.h"

/* Maximum entries of the table: accused members with a proof, a decision, or both. */
#define PROOFS_ACCUSED (NODE_PROOFS + NODE_VOTERS)

/* Call it after the connections were created, which set the context of signatures, and after
 * node_proofs_check has accepted the options' proofs. */
struct proofs *proofs_new(struct arena *arena, const struct node *node);
size_t proofs_arena_bytes(void);

/* Returns the stricter of the proof and the members' decision against this member; NULL if there is
 * neither. */
const struct proof *proofs_against(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Like proofs_against, but NULL while the verdict is suspended (suspension.h). */
const struct proof *proofs_in_force(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Returns the index of this member's entry; UINT32_MAX if it has none. The index stays the same
 * while a proof or a decision is known. Another member may get the entry after that. */
uint32_t proofs_number(const struct node *node, const uint8_t id[static ID_BYTES]);
uint32_t proofs_count(const struct node *node);
const struct proof *proofs_at(const struct node *node, uint32_t i);
const uint8_t *proofs_author(const struct node *node, uint32_t i);
bool proofs_is_suspended(const struct node *node, uint32_t i);
void proofs_suspend(struct node *node, uint32_t i, bool is_suspended);
/* Returns true if this node still has rumors beyond the limit of a verdict in force, and most nodes
 * may have them too: a neighbour that has not shown a version counts as having them. Then they are
 * no reason to take over another base. A new verdict counts as contested until proofs_contest is
 * called. */
bool proofs_are_contested(const struct node *node);
void proofs_contest(struct node *node, bool is_contested);

/* Stores a proof and sets *is_new to true. Stores nothing and sets *is_new to false if a proof that
 * is at least as strict is known against its author, or if the table is full. Returns MALFORMED or
 * FORGED if the bytes prove nothing. */
enum error proofs_take(struct node *node, const uint8_t in[static PROOF_BYTES],
                       bool *is_new) MUST_USE;

/* Returns true if a proof is known against the author of entry i. */
bool proofs_is_proven(const struct node *node, uint32_t i);
/* Forgets the proof of entry i. A decision by votes stays. */
void proofs_forget(struct node *node, uint32_t i);

/* Records that votes have decided to expel member `id`; or, if decision = NULL, that they have lost
 * their majority. Returns true if this changes the verdict on the member. */
bool proofs_decide(struct node *node, const uint8_t id[static ID_BYTES],
                   const struct proof *decision);
bool proofs_is_decided(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Sends a neighbour all known proofs, as many as fit in its queue. */
void proofs_say(struct node *node, const struct peer *peer);
/* Sends a neighbour the proof against member `id`, if this node knows one. */
void proofs_say_one(struct node *node, const struct peer *peer, const uint8_t id[static ID_BYTES]);
/* If the hash of a neighbour's proofs differs from ours, sends the neighbour our proofs; if we have
 * none, asks for the neighbour's. */
void proofs_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Sends a random neighbour the hash of our proofs, if we have any. Call it once a second. */
void proofs_show_one(struct node *node);

#endif
