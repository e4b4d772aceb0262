#include "base/error.h"
#include "network/wire_private.h"

#define TIMEOUT_NS (200 * MS_NS) /* first retransmission timeout after a cut began */

/* Returns the connection in a slot of a party; NULL = the slot is free. Sets *at to the
 * connection's index and *end to the party's end of it. */
static struct connection *tcp_in(struct wire *wire, uint32_t party, uint32_t slot, uint32_t *at,
                                 int *end)
{
    if (wire->parties[party].connection[slot] == 0)
        return NULL;
    *at = wire->parties[party].connection[slot] - 1;
    struct connection *connection = &wire->connections[*at];
    const struct connection_end *first = &connection->end[0];
    *end = first->party == party && (uint32_t)first->conn == slot ? 0 : 1;
    return connection;
}

static void close_with_reset(struct wire *wire, uint32_t at, int end, uint64_t at_ns)
{
    struct connection *connection = &wire->connections[at];
    if (connection->end[end].conn == 0)
        /* The party of this end has not accepted the connection and never will. */
        connection->end[end].gone = true;
    else
        tcp_close(wire, at, end, at_ns, "connection reset");
}

void wire_die(struct wire *wire, uint32_t party, bool silently)
{
    uint32_t at;
    int end;
    for (uint32_t slot = 0; slot < WIRE_SLOTS; slot++) {
        struct connection *connection = tcp_in(wire, party, slot, &at, &end);
        if (!connection)
            continue;
        struct connection_end *other = &connection->end[1 - end];
        connection->end[end].ghost = silently || wire_is_cut(wire, party, other->party);
        if (!connection->end[end].ghost || other->conn == 0)
            close_with_reset(wire, at, 1 - end, tcp_behind_ns(wire, connection, 1 - end));
        tcp_leave(wire, at, end);
    }
}

void wire_half_open(struct wire *wire, uint32_t party)
{
    uint32_t at;
    int end;
    for (uint32_t slot = 0; slot < WIRE_SLOTS; slot++) {
        struct connection *connection = tcp_in(wire, party, slot, &at, &end);
        if (!connection || !connection->end[end].up)
            continue;
        connection->end[end].up = false;
        connection->end[end].ghost = true;
        tcp_close(wire, at, end, wire->event_queue->now_ns, "connection timed out");
    }
}

static void close_connections_to(struct wire *wire, uint32_t a, uint32_t b)
{
    uint32_t at;
    int end;
    for (uint32_t slot = 0; slot < WIRE_SLOTS; slot++) {
        struct connection *connection = tcp_in(wire, a, slot, &at, &end);
        if (!connection || connection->end[1 - end].party != b)
            continue;
        for (int i = 0; i < 2; i++) {
            connection->end[i].up = false;
            close_with_reset(wire, at, i, wire->event_queue->now_ns);
        }
    }
}

void wire_reset(struct wire *wire, uint32_t a, uint32_t b)
{
    close_connections_to(wire, a, b);
    close_connections_to(wire, b, a);
}

/* Returns the first retransmission time from now_ns on of a sender that was cut off at cut_ns: its
 * timeouts are 0.2 s, 0.4 s, 0.8 s and so on. */
static uint64_t next_try_ns(uint64_t cut_ns, uint64_t now_ns)
{
    uint64_t wait_ns = TIMEOUT_NS, try_ns = cut_ns + wait_ns;
    while (try_ns < now_ns) {
        wait_ns *= 2;
        try_ns += wait_ns;
    }
    return try_ns;
}

static void heal_half(struct wire *wire, uint32_t at, int to, uint64_t since_ns)
{
    struct connection *connection = &wire->connections[at];
    struct half_connection *half = &connection->half[to], *back = &connection->half[1 - to];
    back->unacked = 0;
    const bool waits = half->held > half->flying;
    half->try_ns =
        waits ? next_try_ns(since_ns, wire->event_queue->now_ns) : wire->event_queue->now_ns;
    /* A delivery of 0 bytes makes the sender continue. */
    tcp_put(wire, half->try_ns, WIRE_DELIVER, at, to, 0);
    tcp_put(wire, wire->event_queue->now_ns, WIRE_DELIVER, at, 1 - to, 0);
}

void wire_cut(struct wire *wire, uint32_t from, uint32_t to, bool cut)
{
    uint8_t *cuts = &wire->cuts[(size_t)from * wire->parties_count + to];
    CHECK(cut ? *cuts < UINT8_MAX : *cuts > 0);
    *cuts = (uint8_t)(*cuts + (cut ? 1 : -1));
    if (*cuts > (cut ? 1 : 0))
        return;
    uint32_t at;
    int end;
    for (uint32_t slot = 0; slot < WIRE_SLOTS; slot++) {
        struct connection *connection = tcp_in(wire, to, slot, &at, &end);
        if (!connection || connection->end[1 - end].party != from)
            continue;
        /* While the cut lasts, try_ns is the time at which the cut began. */
        if (cut)
            connection->half[end].try_ns = wire->event_queue->now_ns;
        else
            heal_half(wire, at, end, connection->half[end].try_ns);
    }
}
