/* Admission control for unauthenticated connections.
 *
 * A caller (a peer that dials this node) has a slot before it shows the swarm key. To show the key,
 * the caller needs one message and no answer. So a silent caller keeps its slot for at most
 * GREETING_NS, and loses it sooner when there are too many callers. The caller to lose its slot is
 * the one that has waited longest in the most crowded network of addresses, so an attacker with few
 * addresses displaces only itself. A caller that has shown the key keeps its slot for another
 * GREETING_NS, since the rest of the handshake takes a round trip. It stays longer only while no
 * other caller wants the slot, because an eavesdropper can replay the first frame.
 *
 * Tests: tests/world/test_admission_control.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_ADMISSION_CONTROL_H
#define HEARSAY_NODE_CONNECTION_ADMISSION_CONTROL_H

#include "node/connection/connection.h"

/* Returns true if a caller from this address may have a slot, which another caller may have lost
 * for it. If false, close the connection at once. */
bool admission_control_admits(struct node *node, const struct address *from);

#endif
