/* What goes wrong on the wires. */
#include "base/error.h"
#include "network/wire_inside.h"

#define PATIENCE_NS (200 * MILLI_NS)

/* The line in this slot of a party, and which end of it is the party's; NULL: the slot is free. */
static struct line *line_in(struct wire *wire, uint32_t party, uint32_t slot, uint32_t *at,
                            int *end)
{
    if (wire->parties[party].line[slot] == 0)
        return NULL;
    *at = wire->parties[party].line[slot] - 1;
    struct line *line = &wire->lines[*at];
    const struct line_end *first = &line->end[0];
    *end = first->party == party && (uint32_t)first->conn == slot ? 0 : 1;
    return line;
}

static void close_with_reset(struct wire *wire, uint32_t at, int end, uint64_t at_ns)
{
    struct line *line = &wire->lines[at];
    if (line->end[end].conn == 0)
        line->end[end].gone = true; /* it has not heard of the call yet, and will not */
    else
        wire_close_end(wire, at, end, at_ns, "connection reset");
}

void wire_die(struct wire *wire, uint32_t party, bool silently)
{
    uint32_t at;
    int end;
    for (uint32_t slot = 0; slot < WIRE_SLOTS; slot++) {
        struct line *line = line_in(wire, party, slot, &at, &end);
        if (!line)
            continue;
        struct line_end *other = &line->end[1 - end];
        line->end[end].ghost = silently || wire_is_cut(wire, party, other->party);
        if (!line->end[end].ghost || other->conn == 0)
            close_with_reset(wire, at, 1 - end, wire_behind_ns(wire, line, 1 - end));
        wire_leave(wire, at, end);
    }
}

void wire_half_open(struct wire *wire, uint32_t party)
{
    uint32_t at;
    int end;
    for (uint32_t slot = 0; slot < WIRE_SLOTS; slot++) {
        struct line *line = line_in(wire, party, slot, &at, &end);
        if (!line || !line->end[end].up)
            continue;
        line->end[end].up = false;
        line->end[end].ghost = true;
        wire_close_end(wire, at, end, wire->event_queue->now_ns, "connection timed out");
    }
}

/* Those lines to b that a knows of. */
static void reset_to(struct wire *wire, uint32_t a, uint32_t b)
{
    uint32_t at;
    int end;
    for (uint32_t slot = 0; slot < WIRE_SLOTS; slot++) {
        struct line *line = line_in(wire, a, slot, &at, &end);
        if (!line || line->end[1 - end].party != b)
            continue;
        for (int i = 0; i < 2; i++) {
            line->end[i].up = false;
            close_with_reset(wire, at, i, wire->event_queue->now_ns);
        }
    }
}

void wire_reset(struct wire *wire, uint32_t a, uint32_t b)
{
    reset_to(wire, a, b);
    reset_to(wire, b, a);
}

bool wire_is_cut(const struct wire *wire, uint32_t from, uint32_t to)
{
    return from != WIRE_NOBODY && to != WIRE_NOBODY &&
           wire->cuts[(size_t)from * wire->parties_count + to] > 0;
}

/* A sender that heard nothing tries again after 0.2 s, 0.4 s, 0.8 s, ... */
static uint64_t next_try_ns(uint64_t cut_ns, uint64_t now_ns)
{
    uint64_t wait_ns = PATIENCE_NS, try_ns = cut_ns + wait_ns;
    while (try_ns < now_ns) {
        wait_ns *= 2;
        try_ns += wait_ns;
    }
    return try_ns;
}

static void heal_half(struct wire *wire, uint32_t at, int to, uint64_t since_ns)
{
    struct line *line = &wire->lines[at];
    struct half_connection *half = &line->half[to], *back = &line->half[1 - to];
    back->unacked = 0;
    const bool waits = half->held > half->flying;
    half->try_ns =
        waits ? next_try_ns(since_ns, wire->event_queue->now_ns) : wire->event_queue->now_ns;
    wire_put(wire, half->try_ns, WIRE_DELIVER, at, to, 0); /* nothing arrives: sending goes on */
    wire_put(wire, wire->event_queue->now_ns, WIRE_DELIVER, at, 1 - to, 0);
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
        struct line *line = line_in(wire, to, slot, &at, &end);
        if (!line || line->end[1 - end].party != from)
            continue;
        if (cut)
            line->half[end].try_ns = wire->event_queue->now_ns; /* when it began, until it heals */
        else
            heal_half(wire, at, end, line->half[end].try_ns);
    }
}
