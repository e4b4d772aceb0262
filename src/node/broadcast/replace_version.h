/* Replaces our version by the version of a base that is being taken over (transfer/takeover.c
 * decides whether). Our rumors that the base lacks are kept if the log has all of them. history:
 * entries in the format of history.h. */
#ifndef HEARSAY_NODE_BROADCAST_REPLACE_VERSION_H
#define HEARSAY_NODE_BROADCAST_REPLACE_VERSION_H

#include "node/core.h"

/* Sets next[origin_index] to the number of the origin's rumors in the history, for each index below
 * limits.incarnations_max. Adds new origins. Returns false if the table of origins must not take
 * them or the history is impossible; then adds none. */
bool replace_version_read(struct node *node, const uint8_t *history, uint32_t entries,
                          uint32_t *next);
/* Returns true if the history contains no rumors of expelled members beyond their limits. Otherwise
 * do not pass it to the other functions. */
bool replace_version_is_allowed(const struct node *node, const uint8_t *history, uint32_t entries);
/* Returns true if the log has all our rumors that replace_version would keep: the rumors from
 * number next[origin_index] on of every origin of which we have no rumors beyond origin.keep. */
bool replace_version_can_keep(const struct node *node, const uint32_t *next);
/* Starts another incarnation of this node. Returns false if the table of origins is full or the
 * reserved incarnations are used up. */
bool replace_version_begin_incarnation(struct node *node);
/* Continues as this incarnation, which the owner has reserved with NODE_INCARNATIONS - 1 after it.
 * Returns false if the table of origins is full. */
bool replace_version_raise_incarnation(struct node *node, uint64_t incarnation);
/* Returns the latest incarnation of this node in the history that is later than the present one;
 * 0 = there is none. */
uint64_t replace_version_own_future(const struct node *node, const uint8_t *history,
                                    uint32_t entries);
/* Replaces our version by that of the history. keep_ours: keep our rumors that the history
 * lacks. digest: digest of the base that the history describes. next: from replace_version_read.
 * Returns the sum of `digest` and the digests of those kept rumors that the learner was given. */
uint64_t replace_version(struct node *node, const uint8_t *history, uint32_t entries,
                         uint64_t digest, const uint32_t *next, bool keep_ours);

#endif
