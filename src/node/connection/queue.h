/* A queue of messages to a peer, each with a 2-byte length. */
#ifndef HEARSAY_NODE_CONNECTION_QUEUE_H
#define HEARSAY_NODE_CONNECTION_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue {
    uint8_t *at; /* [max] buffer of the messages */
    size_t max;  /* capacity in bytes */
    size_t from; /* offset of the first message */
    size_t to;   /* offset after the last message */
};

static inline size_t queue_bytes(const struct queue *queue)
{
    return queue->to - queue->from;
}

/* Returns where to write the next message, of at most `bytes` bytes; NULL if it does not fit. */
uint8_t *queue_room(struct queue *queue, size_t bytes);
/* Appends a message of `bytes` bytes that was written where queue_room said. */
void queue_add(struct queue *queue, size_t bytes);

/* Returns the first message; NULL if the queue is empty. */
const uint8_t *queue_first(const struct queue *queue, size_t *bytes);
/* Wipes the first message, which is secret. Call it before queue_drop_first. */
void queue_wipe_first(struct queue *queue);
void queue_drop_first(struct queue *queue);

#endif
