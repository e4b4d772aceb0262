/* First weights: two nodes of one form of model (crypto/gate.h) began from different weights, and
 * one takes over the other's.
 *
 *   caller ── gate: model hash, form, standing ──► called       the model hashes differ:
 *          ◄── refusal: the same of the called ──               each side knows both standings
 *
 *   the lower standing takes over the model hash and lacks a base ──► transfer: TAKE, FETCH
 *
 * The standing says how established the first weights of a node are:
 *    0         its base is not whole        3 + log2  of the rumors known, at most 62
 *    1         it has not joined            63        established: one incarnation has published
 *    2         it has joined, and no rumor            256 rumors, or rumors are known and there is
 *              is known                               an operator or a list of members
 * Equal standings: the smaller model hash stays. So the order of all starts is the same everywhere,
 * whoever meets first, and no node gives up a swarm's weights for those of a newcomer.
 *
 * An established swarm never gives up its first weights, and a node with orders or proofs never its
 * own: a claim at the gate has no author whom the rules of trust could judge. Before, a member that
 * lies about its standing costs a young swarm what it has learned, at most 256 rumors of each.
 *
 * The model hash is part of the context of all signatures. Records and rumors of before are of no
 * use under another, so they are forgotten.
 *
 * Held by tests/world/test_first_weights.c and by `storm` (sim/storm).
 */
#ifndef HEARSAY_NODE_FIRST_WEIGHTS_H
#define HEARSAY_NODE_FIRST_WEIGHTS_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Once a second and after each change: the gate shows the present standing. */
void first_weights_show(struct node *node);

/* Ends a conversation before the session. If only first weights differ, this node may take over the
 * other's. why: the refusal, for the note. */
void first_weights_on_refused(struct node *node, const struct peer *peer, const char *why);

#endif
