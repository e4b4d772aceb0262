/* Those who call a node of the world and are no node: outsiders (world.h) who mean no good.
 *
 *   STRANGER   has another swarm key
 *   VILLAIN    has the swarm key and an identity of its own; every call it misbehaves in another
 * way: at the door    says nothing; noise; half a greeting; one with a flipped bit, an old one on
 * the wire    flips, cuts off or repeats what it says, sealed as it should be in a session   does
 * not introduce itself, or as another; noise; random messages; rumors too early, over the limits,
 * forged; records forged or untrue; huge versions; wants everything; floods MUTE       a member in
 * good standing, but it shows more than there is, and answers no WANT
 *
 * They use the conversation and the codecs of the node (peer.h, message.h, rumor.h, record.h), so
 * they get as far as any member does. Who is hung up on calls again after a pause. All is drawn
 * from one seed. What none of them does: tell a rumor that is valid, or two with one number. Held
 * by tests/unit/sim/test_fault_injector_wire.c.
 */
#ifndef HEARSAY_SIM_FAULTS_HOSTILE_H
#define HEARSAY_SIM_FAULTS_HOSTILE_H

#include "world/world.h"

enum hostile_kind { HOSTILE_STRANGER, HOSTILE_VILLAIN, HOSTILE_MUTE };

struct hostile;

/* It enters and calls node `victim`; NULL when the world has no place free. */
struct hostile *hostile_enter(struct world *world, enum hostile_kind kind, uint32_t victim,
                              uint64_t seed);
/* It is gone, with its connections; frees it. */
void hostile_leave(struct hostile *hostile);

#endif
