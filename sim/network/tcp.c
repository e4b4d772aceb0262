#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "network/wire_private.h"

size_t tcp_crossing(const struct wire *wire, const struct connection *connection, int to)
{
    const uint32_t from = tcp_from(connection, to), at = connection->end[to].party;
    const uint32_t there =
        at == WIRE_NOBODY ? wire->parties[from].region : wire->parties[at].region;
    const uint32_t here = from == WIRE_NOBODY ? there : wire->parties[from].region;
    return (size_t)here * wire->regions + there;
}

const struct path *tcp_path(const struct wire *wire, const struct connection *connection, int to)
{
    const size_t crossing = tcp_crossing(wire, connection, to);
    return &wire->paths[crossing / wire->regions][crossing % wire->regions];
}

void tcp_put(struct wire *wire, uint64_t at_ns, enum wire_event kind, uint32_t connection, int end,
             uint64_t amount)
{
    const uint64_t subject = (uint64_t)wire->connections[connection].generation << 32 | connection;
    event_queue_put(wire->event_queue, at_ns, wire->kind_base + (uint32_t)kind, (uint32_t)end,
                    subject, amount);
}

uint32_t tcp_new(struct wire *wire)
{
    uint32_t at;
    if (wire->free_connection) {
        at = wire->free_connection - 1;
        wire->free_connection = wire->connections[at].end[0].party;
    } else {
        if (wire->connections_count == wire->connections_max) {
            wire->connections_max = wire->connections_max ? 2 * wire->connections_max : 64;
            wire->connections =
                memory_more(wire->connections, wire->connections_max, sizeof *wire->connections);
        }
        at = wire->connections_count++;
        wire->connections[at] = (struct connection){0};
    }
    struct connection *connection = &wire->connections[at];
    *connection = (struct connection){
        .generation = ++wire->generation,
        .half = {{.ring = connection->half[0].ring, .ring_bytes = connection->half[0].ring_bytes},
                 {.ring = connection->half[1].ring, .ring_bytes = connection->half[1].ring_bytes}},
    };
    return at;
}

uint32_t *tcp_slot(struct wire *wire, uint32_t party, uint64_t conn)
{
    const uint32_t slot = (uint32_t)conn;
    CHECK(party < wire->parties_count && slot < WIRE_SLOTS);
    return &wire->parties[party].connection[slot];
}

void tcp_leave(struct wire *wire, uint32_t at, int end)
{
    struct connection *connection = &wire->connections[at];
    struct connection_end *mine = &connection->end[end];
    mine->up = false;
    mine->gone = true;
    if (mine->party != WIRE_NOBODY && mine->conn) {
        uint32_t *slot = tcp_slot(wire, mine->party, mine->conn);
        if (*slot == at + 1)
            *slot = 0;
    }
    if (!connection->end[1 - end].gone)
        return;
    for (int i = 0; i < 2; i++) {
        wire->flying -= connection->half[i].flying;
        connection->half[i].flying = 0;
    }
    connection->generation = 0;
    connection->end[0].party = wire->free_connection;
    wire->free_connection = at + 1;
}

uint64_t tcp_behind_ns(const struct wire *wire, const struct connection *connection, int to)
{
    const uint64_t at_ns = wire->event_queue->now_ns + tcp_path(wire, connection, to)->delay_ns;
    return u64_max(at_ns, connection->half[to].arrive_ns);
}

void tcp_close(struct wire *wire, uint32_t at, int end, uint64_t at_ns, const char *why)
{
    struct connection *connection = &wire->connections[at];
    if (connection->end[end].gone)
        return;
    if (!connection->why)
        connection->why = why;
    if (at_ns < connection->half[end].clear_ns && !why[0])
        at_ns = connection->half[end].clear_ns;
    tcp_put(wire, at_ns, WIRE_CLOSED, at, end, 0);
}
