/* First weights of a storm: in some storms nodes begin with different first weights, and must still
 * end with one base. */
#ifndef HEARSAY_SIM_STORM_STORM_STARTS_H
#define HEARSAY_SIM_STORM_STORM_STARTS_H

#include "storm/storm_plan.h"

/* Draws the number of each node's first weights; all are 0 if the nodes begin with equal weights.
 * Releases and expulsion must have been drawn before. */
void storm_starts_draw(struct storm_plan *plan, struct rng rng);
void storm_starts_describe(const struct storm_node *node, FILE *out);
/* Sets the model description in the options to the one for first weights number `start`. */
void storm_starts_set(struct node_options *options, uint32_t start);

#endif
