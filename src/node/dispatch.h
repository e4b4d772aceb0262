/* Passes each received message to its folder, in one function call per kind of message. Work
 * that concerns several folders is done here: meeting a neighbour and comparing versions. */
#ifndef HEARSAY_NODE_DISPATCH_H
#define HEARSAY_NODE_DISPATCH_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Call it when the handshake with a peer is complete. Unless this node refuses the peer, it sends
 * HELLO: at once if it has dialled, else as the answer to the peer's HELLO. */
void dispatch_met(struct node *node, const struct peer *peer);
void dispatch_message(struct node *node, const struct peer *peer, const uint8_t *bytes,
                      size_t count);

#endif
