#include "network/messages.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define PIECE_BYTES 65536 /* most bytes of one wire_send */
#define CONN_BASE   ((uint64_t)1 << 32)

struct letter {
    struct letter *next;
    struct sim_message message;
    uint64_t unsent;      /* bytes not yet passed to the wire */
    uint64_t undelivered; /* bytes that have not arrived yet */
};

/* Messages from one party to another, in the order in which they leave. */
struct outbox {
    struct letter *first; /* next message to arrive completely */
    bool is_open;         /* the sender's connection to the receiver is established */
    bool is_busy;         /* a wire_send has not completed yet */
};

struct messages {
    struct messages_owner owner;
    struct event_queue *queue;
    uint32_t kind_base;
    struct wire wire;
    struct path (*paths)[SCENARIO_REGIONS_MAX]; /* [from][to] paths between regions */
    struct outbox *outboxes; /* [from][to] messages on their way between parties */
    uint64_t *sent;          /* [count] bytes that each party has passed to the wire */
    uint64_t *received;      /* [count] bytes that each party has received */
    uint32_t count;          /* number of parties */
};

static const uint8_t blank[PIECE_BYTES];

struct content *content_run(size_t first, size_t count)
{
    struct content *content = memory_new(1, sizeof *content);
    *content = (struct content){.references = 1, .first = first, .count = count};
    content->values = memory_new(count > 0 ? count : 1, sizeof *content->values);
    return content;
}

struct content *content_indexed(size_t count)
{
    struct content *content = content_run(0, count);
    content->indexes = memory_new(count > 0 ? count : 1, sizeof *content->indexes);
    return content;
}

void content_drop(struct content *content)
{
    if (!content)
        return;
    CHECK(content->references > 0);
    if (--content->references > 0)
        return;
    free(content->values);
    free(content->indexes);
    free(content);
}

struct content *content_of_nonzero(const float *values, size_t count)
{
    size_t kept = 0;
    for (size_t c = 0; c < count; c++)
        kept += values[c] != 0;
    struct content *content = content_indexed(kept);
    for (size_t c = 0, k = 0; c < count; c++) {
        if (values[c] == 0)
            continue;
        content->indexes[k] = (uint32_t)c;
        content->values[k++] = values[c];
    }
    return content;
}

void content_add(const struct content *content, float scale, float *to)
{
    for (size_t k = 0; k < content->count; k++) {
        const size_t at = content->indexes ? content->indexes[k] : content->first + k;
        to[at] += scale * content->values[k];
    }
}

static struct outbox *outbox_of(const struct messages *messages, uint32_t from, uint32_t to)
{
    CHECK(from < messages->count && to < messages->count);
    return &messages->outboxes[(size_t)from * messages->count + to];
}

/* Returns the id that a party uses for its connection with party j; its slot is j. */
static uint64_t conn_with(uint32_t j)
{
    return CONN_BASE | j;
}

static uint32_t other_of(uint64_t conn)
{
    return (uint32_t)conn;
}

static void advance(struct messages *messages, uint32_t from, uint32_t to)
{
    struct outbox *outbox = outbox_of(messages, from, to);
    struct letter *letter = outbox->first;
    while (letter && letter->unsent == 0)
        letter = letter->next;
    if (!letter || !outbox->is_open || outbox->is_busy)
        return;
    const uint64_t bytes = u64_min(letter->unsent, PIECE_BYTES);
    letter->unsent -= bytes;
    messages->sent[from] += bytes;
    outbox->is_busy = true;
    wire_send(&messages->wire, from, conn_with(to), blank, bytes);
}

static void deliver(struct messages *messages, uint32_t from, uint32_t to)
{
    struct outbox *outbox = outbox_of(messages, from, to);
    struct letter *letter = outbox->first;
    outbox->first = letter->next;
    messages->owner.on_message(messages->owner.self, to, from, &letter->message);
    content_drop(letter->message.content);
    free(letter);
}

static uint64_t on_accept(void *self, uint32_t party, uint32_t from)
{
    struct messages *messages = self;
    outbox_of(messages, party, from)->is_open = true;
    return conn_with(from);
}

static void on_connected(void *self, uint32_t party, uint64_t conn)
{
    struct messages *messages = self;
    outbox_of(messages, party, other_of(conn))->is_open = true;
    advance(messages, party, other_of(conn));
    advance(messages, other_of(conn), party);
}

static void on_sent(void *self, uint32_t party, uint64_t conn)
{
    struct messages *messages = self;
    outbox_of(messages, party, other_of(conn))->is_busy = false;
    advance(messages, party, other_of(conn));
    messages->owner.on_room(messages->owner.self, party);
}

