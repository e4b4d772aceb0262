/* Two threads that call for one handle, and children after fork. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_CROWD_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_CROWD_CALLS_H

#include "process/random_calls/open_calls.h"

/* The slot is not empty. */
void crowd_calls(struct player *player, struct slot *slot);
/* A child calls for each handle; some open a node of their own; and it exits. */
void crowd_fork(struct player *player, struct slot slots[SLOT_COUNT], struct places *places);

#endif
