/* Another version becomes ours: that of a base which is taken over from now on (transfer/takeover.c
 * decides whether). What we know beyond it is kept, if all of that is in our log.
 * history: entries as in history.h. */
#ifndef HEARSAY_NODE_BROADCAST_REPLACE_VERSION_H
#define HEARSAY_NODE_BROADCAST_REPLACE_VERSION_H

#include "node/core.h"

/* How many rumors of each origin the history has, into next[incarnations_max]; origins that are new
 * are met. False: there is no room for them, or it says what cannot be; then none is. */
bool replace_version_read(struct node *node, const uint8_t *history, uint32_t entries,
                          uint32_t *next);
/* Has the history no more of expelled members than the orders keep? Another is not to be read. */
bool replace_version_is_allowed(const struct node *node, const uint8_t *history, uint32_t entries);
/* Is all that we know beyond next[] in our log? */
bool replace_version_can_keep(const struct node *node, const uint32_t *next);
/* What is published from now on is another incarnation's. False: there is no room for it. */
bool replace_version_begin_incarnation(struct node *node);
/* Our version becomes the history's, and with keep_ours what we know beyond it. digest: of the base
 * that the history is of. Returns that of the base of all that the learner has been given then. */
uint64_t replace_version(struct node *node, const uint8_t *history, uint32_t entries,
                         uint64_t digest, const uint32_t *next, bool keep_ours);

#endif
