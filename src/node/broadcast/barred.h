/* Barred rumors: rumors of ids that are not admitted here (orders/admitted.h). A neighbour may
 * admit these ids, and list and send their rumors. This node neither takes nor requests barred
 * rumors, and does not count them as missing, unless the neighbour admits the same members. Barred
 * rumors that are already in the base stay. Tests: tests/world/test_admission.c. */
#ifndef HEARSAY_NODE_BROADCAST_BARRED_H
#define HEARSAY_NODE_BROADCAST_BARRED_H

#include "node/broadcast/version.h"
#include "node/connection/connection.h"
#include "node/core.h"
#include "node/orders/admitted.h"

/* Call it when a neighbour sent a rumor or record of an id that is not admitted here. Remembers the
 * incarnation's tag, and adds a note the first time if notes_allow permits it. */
void barred_on_stranger(struct node *node, const struct peer *from,
                        const uint8_t id[static ID_BYTES], uint64_t incarnation);
/* The neighbour has `next` rumors of the origin. Returns how many of them count here: at most
 * origin->keep; of a barred origin, at most as many as this node has. */
static inline uint32_t barred_shown(const struct node *node, const struct peer *from,
                                    const struct origin *origin, uint32_t next)
{
    const uint32_t most = admitted_takes(node, from, origin->id) ? origin->keep : origin->next;
    return u32_min(next, most);
}
/* Returns true if the tag belongs to a stranger, and the neighbour's members differ from ours. */
static inline bool barred_is_stranger(const struct node *node, const struct peer *from,
                                      uint64_t tag)
{
    return admitted_is_strangers(node, tag) && !admitted_is_same(node, from);
}
/* Returns the neighbour's VERSION with its number of rumors reduced by the barred ones. */
struct message barred_take_out(struct node *node, const struct peer *from,
                               const struct message *version);
/* Call it when the admitted ids have changed: barred rumors no longer count as missing. */
void barred_forget(struct node *node);

#endif
