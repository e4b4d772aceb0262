/* In some storms, nodes begin with different first weights and must still end with one base. */
#ifndef HEARSAY_SIM_STORM_STORM_STARTS_H
#define HEARSAY_SIM_STORM_STORM_STARTS_H

#include "storm/storm_plan.h"

/* Draws storm_node.start. Call it after the operator, votes and older nodes have been drawn,
 * because `start` stays 0 in storms with any of them. It also stays 0 in a quarter of the other
 * storms. */
void storm_starts_draw(struct storm_plan *plan, struct rng rng);
void storm_starts_describe(const struct storm_node *node, FILE *out);
/* Sets the model description to that of first weights number `start`. */
void storm_starts_set(struct node_options *options, uint32_t start);

#endif
