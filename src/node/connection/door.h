/* The door: callers that have not proved the swarm key yet.
 *
 * A caller costs a slot until it shows the swarm key, which takes it one message and nobody's
 * answer. So whoever says nothing waits for GREETING_NS at most, and gives its place to the next
 * caller when there are too many. Who goes is the one that has waited longest among those of the
 * most crowded neighbourhood of addresses: somebody with few addresses only displaces itself. One
 * that has shown the key keeps its place for as long, since the rest of the handshake takes a round
 * trip; longer only if nobody wants the place, because what shows the key can be repeated by who
 * overheard it.
 *
 * Held by tests/world/test_door.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_DOOR_H
#define HEARSAY_NODE_CONNECTION_DOOR_H

#include "node/connection/connection.h"

/* Somebody calls from this address. False: it finds no place, and is to be closed at once. True: it
 * may come in; another may have lost its place for it. */
bool door_opens(struct node *node, const struct address *from);

#endif
