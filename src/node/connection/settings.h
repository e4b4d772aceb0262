/* Settings that all nodes of a swarm must share, compared with those of each neighbour.
 *
 *   on opening, from each side   SETTINGS: lines of text, one setting each
 *
 *     train.rate=0.02            must be the same on both
 *     data.shard!2/5             must not be: each learns another part
 *
 * What one side does not say is not compared, so versions may differ in what they know. Nothing
 * follows from a difference but a note: which of the two is right only people know. What makes
 * nodes unable to learn together at all (model, swarm, protocol) is found at the gate.
 * Held by tests/world/test_settings.c.
 */
#ifndef HEARSAY_NODE_CONNECTION_SETTINGS_H
#define HEARSAY_NODE_CONNECTION_SETTINGS_H

#include "node/connection/connection.h"
#include "node/core.h"

/* Says ours, if there are any: those of the options, and which protocols are known (spoken.h). */
void settings_show(struct node *node, const struct peer *peer);

/* Theirs. Texts that are too long or no such lines end the conversation. */
void settings_on_message(struct node *node, const struct peer *peer, const struct bytes *text);

#endif
