/* Whole messages over the simulated network, for strategies that do not use hearsay's protocol.
 *
 *   messages_send ─► queue of (from, to) ─► wire: one connection a pair ─► on_message
 *
 * A message has a size, which the network carries, and a content, which is delivered with its last
 * byte. Messages of a pair leave by priority, but one that has started is finished first. A message
 * to oneself arrives at once, by an event. Nothing is lost, because the wire retransmits. Tests:
 * tests/unit/sim/test_messages.c.
 */
#ifndef HEARSAY_SIM_NETWORK_MESSAGES_H
#define HEARSAY_SIM_NETWORK_MESSAGES_H

#include "network/wire.h"

#define MESSAGES_PARTIES_MAX WIRE_SLOTS

/* A part of a vector: values of consecutive entries, or of listed entries. Messages share a content
 * by counting references. */
struct content {
    uint32_t references; /* number of references */
    size_t first;        /* index of the entry with the first value; used if indexes is NULL */
    size_t count;        /* number of values */
    float *values;       /* [count] values of the entries */
    /* [count] index of the entry with each value, ascending; NULL = the entries from `first` on */
    uint32_t *indexes;
};

struct sim_message {
    uint64_t bytes;          /* size on the wire in bytes, at least 1 */
    uint32_t kind;           /* meaning of the message, chosen by the sender */
    uint64_t number;         /* number of a step or round, as the sender counts */
    double weight;           /* weight of the content, chosen by the sender */
    uint32_t priority;       /* messages with a higher priority overtake waiting ones */
    struct content *content; /* content of the message; NULL = none */
};

struct messages_owner {
    void *self;
    void (*on_message)(void *self, uint32_t to, uint32_t from, const struct sim_message *message);
    /* Called when waiting bytes of party `from` have entered the network, so that more may be
     * sent. */
    void (*on_room)(void *self, uint32_t from);
};

struct messages;

/* Allocate a content with one reference; the caller fills in the values. content_run: entries
 * first, first + 1, …; content_indexed: entries that the caller lists in `indexes`. */
struct content *content_run(size_t first, size_t count);
struct content *content_indexed(size_t count);
/* Releases one reference to the content; NULL is allowed. */
void content_drop(struct content *content);

/* Returns a new content with all nonzero entries of values[count]. */
struct content *content_of_nonzero(const float *values, size_t count);

/* Adds each value of the content, times scale, to its entry of `to`. */
void content_add(const struct content *content, float scale, float *to);

/* Number of kinds of events that messages_on_event handles. */
#define MESSAGES_EVENTS ((uint32_t)WIRE_EVENTS + 1)

/* Creates the network, with one party for each node of the scenario and with its links. Times of
 * the scenario count from virtual time 0. The caller passes each event whose kind is in kind_base
 * .. kind_base + MESSAGES_EVENTS - 1 to messages_on_event. */
struct messages *messages_new(const struct scenario *scenario, struct event_queue *queue,
                              uint32_t kind_base, const struct messages_owner *owner);
void messages_free(struct messages *messages);

void messages_on_event(struct messages *messages, const struct event *event);

/* Sends a message. Takes over the caller's reference to the message's content. */
void messages_send(struct messages *messages, uint32_t from, uint32_t to,
                   const struct sim_message *message);

/* Returns how many messages from `from` to `to` wait: no byte of them has been sent yet. */
uint32_t messages_waiting(const struct messages *messages, uint32_t from, uint32_t to);

/* messages_sent returns the number of bytes that party i has given to the network;
 * messages_received returns the number of bytes that party i has received. */
uint64_t messages_sent(const struct messages *messages, uint32_t i);
uint64_t messages_received(const struct messages *messages, uint32_t i);

/* Returns the simulated network, with its links and their traffic counters. */
const struct wire *messages_wire(const struct messages *messages);

#endif
