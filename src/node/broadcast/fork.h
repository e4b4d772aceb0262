/* Forks: a stream that is another here than elsewhere; and heads that say what none may.
 *
 *   a rumor that contradicts one that we know ───────────────────────────────┐
 *   an entry of a VERSION with another hash ──► HEADS: what we have of it ──►  proof
 *
 * A head that no rumor may have (head_is_within) proves as much by itself, wherever it is met.
 * For the rest: its origin has signed two rumors under one number. Two heads that contradict each
 * other prove it to anybody (wire/proof.h). Where only hashes differ, neighbours show each other
 * heads: whoever sees another hash at a number that it knows says its heads up to there, and the
 * other, who has the head at that number at least, finds the first that differs. If the fork lies
 * before all of them, what is in doubt is taken out, and the rest differs still: the next VERSION
 * goes further back. Held by tests/world/test_equivocation.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_FORK_H
#define HEARSAY_NODE_BROADCAST_FORK_H

#include "node/connection/connection.h"
#include "node/core.h"

/* What a neighbour holds of a stream that is another here. */
void fork_on_heads(struct node *node, const struct peer *from, uint64_t tag, const uint8_t *heads,
                   size_t bytes);
/* Have the origins signed this history, and is it of what rumors may be? What we know to be so is
 * not checked again. */
bool fork_is_honest_history(struct node *node, const uint8_t *history, uint32_t entries);
/* Does this history have another stream than ours? That is looked into. */
bool fork_in_history(struct node *node, const uint8_t *history, uint32_t entries);
/* The proof that was found last, once: PROOF_BYTES, checked. */
bool fork_take_proof(struct node *node, uint8_t *out);
/* The hash of the head before the rumor with this number, as far as it is known. place: of the
 * origin among the versions. */
bool fork_hash_before(const struct node *node, uint32_t place, uint32_t next, uint8_t *hash);

#endif
