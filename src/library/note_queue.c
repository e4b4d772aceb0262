#include "library/note_queue.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

void note_queue_init(struct note_queue *queue)
{
    queue->from = queue->count = 0;
    queue->lost = 0;
    CHECK(pthread_mutex_init(&queue->mutex, NULL) == 0);
}

void note_queue_free(struct note_queue *queue)
{
    CHECK(pthread_mutex_destroy(&queue->mutex) == 0);
}

static struct queued_note *take_oldest(struct note_queue *queue)
{
    struct queued_note *oldest = &queue->notes[queue->from];
    CHECK(queue->count > 0 && queue->count <= NOTE_QUEUE_MAX);
    queue->from = (queue->from + 1) % NOTE_QUEUE_MAX;
    queue->count--;
    return oldest;
}

void note_queue_put(struct note_queue *queue, const struct note *note)
{
    if (note->level == LEVEL_DEBUG)
        return;
    CHECK(pthread_mutex_lock(&queue->mutex) == 0);
    const bool is_full = queue->count == NOTE_QUEUE_MAX;
    queue->lost += is_full;
    if (is_full && note->level >= LEVEL_WARNING)
        (void)take_oldest(queue);
    if (queue->count < NOTE_QUEUE_MAX) {
        struct queued_note *last = &queue->notes[(queue->from + queue->count++) % NOTE_QUEUE_MAX];
        last->level = note->level;
        (void)snprintf(last->text, sizeof last->text, "%s%s%s%s%s", note->who,
                       note->who[0] ? " " : "", note->where, note->where[0] ? " " : "", note->text);
    }
    CHECK(pthread_mutex_unlock(&queue->mutex) == 0);
}

bool note_queue_take(struct note_queue *queue, struct queued_note *out)
{
    CHECK(pthread_mutex_lock(&queue->mutex) == 0);
    const uint64_t lost = queue->lost;
    const bool is_there = lost > 0 || queue->count > 0;
    queue->lost = 0;
    if (lost > 0) {
        out->level = LEVEL_WARNING;
        (void)snprintf(out->text, sizeof out->text,
                       "%" PRIu64
                       " notes of the node were lost because the program made no call for too long",
                       lost);
    } else if (is_there) {
        *out = *take_oldest(queue);
    }
    CHECK(pthread_mutex_unlock(&queue->mutex) == 0);
    return is_there;
}
