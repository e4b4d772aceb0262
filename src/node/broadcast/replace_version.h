/* Replaces our version by that of a base being taken over (transfer/takeover.c decides whether).
 * Our rumors beyond it are kept if the log has all of them. history: entries as in history.h.
 */
#ifndef HEARSAY_NODE_BROADCAST_REPLACE_VERSION_H
#define HEARSAY_NODE_BROADCAST_REPLACE_VERSION_H

#include "node/core.h"

/* Reads how many rumors of each origin the history has into next[incarnations_max]; adds new
 * origins. Returns false if the table is full or the history is impossible; then adds none. */
bool replace_version_read(struct node *node, const uint8_t *history, uint32_t entries,
                          uint32_t *next);
/* Returns true if the history respects the orders' limits for expelled members. Otherwise it must
 * not be read. */
bool replace_version_is_allowed(const struct node *node, const uint8_t *history, uint32_t entries);
/* Returns true if the log has all our rumors beyond next[]. */
bool replace_version_can_keep(const struct node *node, const uint32_t *next);
/* Starts another incarnation for all further publications. Returns false if the table is full. */
bool replace_version_begin_incarnation(struct node *node);
/* Replaces the version; with keep_ours our rumors beyond it stay. digest: that of the history's
 * base. Returns the digest of the base that contains all rumors given to the learner by then. */
uint64_t replace_version(struct node *node, const uint8_t *history, uint32_t entries,
                         uint64_t digest, const uint32_t *next, bool keep_ours);

#endif
