/* Suspension: a proof that a member lies (orders/proofs.h) may be of rumors so old that no
 * log reaches back to them. Then nobody can take them out, and nobody can give a base without them:
 * a member could stop a swarm by proving of itself that it lied long ago. So what most have taken
 * out all take out, and what most cannot stays.
 *
 *   of the neighbours that have shown a version, and of us, most have rumors in doubt
 *     ──► no base is taken over because of that proof
 *     ──► if that lasts, or half have them: the proof is suspended. What it is about counts, with
 *         all that follows; its author stays out
 *   most have none ──► the proof is obeyed (again)
 *
 * Held by tests/world/test_equivocation.c.
 */
#ifndef HEARSAY_NODE_SUSPENSION_H
#define HEARSAY_NODE_SUSPENSION_H

#include "node/connection/connection.h"
#include "node/core.h"

struct suspension *suspension_new(struct arena *arena);
size_t suspension_arena_bytes(void);

/* A new neighbour has shown nothing. */
void suspension_on_open(struct node *node, const struct peer *peer);
/* The proof against this author is new, or another: what was shown is compared with it anew. */
void suspension_on_proof(struct node *node, const uint8_t author[static ID_BYTES]);
/* Which of the rumors in doubt does this neighbour have? */
void suspension_on_version(struct node *node, const struct peer *from,
                           const struct message *version);
/* The same of a part of its history, which says whose rumors they are. */
void suspension_on_history(struct node *node, const struct peer *from,
                           const struct message *history);
/* A few times a second, until NULL: a proof that has been suspended, or is obeyed again. */
const struct proof *suspension_next(struct node *node);

#endif
