#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "network/wire_private.h"

#define SEGMENT_MAX   16384
#define SEGMENT_MIN   1448
#define SEGMENT_NS    (10 * MS_NS) /* target duration of a segment on the slowest pipe */
#define WINDOW_MAX    (4u << 20)
#define FRAGMENT_BITS 16 /* a fragment has up to 2^16 bytes, log-uniformly drawn */
#define TAMPER_ONE_IN 8

uint64_t half_connection_travel_ns(struct wire *wire, const struct connection *connection, int to)
{
    const struct path *path = tcp_path(wire, connection, to);
    if (path->jitter_ns == 0)
        return path->delay_ns;
    return path->delay_ns + (uint64_t)(rng_uniform(&wire->rng) * (double)path->jitter_ns);
}

uint64_t half_connection_round_trip_ns(const struct wire *wire, const struct connection *connection)
{
    return tcp_path(wire, connection, 0)->delay_ns + tcp_path(wire, connection, 1)->delay_ns +
           MS_NS;
}

static void ring_grow(struct half_connection *half, size_t bytes)
{
    size_t size = half->ring_bytes ? half->ring_bytes : 4096;
    while (size < bytes)
        size *= 2;
    if (size == half->ring_bytes)
        return;
    uint8_t *ring = memory_new(size, 1);
    for (size_t i = 0; i < half->held;) {
        const size_t at = (half->first + i) & (half->ring_bytes - 1);
        size_t run = half->ring_bytes - at;
        run = size_min(run, half->held - i);
        memcpy(ring + i, half->ring + at, run);
        i += run;
    }
    free(half->ring);
    half->ring = ring;
    half->ring_bytes = size;
    half->first = 0;
}

void half_connection_put(struct half_connection *half, const uint8_t *bytes, size_t count)
{
    ring_grow(half, half->held + count);
    const size_t at = (half->first + half->held) & (half->ring_bytes - 1);
    const size_t run = size_min(half->ring_bytes - at, count);
    memcpy(half->ring + at, bytes, run);
    memcpy(half->ring, bytes + run, count - run);
    half->held += count;
}

/* Returns the lowest rate of the three pipes towards end `to`, in bytes per second, ignoring stalls
 * and clogs; 0 = none has a limit. */
static uint64_t slowest(const struct wire *wire, const struct connection *connection, int to)
{
    const uint32_t from = tcp_from(connection, to);
    const struct pipe *way[3] = {
        from == WIRE_NOBODY ? NULL : &wire->parties[from].up,
        &wire->region_pipes[tcp_crossing(wire, connection, to)],
        connection->end[to].party == WIRE_NOBODY ? NULL
                                                 : &wire->parties[connection->end[to].party].down,
    };
    uint64_t least = 0;
    for (int i = 0; i < 3; i++) {
        const uint64_t rate = way[i] ? pipe_rate(way[i], wire->event_queue->now_ns) : 0;
        if (rate && (!least || rate < least))
            least = rate;
    }
    return least;
}

static size_t window_of(uint64_t rate, const struct path *path)
{
    if (!rate)
        return WINDOW_MAX;
    const double bytes = WIRE_WINDOW + (double)rate * (double)path->delay_ns * 1e-9;
    return bytes < WINDOW_MAX ? (size_t)bytes : WINDOW_MAX;
}

static size_t segment_of(uint64_t rate)
{
    const double bytes = rate ? (double)rate * (double)SEGMENT_NS * 1e-9 : (double)WINDOW_MAX;
    if (!rate)
        return WINDOW_MAX;
    return bytes < SEGMENT_MIN ? SEGMENT_MIN : bytes > SEGMENT_MAX ? SEGMENT_MAX : (size_t)bytes;
}

static void count_segment(struct wire *wire, size_t crossing, size_t bytes, uint64_t at_ns,
                          bool lost)
{
    wire->crossings[crossing].resent += lost;
    wire->crossings[crossing].delay_s +=
        (double)(at_ns - wire->event_queue->now_ns) * 1e-9 * (double)bytes;
}

/* Moves a segment that leaves the sender's uplink at at_ns through the region pipe to the
 * receiver's downlink. */
static void cross(struct wire *wire, uint32_t at, int to, size_t bytes, uint64_t at_ns, bool lost)
{
    struct connection *connection = &wire->connections[at];
    struct half_connection *half = &connection->half[to];
    const uint32_t party = connection->end[to].party;
    const size_t crossing = tcp_crossing(wire, connection, to);
    const struct path *path = tcp_path(wire, connection, to);
    const uint64_t again_ns = half_connection_round_trip_ns(wire, connection);
    at_ns = pipe_pass(&wire->region_pipes[crossing], at_ns, bytes, again_ns, &lost);
    for (uint64_t wait_ns = again_ns; path->loss > 0 && rng_uniform(&wire->rng) < path->loss;
         wait_ns *= 2) {
        at_ns += wait_ns;
        lost = true;
    }
    at_ns += half_connection_travel_ns(wire, connection, to);
    const bool waits = party != WIRE_NOBODY && pipe_is_limited(&wire->parties[party].down);
    at_ns = u64_max(at_ns, half->arrive_ns);
    /* An unlimited down pipe may still hold segments from a clog that has ended. */
    if (!waits && at_ns < half->clear_ns)
        at_ns = half->clear_ns;
    half->arrive_ns = at_ns;
    count_segment(wire, crossing, bytes, at_ns, lost);
    tcp_put(wire, at_ns, waits ? WIRE_ARRIVE : WIRE_DELIVER, at, to, bytes);
}

