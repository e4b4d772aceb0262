/* New keys of a storm's swarm: its operator orders one in the faulty phase, and another when the
 * faults are over and somebody was put out. Older keys let in to the end, since a storm's clocks
 * may be wrong by months, and a node may lose its disk and come with the first key at any time.
 *
 * At the end every running node has the last key, and who was put out before it was ordered has it
 * at no time.
 */
#ifndef HEARSAY_SIM_STORM_STORM_REKEY_H
#define HEARSAY_SIM_STORM_STORM_REKEY_H

#include "storm/storm_expulsion.h"

struct storm_rekey {
    bool is_drawn;  /* the swarm has an operator, who orders keys */
    uint64_t at_ns; /* when the first, from WORLD_BEGIN_NS */
    uint32_t last;  /* the order that brought the last key; 0: none was given after the faults */
    uint8_t key[KEY_BYTES]; /* that key */
};

/* Gives the next order of the storm's operator, and its key, to a node as storm_expulsion_order
 * does. */
void storm_rekey_order(struct storm_rekey *rekey, struct storm_expulsion *orders,
                       struct world *world, bool is_last);

/* Do all running nodes have the last key? */
bool storm_rekey_is_done(const struct storm_rekey *rekey, const struct world *world);
/* Has this node, which was put out before, never had it? */
bool storm_rekey_is_kept_from(const struct storm_rekey *rekey, const struct world *world,
                              uint32_t villain);

#endif
