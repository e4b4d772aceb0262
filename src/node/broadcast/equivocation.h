/* Detection of equivocation: an origin's stream that differs between nodes, and heads that no rumor
 * may have.
 *
 *   a rumor that contradicts a known one ──────────────────────────────────────┐
 *   an entry of a VERSION with another hash ──► HEADS: heads of its stream ──► proof
 *
 * Two heads of one stream that contradict each other prove to every node that the origin has signed
 * two rumors under one number (wire/equivocation_proof.h). A head that no rumor may have
 * (head_is_within) is a proof by itself. If only hashes differ, neighbours exchange heads: a node
 * that sees another hash at a known number sends its last 64 heads up to that number. The receiver
 * finds the first head that contradicts one of its own. If the streams part before all these heads,
 * the rumors from that head on are taken out. The remaining rumors still differ, so the next
 * VERSION leads to earlier heads. Tests: tests/world/test_equivocation.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_EQUIVOCATION_H
#define HEARSAY_NODE_BROADCAST_EQUIVOCATION_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Handles HEADS, which a neighbour sent because its hash of an origin's stream differs from ours.
 * Looks for the first head that contradicts one of ours or exceeds head_is_within. If the origin
 * signed that head, keeps a proof; otherwise, or if the size is impossible, ends the conversation.
 * Ignores heads of an unknown origin, and of one with rumors to retract. */
void equivocation_on_heads(struct node *node, const struct peer *from, uint64_t tag,
                           const uint8_t *heads, size_t bytes);
/* Returns true if each head of this history is signed by its origin and keeps the limits of
 * head_is_within. Does not check known heads again. */
bool equivocation_is_honest_history(struct node *node, const uint8_t *history, uint32_t entries);
/* Returns true if an entry of this history belongs to another stream than ours. Ignores origins of
 * which this node has rumors to retract. If it returns true and one of our heads contradicts the
 * entry, keeps a proof. */
bool equivocation_in_history(struct node *node, const uint8_t *history, uint32_t entries);
/* Copies the kept proof (PROOF_BYTES, already checked) to `out` and forgets it. Returns false if no
 * proof is kept. */
bool equivocation_take_proof(struct node *node, uint8_t *out);
/* Sets `hash` to the hash of the head of the origin's rumor next - 1; zeros if next is 0.
 * Returns false if this node does not know the hash. */
bool equivocation_hash_before(const struct node *node, uint32_t origin_index, uint32_t next,
                              uint8_t *hash);

#endif
