/* The verdict on a member: expelled or not, and how many of its rumors stay. It follows from the
 * operator's orders (orders.h), from proofs (proofs.h), or from both; then the stricter limit
 * counts.
 */
#ifndef HEARSAY_NODE_ORDERS_VERDICT_H
#define HEARSAY_NODE_ORDERS_VERDICT_H

#include "node/core.h"

/* Returns the reason for the member's expulsion as a sentence; NULL if it is not expelled. */
const char *verdict_reason(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns the number of rumors of this incarnation that a base may contain; UINT32_MAX = unlimited.
 */
uint32_t verdict_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation);

#endif
