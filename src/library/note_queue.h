/* Notes of a node for its host program, until the program reads them.
 *
 *   event log (loop thread, or the caller's) ─► note_queue ─► hearsay_note (any thread)
 *
 * Neither side waits for the other. If the program does not read them, notes are lost, the least
 * important first, and a later note says how many. Held by tests/unit/library/test_notes_told.c.
 */
#ifndef HEARSAY_LIBRARY_NOTE_QUEUE_H
#define HEARSAY_LIBRARY_NOTE_QUEUE_H

#include <pthread.h>

#include "node/notes.h"

#define NOTE_QUEUE_MAX 64
#define NOTE_QUEUE_TEXT_BYTES                                                                      \
    (sizeof((struct note *)NULL)->text + ID_TEXT_BYTES + ADDRESS_TEXT_BYTES)

struct queued_note {
    enum note_level level;
    char text[NOTE_QUEUE_TEXT_BYTES]; /* id, address and sentence of the note */
};

struct note_queue {
    pthread_mutex_t mutex;                    /* protects the members below */
    struct queued_note notes[NOTE_QUEUE_MAX]; /* a ring */
    uint32_t from, count;                     /* index of the oldest note, and number of notes */
    uint64_t lost;                            /* notes lost since that was last reported */
};

void note_queue_init(struct note_queue *queue);
void note_queue_free(struct note_queue *queue);

/* Adds a note, except debug notes. If the queue is full, a warning replaces the oldest note; other
 * notes are lost. */
void note_queue_put(struct note_queue *queue, const struct note *note);
/* Removes the oldest note, or returns a note about lost ones. Returns false if there is none. */
bool note_queue_take(struct note_queue *queue, struct queued_note *out);

#endif
