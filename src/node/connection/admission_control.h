/* Admission control for unauthenticated connections.
 *
 * A caller (a peer that dials this node) costs a slot until it shows the swarm key, which takes
 * it one message and no answer. So a silent caller waits at most GREETING_NS and loses its slot
 * sooner when there are too many. The caller to lose its slot is the one that has waited longest
 * in the most crowded network of addresses, so an attacker with few addresses displaces only
 * itself. A caller that has shown the key keeps its slot for another GREETING_NS, since the rest
 * of the handshake takes a round trip. It stays longer only while no other caller wants the slot,
 * because an eavesdropper can replay the first frame.
 *
 * Tests: tests/world/test_admission_control.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_ADMISSION_CONTROL_H
#define HEARSAY_NODE_CONNECTION_ADMISSION_CONTROL_H

#include "node/connection/connection.h"

/* Returns true if a peer that dials from this address may have a slot; another such peer may
 * have lost its slot for that. If it returns false, close the connection at once. */
bool admission_control_admits(struct node *node, const struct address *from);

#endif
