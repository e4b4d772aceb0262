/* Withheld origins: their rumors are known and relayed as usual, but the learner gets them only
 * after the release. They wait in the log, and other rumors overtake them: the base is a sum. A
 * base given to another node meanwhile does not contain them either, and its history says so. Held
 * by tests/world/test_hold.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_HOLD_H
#define HEARSAY_NODE_BROADCAST_HOLD_H

#include "node/core.h"

/* Returns true if rumors of this origin are withheld. place: index of the origin. */
bool hold_has(const struct node *node, uint32_t place);
void hold_begin(struct node *node, uint32_t place);
void hold_end(struct node *node, uint32_t place);

/* The base of all known rumors that are not withheld. hold_last returns the head of this origin's
 * last rumor in that base, NULL if none; hold_digest its digest, or false if the log lacks withheld
 * rumors. */
const struct signed_head *hold_last(const struct node *node, uint32_t place);
bool hold_digest(struct node *node, uint64_t *digest);
/* Returns true if computing that digest reads rumors, because some are withheld. */
bool hold_keeps_any(const struct node *node);

#endif
