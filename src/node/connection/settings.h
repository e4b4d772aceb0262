/* Comparison of settings that all nodes of a swarm must share.
 *
 *   on opening, from each side   SETTINGS: lines of text, one setting each
 *
 *     train.rate=0.02            must be equal on both sides
 *     data.shard!2/5             must differ: each node learns another part
 *
 * A setting that one side does not send is not compared, so versions may know different settings. A
 * difference causes only a note, since only people know which side is right. Differences that
 * prevent learning together (model, swarm, protocol) are refused at the gate. Tests:
 * tests/world/test_settings.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_SETTINGS_H
#define HEARSAY_NODE_CONNECTION_SETTINGS_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Sends this node's settings: those of the options, and the protocol versions (spoken.h). Sends
 * nothing if there are none. */
void settings_show(struct node *node, const struct peer *peer);

/* Compares the neighbour's settings with ours. Closes the conversation if the text is too long
 * or invalid. */
void settings_on_message(struct node *node, const struct peer *peer, const struct bytes *text);

#endif
