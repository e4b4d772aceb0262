/* The versions of the protocol that this build speaks.
 *
 *   release of before   speaks  … 11          Two neighbours speak the newest version that both
 *   this one            speaks     11  12     know (crypto/gate.h finds it), so a swarm is upgraded
 *   the next one        speaks         12 …   node by node, one release at a time.
 *
 *   VERSION  BRINGS
 *        12  QUESTION, REPLY
 *
 * What a neighbour speaks is asked in one place: peer_knows (connection/peer.h), of a kind of
 * message, each of which is of one version (message_since). So a kind never gets other fields:
 * what is to say more is another kind.
 *
 * What is signed goes further than to neighbours, to members of all versions, and has to mean the
 * same to each. It is bound to the context, which is made with PROTOCOL_OF_CONTEXT: the first
 * version whose records, rumors, orders, proofs and votes are those of today. A release that
 * changes one of these cannot be one of two neighbours of different releases: it raises all three
 * numbers.
 */
#ifndef HEARSAY_NET_WIRE_PROTOCOL_H
#define HEARSAY_NET_WIRE_PROTOCOL_H

#define PROTOCOL_KNOCK      0 /* no version: whoever shows it wants to be refused, and to learn */
#define PROTOCOL_OLDEST     11
#define PROTOCOL_NEWEST     12
#define PROTOCOL_OF_CONTEXT 11

_Static_assert(PROTOCOL_OF_CONTEXT <= PROTOCOL_OLDEST, "all that are spoken sign alike");
_Static_assert(PROTOCOL_NEWEST - PROTOCOL_OLDEST <= 1, "it and the one before it");

#endif
