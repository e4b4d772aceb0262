/* Attackers: outsiders (world.h) that call a node of the world and break the protocol.
 *
 *   STRANGER  has another swarm key.
 *   MEMBER    has the swarm key and an identity of its own; each call is another attack.
 *     handshake  silence; noise; a truncated, bit-flipped or replayed greeting
 *     stream     sealed records that are flipped, truncated or repeated
 *     session    no introduction, or another's; noise; random messages; rumors that are early,
 *                forged, or over the limits, some of these of members that nobody has met; records
 *                that are forged, untrue or of nobody; huge versions; wants for everything; floods;
 *                false acks; the history of another node with a base that is not its; histories
 *                that nobody signed, of the victim's future, of a flood of incarnations; and
 *                rumors at the limits, of an author of its own
 *   MUTE      is a member in good standing that claims more rumors than there are and answers no
 *             WANT.
 *
 * They use the peer and the codecs of the node (peer.h, message.h, rumor.h, record.h), so they get
 * as far as any member can. One that is hung up on calls again after a pause. Everything is drawn
 * from one seed. The only valid rumors of theirs are those at the limits, which every node takes;
 * none has two with one number.
 * Held by tests/unit/sim/test_fault_injector_wire.c.
 */
#ifndef HEARSAY_SIM_FAULTS_HOSTILE_H
#define HEARSAY_SIM_FAULTS_HOSTILE_H

#include "world/world.h"

enum hostile_kind { HOSTILE_STRANGER, HOSTILE_MEMBER, HOSTILE_MUTE };

struct hostile;

/* An attacker that calls node `victim`; NULL: the world has no free place for an outsider. */
struct hostile *hostile_enter(struct world *world, enum hostile_kind kind, uint32_t victim,
                              uint64_t seed);
/* Ends its connections and frees it. */
void hostile_leave(struct hostile *hostile);

#endif
