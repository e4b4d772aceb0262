/* Votes in a storm: members put one of them out, as far as the log of the node that is given the
 * votes reaches back. Before, a quarter of them vote against everybody, which does nothing.
 */
#ifndef HEARSAY_SIM_STORM_STORM_VOTES_H
#define HEARSAY_SIM_STORM_STORM_VOTES_H

#include "world/world.h"

/* Nodes with these options, in this world, count votes. */
void storm_votes_prepare(struct node_options *options);

/* Node i is given them; the members are the first nodes of the world, `accused` is one of them. */
void storm_votes_give(struct world *world, uint32_t members, uint32_t i, uint32_t accused);

/* Do others take node i for out by votes? One that is poisoned may be. */
bool storm_votes_put_out(const struct world *world, uint32_t i);

#endif
