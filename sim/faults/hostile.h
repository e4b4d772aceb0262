/* Attackers: outsiders (world.h) that dial a node of the world and violate the protocol.
 *
 *   STRANGER  has another swarm key.
 *   MEMBER    has the swarm key and its own identity; draws an attack for each connection.
 *     handshake  silence; noise; a truncated, bit-flipped or replayed greeting
 *     stream     sealed records that are flipped, truncated or repeated
 *     session    no HELLO, or another node's; noise; random messages; rumors that are early, forged
 *                or over the limits, also by unknown members; forged, untrue or unowned records;
 *                huge versions; WANTs for everything; floods; false ACKs; another node's history
 *                with a false base; histories that are unsigned, of the victim's future, or of a
 *                flood of incarnations; and valid rumors at the limits, by its own author
 *   MUTE      behaves as a member, but claims nonexistent rumors and answers no WANT.
 *
 * Attackers use the node's peer and codecs (peer.h, message.h, rumor.h, record.h), so they get as
 * far as any member can. A disconnected attacker dials again after a pause. An attacker's only new
 * valid rumors are those at the limits. Every node must accept them. No two of them have the same
 * number. Tests: tests/unit/sim/test_fault_injector_wire.c.
 */
#ifndef HEARSAY_SIM_FAULTS_HOSTILE_H
#define HEARSAY_SIM_FAULTS_HOSTILE_H

#include "world/world.h"

enum hostile_kind { HOSTILE_STRANGER, HOSTILE_MEMBER, HOSTILE_MUTE };

struct hostile;

/* Returns NULL if the world has no free outsider. victim: index of the node that is attacked. */
struct hostile *hostile_enter(struct world *world, enum hostile_kind kind, uint32_t victim,
                              uint64_t seed);
/* Disconnects and frees the attacker. */
void hostile_leave(struct hostile *hostile);

#endif
