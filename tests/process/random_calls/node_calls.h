/* Random calls with a handle in any state: open, closed, refused or NULL. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_NODE_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_NODE_CALLS_H

#include "process/random_calls/slot.h"

/* Makes a call other than open and free, and updates the slot's expected state. */
void node_call(struct player *player, struct slot *slot, enum call call);
/* Trains all open nodes for a while. Each node applies what other nodes publish. */
void node_calls_together(struct player *player, struct slot slots[SLOT_COUNT]);
void node_call_free(struct player *player, struct slot *slot);

#endif
