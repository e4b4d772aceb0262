/* Suspension of proofs. An equivocation proof (orders/proofs.h) may concern rumors so old that no
 * log reaches back to them. Then no node can take them out or give a base without them, and a
 * member could stop a swarm by proving an old lie of its own. So the majority counts: what most
 * nodes have taken out, all take out; what most nodes cannot take out stays.
 *
 *   of this node and the neighbours that have shown a version, most have rumors beyond the limit
 *     ──► no base is taken over because of that proof
 *     ──► if that lasts, or on a lasting tie: the proof is suspended. These rumors and all that
 *         follow count; the author stays expelled
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
/* The proof against this author has changed: forgets what was shown about it. */
void suspension_on_proof(struct node *node, const uint8_t author[static ID_BYTES]);
/* Records which rumors beyond limits this neighbour has. */
void suspension_on_version(struct node *node, const struct peer *from,
                           const struct message *version);
/* The same for a part of its history, which also has the ids. */
void suspension_on_history(struct node *node, const struct peer *from,
                           const struct message *history);
/* A few times a second, until NULL: returns a proof that has just been suspended or is obeyed
 * again. */
const struct proof *suspension_next(struct node *node);

#endif
