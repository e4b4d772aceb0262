#include "node/connection/queue.h"

#include <string.h>

#include "base/error.h"
#include "crypto/session.h"
#include "frame/frame.h"

uint8_t *queue_room(struct queue *queue, size_t bytes)
{
    CHECK(queue->from <= queue->to && queue->to <= queue->max);
    bytes += LENGTH_BYTES;
    if (bytes > queue->max - queue_bytes(queue))
        return NULL;
    if (bytes > queue->max - queue->to) {
        memmove(queue->at, queue->at + queue->from, queue_bytes(queue));
        /* After the move, no copy of a secret stays behind. */
        memset(queue->at + queue->to - queue->from, 0, queue->from);
        queue->to -= queue->from;
        queue->from = 0;
    }
    return queue->at + queue->to + LENGTH_BYTES;
}

void queue_add(struct queue *queue, size_t bytes)
{
    CHECK(LENGTH_BYTES + bytes <= queue->max - queue->to);
    frame_head(queue->at + queue->to, bytes);
    queue->to += LENGTH_BYTES + bytes;
}

const uint8_t *queue_first(const struct queue *queue, size_t *bytes)
{
    const uint8_t *at = queue->at + queue->from;
    if (queue_bytes(queue) == 0)
        return NULL;
    *bytes = (size_t)at[0] << 8 | at[1];
    CHECK(LENGTH_BYTES + *bytes <= queue_bytes(queue));
    return at + LENGTH_BYTES;
}

void queue_wipe_first(struct queue *queue)
{
    size_t bytes;
    CHECK(queue_first(queue, &bytes));
    secret_wipe(queue->at + queue->from + LENGTH_BYTES, bytes);
}

void queue_drop_first(struct queue *queue)
{
    size_t bytes;
    if (queue_first(queue, &bytes))
        queue->from += LENGTH_BYTES + bytes;
    if (queue->from == queue->to)
        queue->from = queue->to = 0;
}
