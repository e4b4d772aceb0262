/* Proofs that members lie (wire/proof.h): those that this node knows, and how they spread.
 *
 *   on opening                         PROOF: all that are known, if any
 *   once a second to one neighbour     PROOF: a hash of those known, if any; who knows others
 *                                      answers with its own
 *   one that is new                    PROOF: to all other neighbours, at once
 *
 * What members decide by votes (votes.h) stands beside them, and spreads by these votes alone. What
 * leaves the less counts.
 *
 * Of each author the one that leaves the least is kept, so in whatever order they come all nodes
 * end with the same ones. What a proof does to the other rooms is expulsion.c's.
 * Held by tests/world/test_equivocation.c.
 */
#ifndef HEARSAY_NODE_ORDERS_PROOFS_H
#define HEARSAY_NODE_ORDERS_PROOFS_H

#include "node/connection/connection.h"
#include "node/core.h"
#include "node/put_out.h"
#include "wire/proof.h"

/* After the connections, which know the context. The options' proofs were checked
 * (node_proofs_check). */
struct proofs *proofs_new(struct arena *arena, const struct node *node);
size_t proofs_arena_bytes(void);

/* The proof against this member; NULL: there is none. */
const struct proof *proofs_against(const struct node *node, const uint8_t id[static ID_BYTES]);

/* The same, unless what it is about stays (suspension.h). */
const struct proof *proofs_in_force(const struct node *node, const uint8_t id[static ID_BYTES]);

/* Those that are known, by number: one for each author, who keeps it. UINT32_MAX: none is known. */
uint32_t proofs_number(const struct node *node, const uint8_t id[static ID_BYTES]);
uint32_t proofs_count(const struct node *node);
const struct proof *proofs_at(const struct node *node, uint32_t i);
const uint8_t *proofs_author(const struct node *node, uint32_t i);
bool proofs_is_suspended(const struct node *node, uint32_t i);
void proofs_suspend(struct node *node, uint32_t i, bool is_suspended);
/* Is one obeyed here that most neighbours do not obey? Then no base is taken over for its sake. */
bool proofs_are_contested(const struct node *node);
void proofs_contest(struct node *node, bool is_contested);

/* Takes a proof; *is_new if it leaves less of its author than what was known. MALFORMED, FORGED: it
 * proves nothing. */
enum error proofs_take(struct node *node, const uint8_t in[static PROOF_BYTES],
                       bool *is_new) MUST_USE;

/* Members have decided that this one is out, and what stays (PROOF_VOTES); NULL: they have not, or
 * no more. True: what counts of it has changed. */
bool proofs_decide(struct node *node, const uint8_t id[static ID_BYTES],
                   const struct proof *decision);
bool proofs_is_decided(const struct node *node, const uint8_t id[static ID_BYTES]);

/* To this neighbour: all that are known, as its queue has room; or the one against this member. */
void proofs_say(struct node *node, const struct peer *peer);
void proofs_say_one(struct node *node, const struct peer *peer, const uint8_t id[static ID_BYTES]);
/* A neighbour has shown what it knows; it is answered if that is something else. */
void proofs_on_shown(struct node *node, const struct peer *from, uint64_t hash);
/* Once a second. */
void proofs_show_one(struct node *node);

#endif
