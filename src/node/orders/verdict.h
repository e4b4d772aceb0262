/* Who is out of the swarm, and what stays of its rumors: by an order of the operator (orders.h), by
 * a proof that it lies (proofs.h), or both, and then what either leaves. */
#ifndef HEARSAY_NODE_ORDERS_VERDICT_H
#define HEARSAY_NODE_ORDERS_VERDICT_H

#include "node/core.h"

/* Why the member with this id is out, in a sentence; NULL: it is not. */
const char *verdict_reason(const struct node *node, const uint8_t id[static ID_BYTES]);
/* So many rumors of this incarnation may be in a base; UINT32_MAX: any. */
uint32_t verdict_keep(const struct node *node, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation);

#endif
