/* Private to the files of the simulated network.
 *
 *   wire.c ─────────┬─► half_connection.c ─► tcp.c
 *   (dial, send,    │   (window, pipes,      (table of connections,
 *    hang up, events)    delivery)            paths, closing)
 *   cut.c ──────────┴───────────────────────►
 *   (partitions, resets, dead hosts)
 *
 * `at` is the index of a connection; `to` and `end` are one of its two ends. Pointers to
 * connections are valid until the next tcp_new.
 */
#ifndef HEARSAY_SIM_NETWORK_WIRE_PRIVATE_H
#define HEARSAY_SIM_NETWORK_WIRE_PRIVATE_H

#include "network/wire.h"

/* Returns the party at the other end, which sends towards end `to`. */
static inline uint32_t tcp_from(const struct connection *connection, int to)
{
    return connection->end[1 - to].party;
}

uint32_t tcp_new(struct wire *wire);
/* Returns the entry of the party's table for connection conn: the connection's index + 1; 0 = free.
 */
uint32_t *tcp_slot(struct wire *wire, uint32_t party, uint64_t conn);
/* Schedules an event of connection `at`, which is ignored if the connection is freed before. */
void tcp_put(struct wire *wire, uint64_t at_ns, enum wire_event kind, uint32_t at, int end,
             uint64_t amount);
/* Returns the index of the pair of regions that bytes towards end `to` cross: from * regions + to.
 */
size_t tcp_crossing(const struct wire *wire, const struct connection *connection, int to);
const struct path *tcp_path(const struct wire *wire, const struct connection *connection, int to);
/* Returns the time at which a segment without payload, such as a reset, reaches end `to` if it is
 * sent now. The segment does not overtake earlier bytes on their way to that end's down pipe. */
uint64_t tcp_behind_ns(const struct wire *wire, const struct connection *connection, int to);
/* Schedules WIRE_CLOSED for this end at at_ns. why: reason; "" = an orderly close, which waits for
 * the last byte in the end's down pipe. A connection keeps its first reason. */
void tcp_close(struct wire *wire, uint32_t at, int end, uint64_t at_ns, const char *why);
/* Makes this end forget the connection. Once both ends have, the connection is freed. */
void tcp_leave(struct wire *wire, uint32_t at, int end);

/* Returns the propagation delay towards end `to`, including random jitter. */
uint64_t half_connection_travel_ns(struct wire *wire, const struct connection *connection, int to);
uint64_t half_connection_round_trip_ns(const struct wire *wire,
                                       const struct connection *connection);
void half_connection_put(struct half_connection *half, const uint8_t *bytes, size_t count);
/* Sends as many buffered bytes as the window allows, unless the direction is cut or waits for a
 * retransmission timeout after a cut. Schedules WIRE_SENT if no byte is left to send. */
void half_connection_advance(struct wire *wire, uint32_t at, int to);
/* Moves a segment into the pipe between its two regions. */
void half_connection_cross(struct wire *wire, uint32_t at, int to, size_t bytes);
/* Moves a segment into the receiver's down pipe. */
void half_connection_arrive(struct wire *wire, uint32_t at, int to, size_t bytes);
/* Delivers the next bytes to the receiver, with its faults: fragments, flipped bits. */
void half_connection_hand_over(struct wire *wire, uint32_t at, int to, size_t bytes);

#endif
