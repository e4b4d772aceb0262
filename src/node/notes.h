/* Notes: what happened, one event each, as a line for a person and a line of a trace.
 *
 * The core says them, the shell prints them. A stranger can cause notes; those are limited in
 * number per second, and what was held back is counted in a note of its own.
 */
#ifndef HEARSAY_NODE_NOTES_H
#define HEARSAY_NODE_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "crypto/identity.h"
#include "socket/address.h"

enum note_kind {
    NOTE_STARTED,
    NOTE_DEVICE,
    NOTE_SANDBOX,
    NOTE_WEB,
    NOTE_RESUMED,
    NOTE_STATUS,
    NOTE_JOINED,
    NOTE_NEIGHBOUR,
    NOTE_NEIGHBOUR_LOST,
    NOTE_DIAL_FAILED,
    NOTE_STALLED,
    NOTE_REFUSED,
    NOTE_MEMBER,
    NOTE_MEMBER_DEAD,
    NOTE_MEMBER_LEFT,
    NOTE_CATCHING_UP,
    NOTE_SAVED,
    NOTE_DIGEST,
    NOTE_FALSE_BASE,
    NOTE_IDENTITY_TAKEN,
    NOTE_FULL,
    NOTE_LEAVING,
    NOTE_LEFT,
    NOTE_EVALUATED,
    NOTE_BATCH,
    NOTE_DIVERGED,
    NOTE_TRAINING,
    NOTE_DOUBT,
    NOTE_HARM,
    NOTE_EXPELLED,
    NOTE_MISMATCH,
    NOTE_SETTINGS,
    NOTE_ADMISSION,
    NOTE_REKEY,
    NOTE_SUPPRESSED,
    NOTE_KINDS
};

enum note_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR };

struct note {
    uint64_t at_ns;                 /* when it happened */
    enum note_kind kind;            /* what happened */
    enum note_level level;          /* how much it matters */
    char who[ID_TEXT_BYTES];        /* the id of another node, or "" */
    char where[ADDRESS_TEXT_BYTES]; /* the address of that node, or "" */
    char text[320];                 /* the sentence for a person */
};

const char *note_kind_name(enum note_kind kind);

/* The notes waiting to be fetched: a ring that forgets the oldest. */
struct notes {
    struct note *ring;        /* [max] */
    uint32_t max;             /* room for so many */
    uint32_t from;            /* where the oldest is in the ring */
    uint32_t count;           /* how many wait */
    double tokens;            /* notes caused by others that may be made now */
    double tokens_per_second; /* how fast these come back; as many are kept at most */
    uint64_t refilled_ns;     /* when they last did */
    uint64_t suppressed;      /* notes held back or forgotten, and not said so yet */
};

void notes_init(struct notes *notes, struct arena *arena, uint32_t max, double per_second);

/* Something we did or saw. The returned note may be given `who` and `where` until the next call. */
struct note *notes_add(struct notes *notes, uint64_t now_ns, enum note_kind kind,
                       enum note_level level, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* May another note caused by a stranger be made now? Counts it if so. */
bool notes_allow(struct notes *notes, uint64_t now_ns);

/* The oldest note, or false. */
bool notes_next(struct notes *notes, struct note *note);

#endif
