/* The operator of a storm's swarm: puts one node out in the faulty phase, and orders it again when
 * the faults are over, each time as far as the log of the node that is given the order reaches
 * back. So there is always a base without what is taken out, whatever the faults did to the logs of
 * others.
 */
#ifndef HEARSAY_SIM_STORM_STORM_EXPULSION_H
#define HEARSAY_SIM_STORM_STORM_EXPULSION_H

#include "world/world.h"

struct storm_expulsion {
    bool is_drawn;    /* the swarm has an operator, who puts a node out */
    uint32_t villain; /* that node */
    uint64_t at_ns;   /* when, from WORLD_BEGIN_NS */
    uint32_t given;   /* orders so far */
};

/* Nodes with these options obey the operator. */
void storm_expulsion_prepare(struct node_options *options);

/* Gives the order to the first running node that knows all orders before; if there is none, it is
 * not given. */
void storm_expulsion_order(struct storm_expulsion *expulsion, struct world *world);

#endif
