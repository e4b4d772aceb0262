/* What the files of the simulated network share; nobody else includes this.
 *
 *   wire.c ─────────┬─► half_connection.c ─► tcp.c
 *   (dial, send,    │   (window, pipes,      (table of connections,
 *    hang up, events)    delivery)            paths, closing)
 *   cut.c ──────────┴───────────────────────►
 *   (partitions, resets, dead hosts)
 *
 * `at` is the index of a connection, `to` or `end` one of its two ends. Pointers to connections are
 * good until the next tcp_new.
 */
#ifndef HEARSAY_SIM_NETWORK_WIRE_PRIVATE_H
#define HEARSAY_SIM_NETWORK_WIRE_PRIVATE_H

#include "network/wire.h"

/* The party that sends towards this end. */
static inline uint32_t tcp_from(const struct connection *connection, int to)
{
    return connection->end[1 - to].party;
}

/* tcp.c */

/* A free connection; its index. */
uint32_t tcp_new(struct wire *wire);
/* Where the party notes the index + 1 of the connection that it calls conn. */
uint32_t *tcp_slot(struct wire *wire, uint32_t party, uint64_t conn);
/* Schedule an event of this connection; it is dropped if the connection is freed before. */
void tcp_put(struct wire *wire, uint64_t at_ns, enum wire_event kind, uint32_t at, int end,
             uint64_t amount);
/* Index [from * regions + to] of the pair of regions that bytes towards this end cross. */
size_t tcp_crossing(const struct wire *wire, const struct connection *connection, int to);
const struct path *tcp_path(const struct wire *wire, const struct connection *connection, int to);
/* When a segment without payload that is sent now, such as a reset, reaches this end: not before
 * the bytes sent earlier. */
uint64_t tcp_behind_ns(const struct wire *wire, const struct connection *connection, int to);
/* This end learns of the close at at_ns; why "": an orderly close. The first reason stays. */
void tcp_close(struct wire *wire, uint32_t at, int end, uint64_t at_ns, const char *why);
/* This end forgets the connection. */
void tcp_leave(struct wire *wire, uint32_t at, int end);

/* half_connection.c */

/* Propagation delay towards this end, jitter drawn. */
uint64_t half_connection_travel_ns(struct wire *wire, const struct connection *connection, int to);
uint64_t half_connection_round_trip_ns(const struct wire *wire,
                                       const struct connection *connection);
/* Append to the send buffer. */
void half_connection_put(struct half_connection *half, const uint8_t *bytes, size_t count);
/* Send what the window allows. */
void half_connection_advance(struct wire *wire, uint32_t at, int to);
/* A segment enters the pipe between the regions. */
void half_connection_cross(struct wire *wire, uint32_t at, int to, size_t bytes);
/* A segment enters the receiver's down pipe. */
void half_connection_arrive(struct wire *wire, uint32_t at, int to, size_t bytes);
/* Deliver the next bytes in order: whole, in fragments, or tampered with. */
void half_connection_hand_over(struct wire *wire, uint32_t at, int to, size_t bytes);

#endif
