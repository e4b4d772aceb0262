/* Votes in a storm: members expel one of them, as far back as the log of the node that receives the
 * votes reaches. Before that, a quarter of the members votes against everybody, which has no
 * effect. */
#ifndef HEARSAY_SIM_STORM_STORM_VOTES_H
#define HEARSAY_SIM_STORM_STORM_VOTES_H

#include "world/world.h"

/* Makes nodes with these options count votes. */
void storm_votes_prepare(struct node_options *options);

/* Gives the votes to node i. The members are the first nodes of the world, `accused` is one of
 * them. */
void storm_votes_give(struct world *world, uint32_t members, uint32_t i, uint32_t accused);

/* Returns whether others have expelled node i by votes, which may happen to a poisoned node. */
bool storm_votes_have_expelled(const struct world *world, uint32_t i);

#endif