void half_connection_cross(struct wire *wire, uint32_t at, int to, size_t bytes)
{
    cross(wire, at, to, bytes, wire->event_queue->now_ns, false);
}

/* Segments of several senders must enter the region pipe in order of time. So a segment that waits
 * in the uplink enters a limited region pipe by an event. */
static void launch(struct wire *wire, uint32_t at, int to, size_t bytes)
{
    struct connection *connection = &wire->connections[at];
    const uint32_t from = tcp_from(connection, to);
    const size_t crossing = tcp_crossing(wire, connection, to);
    const uint64_t now_ns = wire->event_queue->now_ns;
    bool lost = false;
    uint64_t at_ns = now_ns;
    if (from != WIRE_NOBODY)
        at_ns = pipe_pass(&wire->parties[from].up, at_ns, bytes,
                          half_connection_round_trip_ns(wire, connection), &lost);
    connection->half[to].flying += bytes;
    wire->flying += bytes;
    wire->crossings[crossing].bytes += bytes;
    if (at_ns == now_ns || !pipe_is_limited(&wire->region_pipes[crossing])) {
        cross(wire, at, to, bytes, at_ns, lost);
        return;
    }
    count_segment(wire, crossing, bytes, at_ns, lost);
    tcp_put(wire, at_ns, WIRE_CROSS, at, to, bytes);
}

void half_connection_advance(struct wire *wire, uint32_t at, int to)
{
    struct connection *connection = &wire->connections[at];
    struct half_connection *half = &connection->half[to];
    if (half->held > half->flying && wire->event_queue->now_ns >= half->try_ns &&
        !wire_is_cut(wire, tcp_from(connection, to), connection->end[to].party)) {
        const uint64_t rate = slowest(wire, connection, to);
        const size_t window = window_of(rate, tcp_path(wire, connection, to)),
                     most = segment_of(rate);
        while (half->held > half->flying && half->flying + half->unacked < window) {
            const size_t waiting = half->held - half->flying;
            launch(wire, at, to, size_min(waiting, most));
        }
    }
    if (half->sending && half->held == half->flying) {
        half->sending = false;
        tcp_put(wire, wire->event_queue->now_ns, WIRE_SENT, at, 1 - to, 0);
    }
}

void half_connection_arrive(struct wire *wire, uint32_t at, int to, size_t bytes)
{
    struct connection *connection = &wire->connections[at];
    struct half_connection *half = &connection->half[to];
    const size_t crossing = tcp_crossing(wire, connection, to);
    bool lost = false;
    uint64_t at_ns =
        pipe_pass(&wire->parties[connection->end[to].party].down, wire->event_queue->now_ns, bytes,
                  half_connection_round_trip_ns(wire, connection), &lost);
    at_ns = u64_max(at_ns, half->clear_ns);
    half->clear_ns = at_ns;
    count_segment(wire, crossing, bytes, at_ns, lost);
    tcp_put(wire, at_ns, WIRE_DELIVER, at, to, bytes);
}

void half_connection_hand_over(struct wire *wire, uint32_t at, int to, size_t bytes)
{
    const uint32_t party = wire->connections[at].end[to].party;
    const uint64_t conn = wire->connections[at].end[to].conn;
    const uint32_t generation = wire->connections[at].generation;
    const uint64_t now_ns = wire->event_queue->now_ns;
    while (bytes > 0) {
        struct connection *connection = &wire->connections[at];
        struct half_connection *half = &connection->half[to];
        const size_t from = half->first & (half->ring_bytes - 1);
        size_t run = size_min(half->ring_bytes - from, bytes);
        if (now_ns < wire->parties[party].fragment_ns) {
            const size_t piece =
                1 + rng_below(&wire->rng, 1u << rng_below(&wire->rng, FRAGMENT_BITS + 1));
            run = size_min(piece, run);
        }
        if (now_ns < wire->parties[party].tamper_ns && rng_below(&wire->rng, TAMPER_ONE_IN) == 0)
            half->ring[from + rng_below(&wire->rng, (uint32_t)run)] ^=
                (uint8_t)(1u << rng_below(&wire->rng, 8));
        half->first += run;
        half->held -= run;
        bytes -= run;
        if (connection->end[to].up)
            wire->owner.on_bytes(wire->owner.self, party, conn, half->ring + from, run);
        if (wire->connections[at].generation != generation)
            return;
    }
}
