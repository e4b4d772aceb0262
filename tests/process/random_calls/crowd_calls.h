/* Two threads that call with one handle, and children after fork. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_CROWD_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_CROWD_CALLS_H

#include "process/random_calls/open_calls.h"

/* Two threads make random calls with the handle of a slot, which must not be empty. */
void crowd_calls(struct player *player, struct slot *slot);
/* Forks a child that calls with each handle. Some children open a node of their own. The child
 * exits. */
void crowd_fork(struct player *player, struct slot slots[SLOT_COUNT], struct places *places);

#endif
