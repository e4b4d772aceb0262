/* Votes in a storm: members expel one member, and remove most of its rumors that are in the log of
 * the node that receives the votes. Before that, a quarter of the members vote against all members
 * except the accused. Such a minority has no effect. */
#ifndef HEARSAY_SIM_STORM_STORM_VOTES_H
#define HEARSAY_SIM_STORM_STORM_VOTES_H

#include "world/world.h"

/* Makes nodes with these options count votes. */
void storm_votes_prepare(struct node_options *options);

/* Gives votes of all members against `accused` to node i, after the votes without effect. members:
 * number of members, which are the first nodes of the world. */
void storm_votes_give(struct world *world, uint32_t members, uint32_t i, uint32_t accused);

/* Returns true if a node knows that votes have expelled node i. */
bool storm_votes_have_expelled(const struct world *world, uint32_t i);

#endif
