/* Who talks with whom at the end of a play, for the drawing of the swarm. */
#ifndef HEARSAY_SIM_STRATEGIES_EDGES_H
#define HEARSAY_SIM_STRATEGIES_EDGES_H

#include "scenario/outcome.h"
#include "world/world.h"

#define EDGES_NODES_MAX 256 /* with more nodes a drawing would show nothing, and there is none */

/* The open conversations between nodes that run. */
void edges_find(const struct world *world, struct outcome *outcome);

#endif
