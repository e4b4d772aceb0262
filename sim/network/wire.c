#include "network/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "network/wire_private.h"

#define SYN_AGAIN_NS SECOND_NS /* time after which a SYN that a cut has dropped is sent again */

void wire_init(struct wire *wire, struct event_queue *event_queue, const struct wire_owner *owner,
               uint32_t kind_base, uint32_t parties, struct path (*paths)[SCENARIO_REGIONS_MAX],
               uint32_t regions, uint64_t seed)
{
    *wire = (struct wire){
        .event_queue = event_queue,
        .owner = *owner,
        .rng = rng_new(seed, 0x57495245),
        .kind_base = kind_base,
        .parties = memory_new(parties, sizeof *wire->parties),
        .parties_count = parties,
        .paths = paths,
        .regions = regions,
        .region_pipes = memory_new((size_t)regions * regions, sizeof *wire->region_pipes),
        .crossings = memory_new((size_t)regions * regions, sizeof *wire->crossings),
        .cuts = memory_new((size_t)parties * parties, 1),
    };
    for (uint32_t a = 0; a < regions; a++)
        for (uint32_t b = 0; b < regions; b++)
            wire->region_pipes[a * regions + b].rate = &paths[a][b].rate;
}

void wire_free(struct wire *wire)
{
    for (uint32_t i = 0; i < wire->connections_count; i++)
        for (int end = 0; end < 2; end++)
            free(wire->connections[i].half[end].ring);
    free(wire->connections);
    free(wire->parties);
    free(wire->region_pipes);
    free(wire->crossings);
    free(wire->cuts);
}

/* Sets *at to the index of the party's connection conn, and *end to the party's end. Returns false
 * if the party has no such connection. */
static bool wire_find(struct wire *wire, uint32_t party, uint64_t conn, uint32_t *at, int *end)
{
    const uint32_t connection = *tcp_slot(wire, party, conn);
    if (!connection)
        return false;
    *at = connection - 1;
    for (*end = 0; *end < 2; (*end)++) {
        const struct connection_end *have = &wire->connections[*at].end[*end];
        if (have->party == party && have->conn == conn && !have->gone)
            return true;
    }
    return false;
}

void wire_send(struct wire *wire, uint32_t party, uint64_t conn, const uint8_t *bytes, size_t count)
{
    uint32_t at;
    int end;
    CHECK(count > 0);
    CHECK(wire_find(wire, party, conn, &at, &end));
    struct connection *connection = &wire->connections[at];
    struct half_connection *half = &connection->half[1 - end];
    CHECK(!half->sending);
    if (!connection->end[end].up)
        return; /* the connection is closed, and on_closed follows */
    half_connection_put(half, bytes, count);
    half->sending = true;
    half_connection_advance(wire, at, 1 - end);
}

void wire_dial(struct wire *wire, uint32_t party, uint64_t conn, uint32_t to)
{
    const uint32_t at = tcp_new(wire);
    struct connection *connection = &wire->connections[at];
    connection->end[0] = (struct connection_end){.party = party, .conn = conn};
    connection->end[1] = (struct connection_end){.party = to};
    uint32_t *slot = tcp_slot(wire, party, conn);
    CHECK(*slot == 0);
    *slot = at + 1;
    tcp_put(wire, wire->event_queue->now_ns + half_connection_travel_ns(wire, connection, 1),
            WIRE_SYN, at, 1, 0);
}

void wire_hang_up(struct wire *wire, uint32_t party, uint64_t conn)
{
    uint32_t at;
    int end;
    if (!wire_find(wire, party, conn, &at, &end))
        return;
    struct connection *connection = &wire->connections[at];
    struct half_connection *half = &connection->half[1 - end];
    connection->end[end].up = false;
    half->sending = false;
    tcp_put(wire, wire->event_queue->now_ns, WIRE_CLOSED, at, end, 0);
    half->fin = true;
    /* The other party has not accepted the connection yet and never will. */
    if (connection->end[1 - end].conn == 0)
        connection->end[1 - end].gone = true;
    else if (half->held == 0 && !wire_is_cut(wire, party, connection->end[1 - end].party))
        tcp_close(wire, at, 1 - end, tcp_behind_ns(wire, connection, 1 - end), "");
}

void wire_hold(struct wire *wire, uint32_t party, uint64_t conn, uint64_t until_ns)
{
    uint32_t at;
    int end;
    if (wire_find(wire, party, conn, &at, &end))
        wire->connections[at].half[end].held_ns = until_ns;
}