static void on_bytes(void *self, uint32_t party, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct messages *messages = self;
    const uint32_t from = other_of(conn);
    struct outbox *outbox = outbox_of(messages, from, party);
    (void)bytes;
    messages->received[party] += count;
    while (count > 0) {
        struct letter *letter = outbox->first;
        CHECK(letter);
        const size_t part = letter->undelivered < count ? (size_t)letter->undelivered : count;
        letter->undelivered -= part;
        count -= part;
        if (letter->undelivered == 0)
            deliver(messages, from, party);
    }
}

/* Never called, because parties do not hang up and no link is cut. */
static void on_closed(void *self, uint32_t party, uint64_t conn, const char *why)
{
    (void)self;
    (void)party;
    (void)conn;
    (void)why;
    CHECK(false);
}

static void connect_all(struct messages *messages, const struct scenario *scenario)
{
    for (uint32_t i = 0; i < messages->count; i++) {
        const struct group *group = scenario_group(scenario, i);
        struct party *party = &messages->wire.parties[i];
        party->listens = true;
        party->region = scenario_region(scenario, i);
        party->up = party->down =
            (struct pipe){.stall_ns = group->stall_ns, .stall_every_ns = group->stall_every_ns};
        party->up.rate = &group->up;
        party->down.rate = &group->down;
    }
    for (uint32_t i = 0; i < messages->count; i++)
        for (uint32_t j = i + 1; j < messages->count; j++)
            wire_dial(&messages->wire, i, conn_with(j), j);
}

struct messages *messages_new(const struct scenario *scenario, struct event_queue *queue,
                              uint32_t kind_base, const struct messages_owner *owner)
{
    const uint32_t count = scenario->nodes_count;
    struct messages *messages = memory_new(1, sizeof *messages);
    CHECK(count <= MESSAGES_PARTIES_MAX);
    *messages = (struct messages){
        .owner = *owner,
        .queue = queue,
        .kind_base = kind_base,
        .paths = memory_new(SCENARIO_REGIONS_MAX, sizeof *messages->paths),
        .outboxes = memory_new((size_t)count * count, sizeof *messages->outboxes),
        .sent = memory_new(count, sizeof *messages->sent),
        .received = memory_new(count, sizeof *messages->received),
        .count = count,
    };
    memcpy(messages->paths, scenario->paths, sizeof scenario->paths);
    const struct wire_owner wire_owner = {.self = messages,
                                          .on_accept = on_accept,
                                          .on_connected = on_connected,
                                          .on_bytes = on_bytes,
                                          .on_sent = on_sent,
                                          .on_closed = on_closed};
    wire_init(&messages->wire, queue, &wire_owner, kind_base + 1, count, messages->paths,
              scenario->regions_count, scenario->seed);
    connect_all(messages, scenario);
    return messages;
}

void messages_free(struct messages *messages)
{
    for (size_t k = 0; k < (size_t)messages->count * messages->count; k++)
        while (messages->outboxes[k].first) {
            struct letter *letter = messages->outboxes[k].first;
            messages->outboxes[k].first = letter->next;
            content_drop(letter->message.content);
            free(letter);
        }
    wire_free(&messages->wire);
    free(messages->paths);
    free(messages->outboxes);
    free(messages->sent);
    free(messages->received);
    free(messages);
}

/* Kind kind_base delivers a message of a party to itself; the later kinds belong to the wire. */
void messages_on_event(struct messages *messages, const struct event *event)
{
    CHECK(event->kind >= messages->kind_base &&
          event->kind < messages->kind_base + MESSAGES_EVENTS);
    if (event->kind == messages->kind_base)
        deliver(messages, event->who, event->who);
    else
        wire_on_event(&messages->wire, event);
}

void messages_send(struct messages *messages, uint32_t from, uint32_t to,
                   const struct sim_message *message)
{
    struct outbox *outbox = outbox_of(messages, from, to);
    struct letter *letter = memory_new(1, sizeof *letter);
    CHECK(message->bytes > 0);
    *letter = (struct letter){
        .message = *message, .unsent = message->bytes, .undelivered = message->bytes};
    struct letter **at = &outbox->first;
    while (*at &&
           ((*at)->unsent < (*at)->message.bytes || (*at)->message.priority >= message->priority))
        at = &(*at)->next;
    letter->next = *at;
    *at = letter;
    if (from == to)
        event_queue_put(messages->queue, messages->queue->now_ns, messages->kind_base, from, 0, 0);
    else
        advance(messages, from, to);
}

uint32_t messages_waiting(const struct messages *messages, uint32_t from, uint32_t to)
{
    uint32_t waiting = 0;
    for (const struct letter *at = outbox_of(messages, from, to)->first; at; at = at->next)
        waiting += at->unsent == at->message.bytes;
    return waiting;
}

uint64_t messages_sent(const struct messages *messages, uint32_t i)
{
    return messages->sent[i];
}

uint64_t messages_received(const struct messages *messages, uint32_t i)
{
    return messages->received[i];
}

const struct wire *messages_wire(const struct messages *messages)
{
    return &messages->wire;
}
