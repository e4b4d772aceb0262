/* Messages that wait to be sent to a peer, in their order: each with its 2-byte length. */
#ifndef HEARSAY_NODE_CONNECTION_QUEUE_H
#define HEARSAY_NODE_CONNECTION_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue {
    uint8_t *at; /* [max] the messages */
    size_t max;  /* room for so many bytes */
    size_t from; /* where the first message that waits begins */
    size_t to;   /* where the last one ends */
};

static inline size_t queue_bytes(const struct queue *queue)
{
    return queue->to - queue->from;
}

/* Where a message of at most so many bytes may be written; NULL: there is no room. */
uint8_t *queue_room(struct queue *queue, size_t bytes);
/* It was written, and is so long. */
void queue_add(struct queue *queue, size_t bytes);

/* The first message, if there is one. */
const uint8_t *queue_first(const struct queue *queue, size_t *bytes);
void queue_wipe_first(struct queue *queue); /* before it is dropped: it was secret */
void queue_drop_first(struct queue *queue);

#endif