static void on_syn(struct wire *wire, uint32_t at)
{
    struct connection *connection = &wire->connections[at];
    const uint32_t to = connection->end[1].party, from = connection->end[0].party;
    if (wire_is_cut(wire, from, to) || wire_is_cut(wire, to, from)) {
        tcp_put(wire, wire->event_queue->now_ns + SYN_AGAIN_NS, WIRE_SYN, at, 1, 0);
        return;
    }
    const uint64_t back_ns =
        wire->event_queue->now_ns + half_connection_travel_ns(wire, connection, 0);
    const bool there = to != WIRE_NOBODY && wire->parties[to].listens;
    const uint64_t conn = there ? wire->owner.on_accept(wire->owner.self, to, from) : 0;
    connection = &wire->connections[at];
    if (conn == 0) {
        connection->end[1].gone = true;
        tcp_close(wire, at, 0, back_ns, there ? "" : "connection refused");
        return;
    }
    connection->end[1].conn = conn;
    connection->end[1].up = true;
    connection->since_ns = wire->event_queue->now_ns;
    uint32_t *slot = tcp_slot(wire, to, conn);
    CHECK(*slot == 0);
    *slot = at + 1;
    /* No byte arrives before the dialling party knows that the connection was accepted. */
    connection->half[0].arrive_ns = connection->half[0].clear_ns = back_ns;
    tcp_put(wire, back_ns, WIRE_ACCEPTED, at, 0, 0);
}

static void on_deliver(struct wire *wire, uint32_t at, int end, size_t bytes)
{
    struct connection *connection = &wire->connections[at];
    const uint32_t party = connection->end[end].party, from = tcp_from(connection, end);
    const uint32_t generation = connection->generation;
    if (connection->end[end].ghost && bytes > 0)
        return; /* the process is gone: no acknowledgement, so the bytes stay in flight */
    if (bytes > 0) {
        connection->half[end].flying -= bytes;
        wire->flying -= bytes;
        if (wire_is_cut(wire, party, from))
            connection->half[end].unacked += bytes;
        half_connection_hand_over(wire, at, end, bytes);
    }
    connection = &wire->connections[at];
    if (connection->generation != generation)
        return;
    if (!connection->end[end].up && bytes > 0 && !wire_is_cut(wire, party, from))
        tcp_close(wire, at, 1 - end, tcp_behind_ns(wire, connection, 1 - end), "connection reset");
    half_connection_advance(wire, at, end);
    if (connection->half[end].fin && connection->half[end].held == 0)
        tcp_close(wire, at, end, wire->event_queue->now_ns, "");
}

static void on_closed(struct wire *wire, uint32_t at, int end)
{
    const struct connection *connection = &wire->connections[at];
    const uint32_t party = connection->end[end].party;
    const uint64_t conn = connection->end[end].conn;
    const char *why = connection->why ? connection->why : "";
    const bool gone = connection->end[end].gone;
    tcp_leave(wire, at, end);
    if (!gone && party != WIRE_NOBODY)
        wire->owner.on_closed(wire->owner.self, party, conn, why);
}

/* Postpones an event of a paused process, or bytes for a process that now reads nothing at all or
 * nothing from this connection. Returns false if the event is due now. */
static bool postpone(struct wire *wire, const struct event *event, enum wire_event kind,
                     uint32_t party, const struct half_connection *half)
{
    if (party == WIRE_NOBODY || kind == WIRE_CROSS || kind == WIRE_ARRIVE)
        return false;
    const struct party *who = &wire->parties[party];
    uint64_t until_ns = who->paused_ns;
    if (kind == WIRE_DELIVER && event->amount > 0)
        until_ns = u64_max(until_ns, u64_max(who->deaf_ns, half->held_ns));
    if (wire->event_queue->now_ns >= until_ns)
        return false;
    event_queue_put(wire->event_queue, until_ns, event->kind, event->who, event->subject,
                    event->amount);
    return true;
}

void wire_on_event(struct wire *wire, const struct event *event)
{
    const uint32_t at = (uint32_t)event->subject;
    const int end = (int)event->who;
    const struct connection *connection = &wire->connections[at];
    const enum wire_event kind = (enum wire_event)(event->kind - wire->kind_base);
    if (connection->generation != (uint32_t)(event->subject >> 32) ||
        postpone(wire, event, kind, connection->end[end].party, &connection->half[end]))
        return;
    switch (kind) {
    case WIRE_SYN:
        if (!connection->end[1].gone)
            on_syn(wire, at);
        break;
    case WIRE_ACCEPTED:
        if (!connection->end[0].gone) {
            wire->connections[at].end[0].up = true;
            wire->owner.on_connected(wire->owner.self, connection->end[0].party,
                                     connection->end[0].conn);
        }
        break;
    case WIRE_CROSS:
        half_connection_cross(wire, at, end, event->amount);
        break;
    case WIRE_ARRIVE:
        half_connection_arrive(wire, at, end, event->amount);
        break;
    case WIRE_DELIVER:
        on_deliver(wire, at, end, event->amount);
        break;
    case WIRE_SENT:
        if (connection->end[end].up)
            wire->owner.on_sent(wire->owner.self, connection->end[end].party,
                                connection->end[end].conn);
        break;
    case WIRE_CLOSED:
        on_closed(wire, at, end);
        break;
    case WIRE_EVENTS:
        break;
    }
}
