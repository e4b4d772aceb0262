/* The operator of a storm's swarm: puts one node out in the faulty phase, and orders it again when
 * the faults are over, each time as far as the log of the node that is given the order reaches
 * back, or only to a moment since then. So there is always a base without what is taken out,
 * whatever the faults did to the logs of others.
 *
 * Or its members put it out by votes, once (storm_votes.h).
 */
#ifndef HEARSAY_SIM_STORM_STORM_EXPULSION_H
#define HEARSAY_SIM_STORM_STORM_EXPULSION_H

#include "wire/order.h"
#include "world/world.h"

struct storm_expulsion {
    bool is_drawn;    /* the swarm has an operator, who puts a node out */
    uint32_t villain; /* that node */
    uint64_t at_ns;   /* when, from WORLD_BEGIN_NS */
    bool is_since;    /* the order is about what came since a moment that a mark names */
    uint32_t voters; /* so many members put it out by votes (storm_votes.h); 0: the operator does */
    bool is_ordered; /* it was put out */
    uint32_t given;  /* orders so far, of whatever kind */
};

/* Nodes with these options obey the operator. */
void storm_expulsion_prepare(struct node_options *options);
/* The same, or they count votes. */
void storm_expulsion_prepare_for(const struct storm_expulsion *expulsion,
                                 struct node_options *options);
/* A comment of a trace, if it is drawn. */
void storm_expulsion_describe(const struct storm_expulsion *expulsion, FILE *out);

/* The first running node that knows all orders before, and is not the villain; nodes_count: there
 * is none. It is given the next order, whose number is set. */
uint32_t storm_expulsion_whom_to_ask(const struct storm_expulsion *expulsion,
                                     const struct world *world);
void storm_expulsion_give(struct storm_expulsion *expulsion, struct world *world, uint32_t i,
                          struct order *order);

/* Gives it the order, if there is such a node. */
void storm_expulsion_order(struct storm_expulsion *expulsion, struct world *world);

#endif
