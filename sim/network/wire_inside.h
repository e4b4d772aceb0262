/* The inside of the wires: wire.c (connections), lane.c (bytes one way), cut.c (faults).
 * Nobody else includes this. */
#ifndef HEARSAY_SIM_NETWORK_WIRE_INSIDE_H
#define HEARSAY_SIM_NETWORK_WIRE_INSIDE_H

#include "network/wire.h"

static inline uint32_t line_from(const struct line *line, int to)
{
    return line->end[1 - to].party;
}

/* wire.c */
void wire_put(struct wire *wire, uint64_t at_ns, enum wire_event kind, uint32_t line, int end,
              uint64_t amount);
uint64_t wire_behind_ns(const struct wire *wire, const struct line *line, int to);
void wire_close_end(struct wire *wire, uint32_t at, int end, uint64_t at_ns, const char *why);
void wire_leave(struct wire *wire, uint32_t at, int end);

/* lane.c: to is the end that the lane leads to. */
size_t half_connection_crossing(const struct wire *wire, const struct line *line, int to);
const struct path *half_connection_path(const struct wire *wire, const struct line *line, int to);
uint64_t half_connection_travel_ns(struct wire *wire, const struct line *line, int to);
uint64_t half_connection_round_trip_ns(const struct wire *wire, const struct line *line);
void half_connection_put(struct half_connection *half, const uint8_t *bytes, size_t count);
void half_connection_advance(struct wire *wire, uint32_t at, int to);
void half_connection_cross(struct wire *wire, uint32_t at, int to, size_t bytes);
void half_connection_arrive(struct wire *wire, uint32_t at, int to, size_t bytes);
void half_connection_hand_over(struct wire *wire, uint32_t at, int to, size_t bytes);

#endif
