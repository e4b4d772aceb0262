/* Suspension of proofs. An equivocation proof (orders/proofs.h) may concern rumors so old that no
 * log reaches back to them. Then no node can take them out or give a base without them, and a
 * member could stop a swarm with a proof of its own old lie. So the majority counts: all nodes take
 * out the rumors that most nodes have taken out, and rumors that most cannot take out stay.
 *
 *   this node has rumors beyond the limit, and most of its neighbours have or may have them
 *     ──► no base is taken over because of that proof
 *   of this node and the neighbours with a known vote, at least half have had them for long
 *     ──► the proof is suspended: these rumors and later ones count; the author stays expelled
 *   most of these nodes have none ──► the proof is obeyed (again)
 *
 * Tests: tests/world/test_suspension.c.
 */
#ifndef HEARSAY_NODE_GOVERNANCE_SUSPENSION_H
#define HEARSAY_NODE_GOVERNANCE_SUSPENSION_H

#include "node/connection/connection.h"
#include "node/core.h"

struct suspension *suspension_new(struct arena *arena);
size_t suspension_arena_bytes(void);

/* Call it when a peer becomes a neighbour: it has not shown a version yet. */
void suspension_on_open(struct node *node, const struct peer *peer);
/* Forgets what neighbours have shown about the proof against this author, because the proof has
 * changed. */
void suspension_on_proof(struct node *node, const uint8_t author[static ID_BYTES]);
/* Finds out from a neighbour's version which proofs the neighbour obeys. */
void suspension_on_version(struct node *node, const struct peer *from,
                           const struct message *version);
/* Finds out from a part of a neighbour's history which proofs the neighbour disobeys. */
void suspension_on_history(struct node *node, const struct peer *from,
                           const struct message *history);
/* Suspends one proof that at least half of this node and its neighbours have long disobeyed, or
 * ends one suspension if most have obeyed. Returns that proof, or NULL if no proof changes. Call it
 * until it returns NULL, a few times a second. */
const struct proof *suspension_next(struct node *node);

#endif
