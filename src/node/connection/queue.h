/* A queue of messages to a peer, each with a 2-byte length. */
#ifndef HEARSAY_NODE_CONNECTION_QUEUE_H
#define HEARSAY_NODE_CONNECTION_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue {
    uint8_t *at; /* [max] the messages */
    size_t max;  /* capacity in bytes */
    size_t from; /* start of the first message */
    size_t to;   /* end of the last message */
};

static inline size_t queue_bytes(const struct queue *queue)
{
    return queue->to - queue->from;
}

/* Returns space for a message of at most `bytes` bytes; NULL if there is none. */
uint8_t *queue_room(struct queue *queue, size_t bytes);
/* Appends the message of this size that was written to the space from queue_room. */
void queue_add(struct queue *queue, size_t bytes);

/* Returns the first message; NULL if the queue is empty. */
const uint8_t *queue_first(const struct queue *queue, size_t *bytes);
void queue_wipe_first(struct queue *queue); /* wipes a secret message before it is dropped */
void queue_drop_first(struct queue *queue);

#endif
