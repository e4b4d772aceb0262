/* Periodic work: rounds of gossip, and checks of conversations and members. */
#ifndef HEARSAY_NODE_TIMERS_H
#define HEARSAY_NODE_TIMERS_H

#include "node/core.h"

struct timers *timers_new(struct arena *arena, struct node *node);
size_t timers_arena_bytes(void);

#endif
