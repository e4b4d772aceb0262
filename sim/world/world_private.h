/* Private to world.c (parties, starts, the loop), act.c (actions of nodes) and training.c (the
 * guard). */
#ifndef HEARSAY_SIM_WORLD_WORLD_PRIVATE_H
#define HEARSAY_SIM_WORLD_WORLD_PRIVATE_H

#include "world/world.h"

/* world.c defines the functions below. */
void world_trace(struct world *world, const void *bytes, size_t count);
void world_stop(struct world *world, uint32_t i);

/* act.c defines the functions below. */
/* Performs all actions that node i asks for; may stop or restart the node. */
void world_pump(struct world *world, uint32_t i);
/* Ends node i's local step, performs waiting orders and begins the next step, in the daemon's order
 * (learner_link.h). */
void world_on_step(struct world *world, uint32_t i);
/* Continues the checkpoint of node i with its next part. */
void world_on_save(struct world *world, uint32_t i);
/* If the node's batch is automatic, sets samples and duration of a step from the learner's batch.
 */
void world_size_step(struct world_node *at);
void world_drop_orders(struct world_node *at);
void world_note(struct world *world, uint32_t i, const struct note *note);

/* training.c defines the functions below. */
void world_training_begins(struct world_node *at);
void world_watch_step(struct world *world, uint32_t i);

#endif
