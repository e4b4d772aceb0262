/* Nodes of the release before in a storm: they speak the oldest protocol alone (wire/protocol.h).
 *
 * Of half of the storms about half of the nodes is older; and half of these is upgraded: what
 * starts after that moment, because a fault has ended it, is of this release, with the same disk.
 */
#ifndef HEARSAY_SIM_STORM_STORM_RELEASES_H
#define HEARSAY_SIM_STORM_STORM_RELEASES_H

#include "storm/storm_plan.h"

void storm_releases_draw(struct storm_plan *plan, struct rng rng);

/* A part of the line about a node; nothing for one that is of this release. */
void storm_releases_describe(const struct storm_node *node, FILE *out);

#endif
