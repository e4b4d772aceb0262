/* Rumors of ids that are not admitted here (orders/admitted.h). A neighbour may admit them, and
 * list and send their rumors. They are neither taken, nor missing, nor requested; those in the base
 * stay. Held by tests/world/test_admission.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_BARRED_H
#define HEARSAY_NODE_BROADCAST_BARRED_H

#include "node/broadcast/version.h"
#include "node/connection/connection.h"
#include "node/core.h"
#include "node/orders/admitted.h"

/* Records that something of this incarnation, which is not admitted, arrived from this neighbour:
 * remembers its tag, and adds a note the first time. */
void barred_on_stranger(struct node *node, const struct peer *from,
                        const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Returns how many of a neighbour's rumors of a known origin may be taken, within the orders'
 * limits. */
static inline uint32_t barred_shown(const struct node *node, const struct peer *from,
                                    const struct origin *origin, uint32_t next)
{
    const uint32_t most = admitted_takes(node, from, origin->id) ? origin->keep : origin->next;
    return next < most ? next : most;
}
/* Returns true if the tag belongs to an id that is not admitted, and the neighbour has other
 * members than we. */
static inline bool barred_is_stranger(const struct node *node, const struct peer *from,
                                      uint64_t tag)
{
    return admitted_is_strangers(node, tag) && !admitted_is_same(node, from);
}
/* Returns the neighbour's version without the rumors that we refuse. */
struct message barred_take_out(struct node *node, const struct peer *from,
                               const struct message *version);
/* Stops counting rumors of unadmitted ids as missing. */
void barred_forget(struct node *node);

#endif
