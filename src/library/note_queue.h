/* Notes of a node for the program that it is in, until the program asks for them.
 *
 *   event log (loop thread, or the caller's) ─► note_queue ─► hearsay_note (any thread)
 *
 * Neither side waits for the other. A program that does not ask loses notes, the least important
 * first, and is told how many. Held by tests/unit/library/test_notes_told.c.
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
    char text[NOTE_QUEUE_TEXT_BYTES]; /* who, where and the sentence */
};

struct note_queue {
    pthread_mutex_t mutex;                    /* of all below */
    struct queued_note notes[NOTE_QUEUE_MAX]; /* a ring */
    uint32_t from, count;                     /* the oldest, and how many there are */
    uint64_t lost;                            /* since this was last said */
};

void note_queue_init(struct note_queue *queue);
void note_queue_free(struct note_queue *queue);

/* Debug notes are left out. Full: a warning takes the place of the oldest note, others are lost. */
void note_queue_put(struct note_queue *queue, const struct note *note);
/* The oldest note, or that some were lost. False: there is none. */
bool note_queue_take(struct note_queue *queue, struct queued_note *out);

#endif
