/* Notes: one line per event, for people and for traces.
 *
 * The node writes them, and its owner prints them. Notes that other nodes can cause are limited in
 * number per second; a separate note reports how many were suppressed.
 */
#ifndef HEARSAY_NODE_NOTES_H
#define HEARSAY_NODE_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "crypto/identity.h"
#include "wire/address.h"

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
    NOTE_SATURATED,
    NOTE_TRAINING,
    NOTE_DOUBT,
    NOTE_HARM,
    NOTE_EXPELLED,
    NOTE_EXCESS,
    NOTE_MISMATCH,
    NOTE_FIRST_WEIGHTS,
    NOTE_SETTINGS,
    NOTE_ADMISSION,
    NOTE_REKEY,
    NOTE_FINISHED,
    NOTE_SUPPRESSED,
    NOTE_KINDS
};

enum note_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR };

/* How certain it is why a conversation ended or could not begin. */
enum note_certainty {
    NOTE_GUESSED, /* no peer has answered, or a connection ended without a reason */
    NOTE_UNREAD,  /* the peer closed without an answer, as it does if the swarm keys differ */
    NOTE_TOLD,    /* the peer has given the reason */
    NOTE_LASTING  /* the reason lasts until a person changes a configuration, a key or a list */
};

struct note {
    uint64_t at_ns;
    enum note_kind kind;
    enum note_level level;
    /* How certain the reason is, in a note about a lost, refused or unreachable peer. */
    enum note_certainty certainty;
    char who[ID_TEXT_BYTES];        /* id of another node, or "" */
    char where[ADDRESS_TEXT_BYTES]; /* address of another node, or "" */
    char text[320];                 /* the event as a sentence for a person */
};

const char *note_kind_name(enum note_kind kind);

/* Maximum causes of notes that are remembered (notes_allow_once). An attacker with more addresses
 * is limited by notes_per_s. */
#define NOTES_CAUSES   64
#define NOTES_AGAIN_NS 600000000000ull /* least time between two notes of one cause */

/* Ring of the notes that were not fetched yet. A new note overwrites the oldest one of a full
 * ring. */
struct notes {
    struct note *ring; /* [max] */
    uint32_t max;
    uint32_t from; /* index of the oldest note in `ring` */
    uint32_t count;
    double tokens; /* token bucket: notes that other nodes may cause now */
    /* Notes per second that other nodes may cause; also the size of the bucket. */
    double tokens_per_second;
    uint64_t refilled_ns; /* time when `tokens` was last raised */
    uint64_t suppressed;  /* notes dropped since the last NOTE_SUPPRESSED */
    struct {
        uint64_t hash;      /* hash of the note's kind, host or id, and text */
        uint64_t again_ns;  /* time until which this note is not repeated; 0 = unused entry */
    } causes[NOTES_CAUSES]; /* causes of the last notes that notes_allow_once allowed */
};

void notes_init(struct notes *notes, struct arena *arena, uint32_t max, double per_second);

/* Adds a note and returns it. The caller may set its `who` and `where` until the next call. */
struct note *notes_add(struct notes *notes, uint64_t now_ns, enum note_kind kind,
                       enum note_level level, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Call it before adding a note that another node caused. Returns false, and counts the note as
 * suppressed, if too many were added lately. */
bool notes_allow(struct notes *notes, uint64_t now_ns);

/* Like notes_allow, but also returns false if a note of this kind with this text about `who` was
 * allowed within NOTES_AGAIN_NS. Such a repetition does not count as suppressed. who: an id or a
 * host. */
bool notes_allow_once(struct notes *notes, uint64_t now_ns, enum note_kind kind, const char *who,
                      const char *text);

/* Removes the oldest note and copies it to *note. Returns false if there is none. */
bool notes_next(struct notes *notes, struct note *note);

#endif
