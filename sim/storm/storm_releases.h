/* Nodes of the previous release in a storm, which speak only the oldest protocol (wire/protocol.h).
 *
 * In half of the storms about half of the nodes are older. Half of these are upgraded at a random
 * time: if a fault restarts such a node later, it runs the present release with its old disk.
 */
#ifndef HEARSAY_SIM_STORM_STORM_RELEASES_H
#define HEARSAY_SIM_STORM_STORM_RELEASES_H

#include "storm/storm_plan.h"

void storm_releases_draw(struct storm_plan *plan, struct rng rng);

/* Adds the release to a trace's line about a node. Adds nothing for the present release. */
void storm_releases_describe(const struct storm_node *node, FILE *out);

#endif
