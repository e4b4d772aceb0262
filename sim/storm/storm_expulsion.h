/* The operator of a storm's swarm: expels one node in the faulty phase, and orders it again after
 * the faults.
 *
 * Each order reaches back as far as the log of the node that receives it, or only to a later
 * moment. So there is always a base without the removed rumors, whatever the faults did to other
 * logs. Alternatively the members expel the node once by votes (storm_votes.h).
 */
#ifndef HEARSAY_SIM_STORM_STORM_EXPULSION_H
#define HEARSAY_SIM_STORM_STORM_EXPULSION_H

#include "wire/order.h"
#include "world/world.h"

struct storm_expulsion {
    bool is_drawn;    /* the swarm has an operator, who expels a node */
    uint32_t villain; /* index of that node */
    uint64_t at_ns;   /* time of the order, from WORLD_BEGIN_NS */
    bool is_since;    /* the order covers only rumors since a moment */
    uint32_t voters;  /* members that expel it by votes; 0 = the operator does */
    bool is_ordered;  /* the node was expelled */
    uint32_t given;   /* number of orders so far, of any kind */
};

/* Makes nodes with these options obey the operator. */
void storm_expulsion_prepare(struct node_options *options);
/* Makes nodes with these options obey the operator, or count votes. */
void storm_expulsion_prepare_for(const struct storm_expulsion *expulsion,
                                 struct node_options *options);
/* Writes a comment of a trace, if an expulsion is drawn. */
void storm_expulsion_describe(const struct storm_expulsion *expulsion, FILE *out);

/* Returns the first running node that knows all previous orders and is not the villain; nodes_count
 * if there is none. It receives the next order, whose number is set. */
uint32_t storm_expulsion_whom_to_ask(const struct storm_expulsion *expulsion,
                                     const struct world *world);
void storm_expulsion_give(struct storm_expulsion *expulsion, struct world *world, uint32_t i,
                          struct order *order);

/* Gives the order to that node, if there is one. */
void storm_expulsion_order(struct storm_expulsion *expulsion, struct world *world);

#endif
