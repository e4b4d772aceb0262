/* Random calls on a handle, whatever it is: open, closed, refused or none. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_NODE_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_NODE_CALLS_H

#include "process/random_calls/slot.h"

/* Any call but open and free; the reference model follows. */
void node_call(struct player *player, struct slot *slot, enum call call);
/* All that are open train for a while, and hear each other: what one publishes others apply. */
void node_calls_together(struct player *player, struct slot slots[SLOT_COUNT]);
/* The slot is empty afterwards. */
void node_call_free(struct player *player, struct slot *slot);

#endif
