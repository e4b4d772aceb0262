/* Nodes of the previous release in a storm, which speak only the oldest protocol (wire/protocol.h).
 *
 * In half of the storms about half of the nodes are older. Half of these are upgraded: a node that
 * a fault restarts after that moment runs this release, with the same disk.
 */
#ifndef HEARSAY_SIM_STORM_STORM_RELEASES_H
#define HEARSAY_SIM_STORM_STORM_RELEASES_H

#include "storm/storm_plan.h"

void storm_releases_draw(struct storm_plan *plan, struct rng rng);

/* Adds words to the line about a node; nothing for a node of this release. */
void storm_releases_describe(const struct storm_node *node, FILE *out);

#endif
