/* New swarm keys in a storm: the operator orders a key in the faulty phase, and another one after
 * the faults and the expulsion.
 *
 * Older keys stay valid to the end, because a storm's clocks may be wrong by months, and a node may
 * lose its disk and return with the first key at any time. At the end every running node must have
 * the last key, and a member that was expelled before the order for that key must not.
 */
#ifndef HEARSAY_SIM_STORM_STORM_REKEY_H
#define HEARSAY_SIM_STORM_STORM_REKEY_H

#include "storm/storm_expulsion.h"

struct storm_rekey {
    bool is_drawn;          /* the operator orders new swarm keys */
    uint64_t at_ns;         /* time of the first order, counted from WORLD_BEGIN_NS */
    uint32_t last;          /* number of the order given after the faults; 0 = not given yet */
    uint8_t key[KEY_BYTES]; /* newest key that was ordered */
};

/* Gives the next order and its key to the node that storm_expulsion_whom_to_ask returns, if there
 * is one. is_last: the order comes after the faults. */
void storm_rekey_order(struct storm_rekey *rekey, struct storm_expulsion *orders,
                       struct world *world, bool is_last);

/* Returns true if all running nodes have the key of the last order, or that order was not given. */
bool storm_rekey_is_done(const struct storm_rekey *rekey, const struct world *world);
/* Returns true if the villain's disk lacks the key of the last order, or that order was not given.
 */
bool storm_rekey_is_kept_from(const struct storm_rekey *rekey, const struct world *world,
                              uint32_t villain);

#endif
