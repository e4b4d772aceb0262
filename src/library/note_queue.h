/* Queue of the node's notes until the host program reads them.
 *
 *   event log (loop thread, or the caller's) ─► note_queue ─► hearsay_note (any thread)
 *
 * The node never waits for the program to read. If the queue is full, notes are lost, and the next
 * note that the program reads says how many. Tests: tests/unit/library/test_notes_told.c.
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
    char text[NOTE_QUEUE_TEXT_BYTES]; /* id, address and text of the note, separated by blanks */
};

struct note_queue {
    pthread_mutex_t mutex;                    /* protects the rest */
    struct queued_note notes[NOTE_QUEUE_MAX]; /* ring buffer of unread notes */
    uint32_t from, count;                     /* index of the oldest note, number of notes */
    uint64_t lost;                            /* lost notes that no note has reported yet */
};

void note_queue_init(struct note_queue *queue);
void note_queue_free(struct note_queue *queue);

/* Ignores debug notes. If the queue is full, a warning or error replaces the oldest note, and any
 * other note is lost. */
void note_queue_put(struct note_queue *queue, const struct note *note);
/* Removes the oldest note, or writes a note about the number of lost notes. Returns false if there
 * is neither. */
bool note_queue_take(struct note_queue *queue, struct queued_note *out);

#endif
