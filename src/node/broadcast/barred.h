/* Rumors of those who may not be in the swarm as this node knows it (orders/admitted.h): a
 * neighbour may know it otherwise, and show and send them. Nothing more of them is taken, none is
 * missing and none asked for; what is in the base stays. Held by tests/world/test_admission.c. */
#ifndef HEARSAY_NODE_BROADCAST_BARRED_H
#define HEARSAY_NODE_BROADCAST_BARRED_H

#include "node/broadcast/version.h"
#include "node/connection/connection.h"
#include "node/core.h"
#include "node/orders/admitted.h"

/* Something of this incarnation came from this neighbour: it is remembered by its tag, and noted if
 * it is the first of it. */
void barred_on_stranger(struct node *node, const struct peer *from,
                        const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* Of so many rumors of a known origin that a neighbour has shown, these may be taken: with what the
 * orders keep of it. */
static inline uint32_t barred_shown(const struct node *node, const struct peer *from,
                                    const struct origin *origin, uint32_t next)
{
    const uint32_t most = admitted_takes(node, from, origin->id) ? origin->keep : origin->next;
    return next < most ? next : most;
}
/* Is this the tag of one that may not be here, and the neighbour does not have our members? */
static inline bool barred_is_stranger(const struct node *node, const struct peer *from,
                                      uint64_t tag)
{
    return admitted_is_strangers(node, tag) && !admitted_is_same(node, from);
}
/* The version that this neighbour shows, with as many rumors less as it has of them and we lack. */
struct message barred_take_out(struct node *node, const struct peer *from,
                               const struct message *version);
/* Nothing is missing of who may not be here from now on. */
void barred_forget(struct node *node);

#endif
