/* Nodes of the previous release in a storm, which speak only the oldest protocol
 * (frame/protocol.h).
 *
 * In half of the storms about half of the nodes are older. About half of the older nodes are
 * upgraded at a random time: if a fault restarts one later, it runs the present release with its
 * old disk.
 */
#ifndef HEARSAY_SIM_STORM_STORM_RELEASES_H
#define HEARSAY_SIM_STORM_STORM_RELEASES_H

#include "storm/storm_plan.h"

void storm_releases_draw(struct storm_plan *plan, struct rng rng);

/* Adds the node's release to a line of the trace; nothing for the present release. */
void storm_releases_describe(const struct storm_node *node, FILE *out);

#endif
