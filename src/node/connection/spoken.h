/* Downgrade protection: checks that a conversation speaks the newest version that both sides know.
 *
 * The gate carries the dialer's versions, and only holders of the swarm key can change it. An
 * attacker with the key on the path could make two new nodes take each other for old ones, since
 * their first frames must be readable for old nodes. So both sides repeat their versions inside the
 * session, where no other node can write: as a line of SETTINGS, which old nodes ignore.
 *
 *   protocol=11-12
 *
 * Tests: tests/world/test_protocols.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_SPOKEN_H
#define HEARSAY_NODE_CONNECTION_SPOKEN_H

#include "node/connection/connection.h"
#include "node/core.h"

#define SPOKEN_NAME     "protocol"
#define SPOKEN_LINE_MAX 32

/* Writes a settings line with this node's versions. Writes "" if the node knows only one
 * version, so that no downgrade is possible. */
void spoken_line(const struct node *node, char out[static SPOKEN_LINE_MAX]);

/* Checks the versions in a neighbour's settings line. If they are invalid or reveal a downgrade,
 * closes the conversation and returns false. */
bool spoken_check(struct node *node, const struct peer *peer, const char *value, size_t bytes);

/* Returns a remark for the neighbour's note if the conversation speaks an older version than this
 * node's newest, "" otherwise. */
const char *spoken_remark(const struct node *node, const struct peer *peer);

#endif
