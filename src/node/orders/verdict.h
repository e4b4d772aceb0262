/* The verdict on a member: expelled or not, and how many of its rumors stay. It follows from the
 * operator's orders (orders.h) and from proofs and votes (proofs.h); the stricter limit counts. */
#ifndef HEARSAY_NODE_ORDERS_VERDICT_H
#define HEARSAY_NODE_ORDERS_VERDICT_H

#include "node/core.h"

/* Returns the reason why this member is expelled, even while its verdict is suspended; NULL = it is
 * not expelled. */
const char *verdict_reason(const struct node *node, const uint8_t id[static ID_BYTES]);
/* Returns how many rumors of this incarnation a base may contain; UINT32_MAX = all. A suspended
 * proof or vote sets no limit. */
uint32_t verdict_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation);

#endif
