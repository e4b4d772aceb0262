/* Calls of hearsay_open with valid and invalid arguments. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_OPEN_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_OPEN_CALLS_H

#include "process/random_calls/slot.h"

#define OPEN_PLACES 5

/* State folders, keys and configuration files, in the working folder. */
struct places {
    struct place good[OPEN_PLACES];
    struct place wild;   /* folder for nodes with random settings */
    struct place bad;    /* folder for nodes that hearsay_open refuses */
    struct place own;    /* folder for a forked child's node */
    struct backend *gpu; /* device for some of the tensors; NULL = neither a GPU nor a stand-in */
};
void open_calls_begin(struct places *places);
void open_calls_end(struct places *places);

/* Opens a node with valid arguments into an empty slot. It may dial a node of `others`, or request
 * a folder that one of them uses. */
void open_call_good(struct player *player, struct slot *slot, struct places *places,
                    struct slot others[SLOT_COUNT]);
/* Opens a forked child's node into an empty slot. */
void open_call_own(struct player *player, struct slot *slot, struct places *places);
/* Opens a node into an empty slot, with random values for any configuration keys. */
void open_call_wild(struct player *player, struct slot *slot, struct places *places);
/* Calls hearsay_open with one invalid argument, for an empty slot. The slot receives the refused
 * handle, if any. */
void open_call_bad(struct player *player, struct slot *slot);

#endif
