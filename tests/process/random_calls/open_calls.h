/* hearsay_open with valid and with invalid arguments. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_OPEN_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_OPEN_CALLS_H

#include "process/random_calls/slot.h"

#define OPEN_PLACES 5

/* The state folders, keys and configuration files, in the working folder. */
struct places {
    struct place good[OPEN_PLACES];
    struct place wild;   /* folder for nodes with random settings */
    struct place bad;    /* folder for nodes that are refused */
    struct place own;    /* folder for a child's node */
    struct backend *gpu; /* device for some of the tensors; NULL = no GPU and no stand-in */
};
void open_calls_begin(struct places *places);
void open_calls_end(struct places *places);

/* Opens a node into an empty slot, with valid arguments. It may dial one of `others`, or want a
 * folder that one of them has. */
void open_call_good(struct player *player, struct slot *slot, struct places *places,
                    struct slot others[SLOT_COUNT]);
/* Opens a node of a forked child into an empty slot. */
void open_call_own(struct player *player, struct slot *slot, struct places *places);
/* Opens a node into an empty slot, with random values for any keys of the configuration. */
void open_call_wild(struct player *player, struct slot *slot, struct places *places);
/* Calls hearsay_open with one invalid argument, for an empty slot. Afterwards the slot has the
 * refused handle, if there is one. */
void open_call_bad(struct player *player, struct slot *slot);

#endif
