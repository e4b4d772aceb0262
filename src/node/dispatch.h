/* A message that came goes to the room that it is for: one call per kind. What concerns more
 * than one room, meeting a neighbour and comparing versions, is done here. */
#ifndef HEARSAY_NODE_DISPATCH_H
#define HEARSAY_NODE_DISPATCH_H

#include "node/connection/connection.h"
#include "node/core.h"

/* The session stands: the caller introduces itself, with its proof, so that no time is lost. */
void dispatch_met(struct node *node, const struct peer *peer);
void dispatch_message(struct node *node, const struct peer *peer, const uint8_t *bytes,
                      size_t count);

#endif
