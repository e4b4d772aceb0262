/* First weights of a storm: in some storms the nodes begin from different ones, and must end with
 * one base all the same. */
#ifndef HEARSAY_SIM_STORM_STORM_STARTS_H
#define HEARSAY_SIM_STORM_STORM_STARTS_H

#include "storm/storm_plan.h"

/* Draws each node's start; 0 on all nodes: they are equal. Other draws come before it. */
void storm_starts_draw(struct storm_plan *plan, struct rng rng);
void storm_starts_describe(const struct storm_node *node, FILE *out);
/* Sets the model description of a node with this start. */
void storm_starts_set(struct node_options *options, uint32_t start);

#endif
