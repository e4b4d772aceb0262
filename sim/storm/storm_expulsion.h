/* The operator of a storm's swarm: expels one node in the faulty phase, and orders the expulsion
 * again after the faults.
 *
 * Each order removes only rumors that are in the log of the node that receives it: all of them, or
 * those since a later moment. So at least this node can take the removed rumors out of its base,
 * whatever the faults did to other logs. Instead, the members may expel the node once by votes
 * (storm_votes.h).
 */
#ifndef HEARSAY_SIM_STORM_STORM_EXPULSION_H
#define HEARSAY_SIM_STORM_STORM_EXPULSION_H

#include "wire/order.h"
#include "world/world.h"

struct storm_expulsion {
    bool is_drawn;    /* the storm expels a node */
    uint32_t villain; /* index of the node to expel */
    uint64_t at_ns;   /* time of the order or the votes, counted from WORLD_BEGIN_NS */
    /* The order removes only rumors since a certain moment; otherwise it removes all rumors in
     * the log of the node that receives it. */
    bool is_since;
    /* Number of members that expel the node by votes; 0 = the operator expels it. */
    uint32_t voters;
    bool is_ordered; /* the order or the votes were given to a node */
    uint32_t given;  /* number of the operator's orders so far, of any kind */
};

/* Makes nodes with these options obey the operator. */
void storm_expulsion_prepare(struct node_options *options);
/* Sets the options of a node for this expulsion: the node obeys the operator, or counts
 * votes. */
void storm_expulsion_prepare_for(const struct storm_expulsion *expulsion,
                                 struct node_options *options);
/* Writes a comment line about the expulsion to a trace, if the storm has an expulsion. */
void storm_expulsion_describe(const struct storm_expulsion *expulsion, FILE *out);

/* storm_expulsion_whom_to_ask returns the first running node that knows all previous orders and is
 * not the villain; if there is none, nodes_count. storm_expulsion_give numbers an order and gives
 * it to a node. */
uint32_t storm_expulsion_whom_to_ask(const struct storm_expulsion *expulsion,
                                     const struct world *world);
void storm_expulsion_give(struct storm_expulsion *expulsion, struct world *world, uint32_t i,
                          struct order *order);

/* Gives the order, or the votes unless they were given already, to the node that
 * storm_expulsion_whom_to_ask returns. Does nothing if no node qualifies. */
void storm_expulsion_order(struct storm_expulsion *expulsion, struct world *world);

#endif
