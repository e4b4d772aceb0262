/* The protocol versions that this build speaks.
 *
 *   previous release    speaks  … 11
 *   this release        speaks     11  12
 *   next release        speaks         12 …
 *
 * Two neighbours speak the newest version that both know (crypto/gate.h), so a swarm is upgraded
 * node by node, one release at a time.
 *
 *   VERSION  BRINGS
 *        12  INFERENCE, REPLY; form and standing in the introduction
 *
 * Only peer_knows (connection/peer.h) asks whether a neighbour knows a kind of message. Each kind
 * has a first version (message_since). A kind never gets other fields: more information needs
 * another kind.
 *
 * Signed bytes travel beyond neighbours to members of all versions and must mean the same to each.
 * They are bound to the context, which contains PROTOCOL_OF_CONTEXT: the first version with today's
 * records, rumors, orders, proofs and votes. A release that changes one of these formats cannot
 * talk to the release before it. It raises PROTOCOL_OLDEST, PROTOCOL_NEWEST and
 * PROTOCOL_OF_CONTEXT.
 */
#ifndef HEARSAY_NET_FRAME_PROTOCOL_H
#define HEARSAY_NET_FRAME_PROTOCOL_H

/* A version probe shows this version. No node speaks it, so the dialled node refuses, and the probe
 * receives that node's introduction. */
#define PROTOCOL_PROBE      0
#define PROTOCOL_OLDEST     11
#define PROTOCOL_NEWEST     12
#define PROTOCOL_OF_CONTEXT 11
/* First version in which a node can take over the first weights of another. */
#define PROTOCOL_OF_FORM 12

_Static_assert(PROTOCOL_OF_CONTEXT <= PROTOCOL_OLDEST, "all versions spoken share one context");
_Static_assert(PROTOCOL_NEWEST - PROTOCOL_OLDEST <= 1, "a release speaks at most two versions");

#endif
