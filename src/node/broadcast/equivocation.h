/* Detection of equivocation: a stream that differs here and elsewhere, and heads beyond any limit.
 *
 *   a rumor that contradicts a known one ────────────────────────────────────┐
 *   an entry of a VERSION with another hash ──► HEADS: our heads of it ──►  proof
 *
 * Two heads of one stream that contradict each other prove to every node that the origin has signed
 * two rumors under one number (wire/equivocation_proof.h). A head that no rumor may have
 * (head_is_within) is a proof by itself. If only hashes differ, neighbours exchange heads: a node
 * that sees another hash at a known number sends its heads up to there, and the receiver finds the
 * first that differs from its own. If the streams part before all of them, the doubtful rumors are
 * taken out. The rest still differs, so the next VERSION goes further back. Held by
 * tests/world/test_equivocation.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_EQUIVOCATION_H
#define HEARSAY_NODE_BROADCAST_EQUIVOCATION_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Takes a neighbour's heads of a stream that differs here. */
void equivocation_on_heads(struct node *node, const struct peer *from, uint64_t tag,
                           const uint8_t *heads, size_t bytes);
/* Returns true if each head of this history is signed by its origin and within the limits. Known
 * heads are not checked again. */
bool equivocation_is_honest_history(struct node *node, const uint8_t *history, uint32_t entries);
/* Returns true if this history shows another stream than ours; then starts the exchange of heads.
 */
bool equivocation_in_history(struct node *node, const uint8_t *history, uint32_t entries);
/* Copies the last proof (PROOF_BYTES, already checked) once. Returns false if there is none. */
bool equivocation_take_proof(struct node *node, uint8_t *out);
/* Finds the hash of the head before the rumor with this number, if known. origin_index: index of
 * the origin. */
bool equivocation_hash_before(const struct node *node, uint32_t origin_index, uint32_t next,
                              uint8_t *hash);

#endif
