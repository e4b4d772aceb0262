/* First weights: two nodes of one form of model (crypto/gate.h) began from different weights, and
 * one takes over the other's.
 *
 *   dialer ── gate: model hash, form, standing ──► acceptor     the model hashes differ:
 *          ◄── refusal: the acceptor's data ──                  each side knows both standings
 *
 *   the lower standing takes over the model hash and lacks a base ──► transfer: TAKE, FETCH
 *
 * The standing says how established the first weights of a node are:
 *    0         its base is incomplete       3 + log2  of the rumors known, at most 62
 *    1         it has not joined            63        established: one incarnation has published
 *    2         it has joined, and no rumor            256 rumors, or rumors are known and there is
 *              is known                               an operator or a list of members
 * Equal standings: the smaller model hash stays. So all nodes rank first weights in one order,
 * whichever nodes meet first, and no node gives up a swarm's weights for those of a newcomer.
 *
 * An established swarm never gives up its first weights, and neither does a node with orders or
 * proofs. The standing at the gate is not signed, so no proof could expel a node that lies about
 * it. A young swarm can lose its progress to such a lie: at most 256 rumors of each incarnation.
 *
 * The model hash is part of the context of all signatures. Records and rumors signed for the old
 * hash are invalid under the new one, so they are forgotten.
 *
 * Tests: tests/world/test_first_weights.c and `storm` (sim/storm).
 */
#ifndef HEARSAY_NODE_FIRST_WEIGHTS_H
#define HEARSAY_NODE_FIRST_WEIGHTS_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Updates the standing in this node's introduction. Call it once a second, and when the model hash
 * has changed. */
void first_weights_show(struct node *node);

/* Ends a conversation whose handshake failed. If only the first weights of the two nodes differ,
 * this node may take over the peer's. why: reason of the failure, for the note. */
void first_weights_on_refused(struct node *node, const struct peer *peer, const char *why);

#endif
