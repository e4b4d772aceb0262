/* Withheld origins: their rumors are known and relayed as usual, but the learner gets them only
 * after the release. They wait in the log, and other rumors overtake them: the base is a sum. A
 * base given to another node meanwhile does not contain them either, and its history says so. Held
 * by tests/world/test_withheld.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_WITHHELD_H
#define HEARSAY_NODE_BROADCAST_WITHHELD_H

#include "node/core.h"

/* Returns true if rumors of this origin are withheld. origin_index: index of the origin. */
bool withheld_has(const struct node *node, uint32_t origin_index);
void withheld_begin(struct node *node, uint32_t origin_index);
void withheld_end(struct node *node, uint32_t origin_index);

/* The base of all known rumors that are not withheld. withheld_last returns the head of this
 * origin's last rumor in that base, NULL if none; withheld_digest its digest, or false if the log
 * lacks withheld rumors. */
const struct signed_head *withheld_last(const struct node *node, uint32_t origin_index);
bool withheld_digest(struct node *node, uint64_t *digest);
/* Returns true if computing that digest reads rumors, because some are withheld. */
bool withheld_has_any(const struct node *node);

#endif
