/* hearsay_open with good and with bad arguments. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_OPEN_CALLS_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_OPEN_CALLS_H

#include "process/random_calls/slot.h"

#define OPEN_PLACES 5

/* The state folders, keys and files of the configuration, in the working folder. */
struct places {
    struct place good[OPEN_PLACES];
    struct place wild;   /* of nodes whose settings are drawn */
    struct place bad;    /* of what is refused */
    struct place own;    /* of a child's node */
    struct backend *gpu; /* where some tensors lie; NULL: there is none, and no stand-in */
};
void open_calls_begin(struct places *places);
void open_calls_end(struct places *places);

/* Into an empty slot. `others` may be called, or have the folder that is wanted. */
void open_call_good(struct player *player, struct slot *slot, struct places *places,
                    struct slot others[SLOT_COUNT]);
/* A child's own node, into an empty slot. */
void open_call_own(struct player *player, struct slot *slot, struct places *places);
/* With any key of the configuration set to anything; an empty slot. */
void open_call_wild(struct player *player, struct slot *slot, struct places *places);
/* With one argument that is wrong. The slot is empty; it has the refused handle afterwards, if
 * there is one. */
void open_call_bad(struct player *player, struct slot *slot);

#endif
