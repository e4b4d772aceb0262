/* Whole messages over the simulated network, for strategies whose nodes are not hearsay's.
 *
 *   messages_send ─► queue of (from, to) ─► wire: one connection a pair ─► on_message
 *
 * A message has a size, which is what the network carries, and a content, which is handed over when
 * its last byte has arrived. The messages of a pair arrive in the order of their priorities, and
 * one that is on its way is finished first. Who sends to itself is told at once, by an event.
 * Nothing is lost: the wire repeats. Held by tests/unit/sim/test_messages.c.
 */
#ifndef HEARSAY_SIM_NETWORK_MESSAGES_H
#define HEARSAY_SIM_NETWORK_MESSAGES_H

#include "network/wire.h"

#define MESSAGES_PARTIES_MAX WIRE_SLOTS

/* What a message says: numbers, of a run of entries or of single ones. Messages share it. */
struct content {
    uint32_t references; /* messages and others that have it */
    size_t first;        /* entry of the first value, where places is NULL */
    size_t count;        /* values */
    float *values;       /* [count] */
    uint32_t *places;    /* [count]: entry of each value, ascending; NULL: first, first + 1, … */
};

struct sim_message {
    uint64_t bytes;          /* on the wire, all that is charged; at least 1 */
    uint32_t kind;           /* the sender's own, as the next two */
    uint64_t number;         /* of a step or a round */
    double weight;           /* of what is said */
    uint32_t priority;       /* a higher one overtakes those that wait */
    struct content *content; /* NULL: none */
};

struct messages_owner {
    void *self;
    void (*on_message)(void *self, uint32_t to, uint32_t from, const struct sim_message *message);
    void (*on_room)(void *self, uint32_t from); /* the network took bytes that had waited */
};

struct messages; /* opaque */

/* A content with one reference, values not set. */
struct content *content_run(size_t first, size_t count);
struct content *content_places(size_t count);
void content_drop(struct content *content); /* gives a reference back; NULL: nothing */

/* The content of all entries of values[count] other than 0. */
struct content *content_of_nonzero(const float *values, size_t count);

/* to[…] += scale · content, at its entries. */
void content_add(const struct content *content, float scale, float *to);

/* Parties are the scenario's nodes, with its links, from its time 0. Events of the kinds
 * kind_base … kind_base + MESSAGES_EVENTS - 1 are for messages_on_event. */
#define MESSAGES_EVENTS ((uint32_t)WIRE_EVENTS + 1)
struct messages *messages_new(const struct scenario *scenario, struct event_queue *queue,
                              uint32_t kind_base, const struct messages_owner *owner);
void messages_free(struct messages *messages);

void messages_on_event(struct messages *messages, const struct event *event);

/* Takes over the caller's reference to the content. */
void messages_send(struct messages *messages, uint32_t from, uint32_t to,
                   const struct sim_message *message);

/* Messages from one to the other that have not begun to leave. */
uint32_t messages_waiting(const struct messages *messages, uint32_t from, uint32_t to);

/* Bytes that a node has handed to the network, and had from it. */
uint64_t messages_sent(const struct messages *messages, uint32_t i);
uint64_t messages_received(const struct messages *messages, uint32_t i);

/* Links and their traffic. */
const struct wire *messages_wire(const struct messages *messages);

#endif
