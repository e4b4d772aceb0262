/* Whole messages over the simulated network, for strategies without hearsay's protocol.
 *
 *   messages_send ─► queue of (from, to) ─► wire: one connection per pair ─► on_message
 *
 * A message has a size, which the network carries, and a content, which is delivered with its last
 * byte. Messages of a pair leave by priority, but one that has started is finished first. A party's
 * message to itself arrives at once, by an event. The wire loses no message. Tests:
 * tests/unit/sim/test_messages.c.
 */
#ifndef HEARSAY_SIM_NETWORK_MESSAGES_H
#define HEARSAY_SIM_NETWORK_MESSAGES_H

#include "network/wire.h"

#define MESSAGES_PARTIES_MAX WIRE_SLOTS

_Static_assert(SCENARIO_WORKERS_MAX <= MESSAGES_PARTIES_MAX,
               "each worker of a strategy is a party");

/* A part of a vector: values of consecutive or of listed entries. Messages may share a content. */
struct content {
    uint32_t references;
    size_t first; /* index of the first entry; used if indexes is NULL */
    size_t count; /* number of entries */
    float *values;
    uint32_t *indexes; /* [count] index of each entry, ascending; NULL = the entries from `first` */
};

struct sim_message {
    uint64_t bytes;          /* size on the wire, at least 1 */
    uint32_t kind;           /* meaning of the message, chosen by the sender */
    uint64_t number;         /* number of a step or round, as the sender counts */
    double weight;           /* weight of the content, chosen by the sender */
    uint32_t priority;       /* messages with a higher priority overtake waiting ones */
    struct content *content; /* NULL = none */
};

struct messages_owner {
    void *self;
    void (*on_message)(void *self, uint32_t to, uint32_t from, const struct sim_message *message);
    void (*on_room)(void *self, uint32_t from); /* called when waiting bytes have left the party */
};

struct messages;

/* Allocate a content with one reference; the caller fills in `values`, and in content_indexed also
 * `indexes`. content_run: entries first .. first + count - 1. */
struct content *content_run(size_t first, size_t count);
struct content *content_indexed(size_t count);
/* Releases one reference; NULL is allowed. */
void content_drop(struct content *content);

/* Returns a content with one reference and the nonzero entries of values[count]. */
struct content *content_of_nonzero(const float *values, size_t count);

void content_add(const struct content *content, float scale, float *to);

#define MESSAGES_EVENTS ((uint32_t)WIRE_EVENTS + 1)

/* Creates the network with a party for each node of the scenario. The scenario's times count from
 * virtual time 0. The caller passes each event of a kind in kind_base .. kind_base +
 * MESSAGES_EVENTS - 1 to messages_on_event. */
struct messages *messages_new(const struct scenario *scenario, struct event_queue *queue,
                              uint32_t kind_base, const struct messages_owner *owner);
void messages_free(struct messages *messages);

void messages_on_event(struct messages *messages, const struct event *event);

/* Takes over the caller's reference to the message's content. */
void messages_send(struct messages *messages, uint32_t from, uint32_t to,
                   const struct sim_message *message);

/* Returns the number of messages from `from` to `to` of which no byte has been sent yet. */
uint32_t messages_waiting(const struct messages *messages, uint32_t from, uint32_t to);

/* Return bytes that party i has passed to the network or received. Its messages to itself do not
 * count. */
uint64_t messages_sent(const struct messages *messages, uint32_t i);
uint64_t messages_received(const struct messages *messages, uint32_t i);

const struct wire *messages_wire(const struct messages *messages);

#endif
