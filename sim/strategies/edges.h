/* Connections between nodes at the end of a play, for the drawing of the swarm. */
#ifndef HEARSAY_SIM_STRATEGIES_EDGES_H
#define HEARSAY_SIM_STRATEGIES_EDGES_H

#include "experiment/outcome.h"
#include "world/world.h"

/* A drawing of more nodes would be unreadable. */
#define EDGES_NODES_MAX 256

/* Stores the open connections between running nodes in the outcome, unless the scenario has more
 * than EDGES_NODES_MAX nodes. */
void edges_find(const struct world *world, struct outcome *outcome);

#endif
