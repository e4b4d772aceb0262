/* Is the protocol that is spoken with a neighbour the newest that both know?
 *
 * The gate says what a dialer offers, and nobody without the swarm key can change it. Who has the
 * key and sits on the way could make two new nodes take each other for old ones, since what they
 * say then has to be what old ones understand. So both say once more what they know, inside the
 * session, where nobody else can say anything: a line of SETTINGS, which old ones do not look at.
 *
 *   protocol=11-12
 *
 * Held by tests/world/test_protocols.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_SPOKEN_H
#define HEARSAY_NODE_CONNECTION_SPOKEN_H

#include "node/connection/connection.h"
#include "node/core.h"

#define SPOKEN_NAME     "protocol"
#define SPOKEN_LINE_MAX 32

/* The line; "" where only one version is known, and so nothing could be changed. */
void spoken_line(const struct node *node, char out[static SPOKEN_LINE_MAX]);

/* The value of theirs. False: the conversation ends. */
bool spoken_check(struct node *node, const struct peer *peer, const char *value, size_t bytes);

/* For a note: "", or that the neighbour is of the release before. */
const char *spoken_remark(const struct node *node, const struct peer *peer);

#endif
