/* The expulsion of one node in the faulty phase: by the operator, who repeats the order after the
 * faults, or once by votes of the members (storm_votes.h).
 *
 * Each order removes only rumors that are in the log of the node that receives the order: all of
 * them, or those since a later moment. So at least that node can take the removed rumors out of its
 * base, whatever the faults did to other logs.
 */
#ifndef HEARSAY_SIM_STORM_STORM_EXPULSION_H
#define HEARSAY_SIM_STORM_STORM_EXPULSION_H

#include "wire/order.h"
#include "world/world.h"

struct storm_expulsion {
    bool is_drawn;    /* the storm expels a node */
    uint32_t villain; /* index of the node to expel */
    uint64_t at_ns;   /* time of the order or the votes, counted from WORLD_BEGIN_NS */
    bool is_since;    /* an order removes only rumors since a certain moment */
    uint32_t voters;  /* number of voting members; 0 = the operator expels the node */
    bool is_ordered;  /* an order or votes to expel were given to a node */
    uint32_t given;   /* number of the operator's orders so far, of any kind */
};

/* Makes nodes with these options obey the storm's operator. */
void storm_expulsion_prepare(struct node_options *options);
/* Makes nodes with these options obey the operator, or count votes, as the expulsion needs. */
void storm_expulsion_prepare_for(const struct storm_expulsion *expulsion,
                                 struct node_options *options);
/* Writes a comment line to a trace, if the storm has an expulsion. */
void storm_expulsion_describe(const struct storm_expulsion *expulsion, FILE *out);

/* Returns the first running node that knows all previous orders, does not leave and is not the
 * villain; nodes_count = there is none. */
uint32_t storm_expulsion_whom_to_ask(const struct storm_expulsion *expulsion,
                                     const struct world *world);
/* Numbers and signs an order and gives it to node i, a result of storm_expulsion_whom_to_ask. */
void storm_expulsion_give(struct storm_expulsion *expulsion, struct world *world, uint32_t i,
                          struct order *order);

/* Gives the next order, or the votes unless they were given before, to the node that
 * storm_expulsion_whom_to_ask returns, if there is one. */
void storm_expulsion_order(struct storm_expulsion *expulsion, struct world *world);

#endif
