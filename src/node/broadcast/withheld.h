/* Withheld origins: their rumors are known and relayed as usual, but the learner gets them only
 * after the release. The rumors wait in the log, and other rumors overtake them, since the order of
 * a sum does not matter. A base given to another node does not contain withheld rumors, and its
 * history does not list them. Tests: tests/world/test_withheld.c. */
#ifndef HEARSAY_NODE_BROADCAST_WITHHELD_H
#define HEARSAY_NODE_BROADCAST_WITHHELD_H

#include "node/core.h"

bool withheld_has(const struct node *node, uint32_t origin_index);
void withheld_begin(struct node *node, uint32_t origin_index);
void withheld_end(struct node *node, uint32_t origin_index);

/* Returns the head of this origin's last rumor in the base of all known rumors that are not
 * withheld; NULL if that base has none. */
const struct signed_head *withheld_last(const struct node *node, uint32_t origin_index);
/* Computes the digest of the base of all known rumors that are not withheld. Returns false if the
 * log lacks one of the withheld rumors. */
bool withheld_digest(struct node *node, uint64_t *digest);
/* Returns true if known rumors are withheld: then withheld_digest reads them from the log. */
bool withheld_has_any(const struct node *node);

#endif
