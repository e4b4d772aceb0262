/* Calls with one handle from two threads, and with all handles from a child after fork. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_CROWD_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_CROWD_CALLS_H

#include "process/random_calls/open_calls.h"

/* Makes random calls from two threads with a slot's handle. The slot must not be empty. */
void crowd_calls(struct player *player, struct slot *slot);
/* Forks a child that calls with each handle and then exits. Some children open their own node. */
void crowd_fork(struct player *player, struct slot slots[SLOT_COUNT], struct places *places);

#endif
