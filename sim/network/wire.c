#include "network/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "network/wire_inside.h"

#define SYN_AGAIN_NS SECOND_NS /* a call that a cut swallows is tried again */

void wire_init(struct wire *wire, struct event_queue *event_queue, const struct wire_owner *owner,
               uint32_t kind_base, uint32_t parties, struct path (*paths)[SCENARIO_REGIONS_MAX],
               uint32_t regions, uint64_t seed)
{
    *wire = (struct wire){
        .event_queue = event_queue,
        .owner = *owner,
        .rng = rng_new(seed, 0x57495245),
        .kind_base = kind_base,
        .parties = calloc(parties, sizeof *wire->parties),
        .parties_count = parties,
        .paths = paths,
        .regions = regions,
        .region_pipes = calloc((size_t)regions * regions, sizeof *wire->region_pipes),
        .crossings = calloc((size_t)regions * regions, sizeof *wire->crossings),
        .cuts = calloc((size_t)parties * parties, 1),
    };
    CHECK(wire->parties && wire->region_pipes && wire->crossings && wire->cuts);
    for (uint32_t a = 0; a < regions; a++)
        for (uint32_t b = 0; b < regions; b++)
            wire->region_pipes[a * regions + b].rate = &paths[a][b].rate;
}

void wire_free(struct wire *wire)
{
    for (uint32_t i = 0; i < wire->lines_count; i++)
        for (int end = 0; end < 2; end++)
            free(wire->lines[i].half[end].ring);
    free(wire->lines);
    free(wire->parties);
    free(wire->region_pipes);
    free(wire->crossings);
    free(wire->cuts);
}

void wire_put(struct wire *wire, uint64_t at_ns, enum wire_event kind, uint32_t line, int end,
              uint64_t amount)
{
    const uint64_t subject = (uint64_t)wire->lines[line].generation << 32 | line;
    event_queue_put(wire->event_queue, at_ns, wire->kind_base + (uint32_t)kind, (uint32_t)end,
                    subject, amount);
}

/* Lines. */

static uint32_t new_line(struct wire *wire)
{
    uint32_t at;
    if (wire->free_line) {
        at = wire->free_line - 1;
        wire->free_line = wire->lines[at].end[0].party;
    } else {
        if (wire->lines_count == wire->lines_max) {
            wire->lines_max = wire->lines_max ? 2 * wire->lines_max : 64;
            wire->lines = realloc(wire->lines, wire->lines_max * sizeof *wire->lines);
            CHECK(wire->lines);
        }
        at = wire->lines_count++;
        wire->lines[at] = (struct line){0};
    }
    struct line *line = &wire->lines[at];
    *line = (struct line){
        .generation = ++wire->generation,
        .half = {{.ring = line->half[0].ring, .ring_bytes = line->half[0].ring_bytes},
                 {.ring = line->half[1].ring, .ring_bytes = line->half[1].ring_bytes}},
    };
    return at;
}

static uint32_t *slot_of(struct wire *wire, uint32_t party, uint64_t conn)
{
    const uint32_t slot = (uint32_t)conn;
    CHECK(party < wire->parties_count && slot < WIRE_SLOTS);
    return &wire->parties[party].line[slot];
}

/* The end that the party calls conn; false when it is not (any more) one of its connections. */
static bool find(struct wire *wire, uint32_t party, uint64_t conn, uint32_t *at, int *end)
{
    const uint32_t line = *slot_of(wire, party, conn);
    if (!line)
        return false;
    *at = line - 1;
    for (*end = 0; *end < 2; (*end)++) {
        const struct line_end *have = &wire->lines[*at].end[*end];
        if (have->party == party && have->conn == conn && !have->gone)
            return true;
    }
    return false;
}

/* This end will hear no more. A line that nobody hears of is free. */
void wire_leave(struct wire *wire, uint32_t at, int end)
{
    struct line *line = &wire->lines[at];
    struct line_end *mine = &line->end[end];
    mine->up = false;
    mine->gone = true;
    if (mine->party != WIRE_NOBODY && mine->conn) {
        uint32_t *slot = slot_of(wire, mine->party, mine->conn);
        if (*slot == at + 1)
            *slot = 0;
    }
    if (!line->end[1 - end].gone)
        return;
    for (int i = 0; i < 2; i++) {
        wire->flying -= line->half[i].flying;
        line->half[i].flying = 0;
    }
    line->generation = 0;
    line->end[0].party = wire->free_line;
    wire->free_line = at + 1;
}

void wire_send(struct wire *wire, uint32_t party, uint64_t conn, const uint8_t *bytes, size_t count)
{
    uint32_t at;
    int end;
    CHECK(count > 0);
    CHECK(find(wire, party, conn, &at, &end));
    struct line *line = &wire->lines[at];
    struct half_connection *half = &line->half[1 - end];
    CHECK(!half->sending);
    if (!line->end[end].up)
        return; /* the end of it is on its way */
    half_connection_put(half, bytes, count);
    half->sending = true;
    half_connection_advance(wire, at, 1 - end);
}

/* Beginning and end. */

void wire_dial(struct wire *wire, uint32_t party, uint64_t conn, uint32_t to)
{
    const uint32_t at = new_line(wire);
    struct line *line = &wire->lines[at];
    line->end[0] = (struct line_end){.party = party, .conn = conn};
    line->end[1] = (struct line_end){.party = to};
    uint32_t *slot = slot_of(wire, party, conn);
    CHECK(*slot == 0);
    *slot = at + 1;
    wire_put(wire, wire->event_queue->now_ns + half_connection_travel_ns(wire, line, 1), WIRE_SYN,
             at, 1, 0);
}

/* When something said now without a byte, such as a reset, gets to this end: behind the bytes. */
uint64_t wire_behind_ns(const struct wire *wire, const struct line *line, int to)
{
    const uint64_t at_ns =
        wire->event_queue->now_ns + half_connection_path(wire, line, to)->delay_ns;
    return at_ns < line->half[to].arrive_ns ? line->half[to].arrive_ns : at_ns;
}

void wire_close_end(struct wire *wire, uint32_t at, int end, uint64_t at_ns, const char *why)
{
    struct line *line = &wire->lines[at];
    if (line->end[end].gone)
        return;
    if (!line->why)
        line->why = why;
    if (at_ns < line->half[end].clear_ns && !why[0])
        at_ns = line->half[end].clear_ns; /* an orderly end waits for the last byte */
    wire_put(wire, at_ns, WIRE_CLOSED, at, end, 0);
}

void wire_hang_up(struct wire *wire, uint32_t party, uint64_t conn)
{
    uint32_t at;
    int end;
    if (!find(wire, party, conn, &at, &end))
        return;
    struct line *line = &wire->lines[at];
    struct half_connection *half = &line->half[1 - end];
    line->end[end].up = false;
    half->sending = false;
    wire_put(wire, wire->event_queue->now_ns, WIRE_CLOSED, at, end, 0);
    half->fin = true;
    if (line->end[1 - end].conn == 0) /* nobody has accepted yet, and nobody will */
        line->end[1 - end].gone = true;
    else if (half->held == 0 && !wire_is_cut(wire, party, line->end[1 - end].party))
        wire_close_end(wire, at, 1 - end, wire_behind_ns(wire, line, 1 - end), "");
}

/* Events. */

static void on_syn(struct wire *wire, uint32_t at)
{
    struct line *line = &wire->lines[at];
    const uint32_t to = line->end[1].party, from = line->end[0].party;
    if (wire_is_cut(wire, from, to) || wire_is_cut(wire, to, from)) {
        wire_put(wire, wire->event_queue->now_ns + SYN_AGAIN_NS, WIRE_SYN, at, 1, 0);
        return;
    }
    const uint64_t back_ns = wire->event_queue->now_ns + half_connection_travel_ns(wire, line, 0);
    const bool there = to != WIRE_NOBODY && wire->parties[to].listens;
    const uint64_t conn = there ? wire->owner.on_accept(wire->owner.self, to, from) : 0;
    line = &wire->lines[at];
    if (conn == 0) {
        line->end[1].gone = true;
        wire_close_end(wire, at, 0, back_ns, there ? "" : "connection refused");
        return;
    }
    line->end[1].conn = conn;
    line->end[1].up = true;
    line->since_ns = wire->event_queue->now_ns;
    uint32_t *slot = slot_of(wire, to, conn);
    CHECK(*slot == 0);
    *slot = at + 1;
    line->half[0].arrive_ns = line->half[0].clear_ns = back_ns; /* no byte comes before that */
    wire_put(wire, back_ns, WIRE_ACCEPTED, at, 0, 0);
}

static void on_deliver(struct wire *wire, uint32_t at, int end, size_t bytes)
{
    struct line *line = &wire->lines[at];
    const uint32_t party = line->end[end].party, from = line_from(line, end);
    const uint32_t generation = line->generation;
    if (line->end[end].ghost && bytes > 0)
        return; /* into nothing, for ever under way */
    if (bytes > 0) {
        line->half[end].flying -= bytes;
        wire->flying -= bytes;
        if (wire_is_cut(wire, party, from))
            line->half[end].unacked += bytes;
        half_connection_hand_over(wire, at, end, bytes);
    }
    line = &wire->lines[at];
    if (line->generation != generation)
        return;
    if (!line->end[end].up && bytes > 0 && !wire_is_cut(wire, party, from))
        wire_close_end(wire, at, 1 - end, wire_behind_ns(wire, line, 1 - end), "connection reset");
    half_connection_advance(wire, at, end);
    if (line->half[end].fin && line->half[end].held == 0)
        wire_close_end(wire, at, end, wire->event_queue->now_ns, "");
}

static void on_closed(struct wire *wire, uint32_t at, int end)
{
    const struct line *line = &wire->lines[at];
    const uint32_t party = line->end[end].party;
    const uint64_t conn = line->end[end].conn;
    const char *why = line->why ? line->why : "";
    const bool gone = line->end[end].gone;
    wire_leave(wire, at, end);
    if (!gone && party != WIRE_NOBODY)
        wire->owner.on_closed(wire->owner.self, party, conn, why);
}

/* A party that stands still hears later; so does one that does not read, of bytes. */
static bool postpone(struct wire *wire, const struct event *event, enum wire_event kind,
                     uint32_t party)
{
    if (party == WIRE_NOBODY || kind == WIRE_CROSS || kind == WIRE_ARRIVE)
        return false;
    const struct party *who = &wire->parties[party];
    uint64_t until_ns = who->paused_ns;
    if (kind == WIRE_DELIVER && event->amount > 0 && who->deaf_ns > until_ns)
        until_ns = who->deaf_ns;
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
    const struct line *line = &wire->lines[at];
    const enum wire_event kind = (enum wire_event)(event->kind - wire->kind_base);
    if (line->generation != (uint32_t)(event->subject >> 32) ||
        postpone(wire, event, kind, line->end[end].party))
        return;
    switch (kind) {
    case WIRE_SYN:
        if (!line->end[1].gone)
            on_syn(wire, at);
        break;
    case WIRE_ACCEPTED:
        if (!line->end[0].gone) {
            wire->lines[at].end[0].up = true;
            wire->owner.on_connected(wire->owner.self, line->end[0].party, line->end[0].conn);
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
        if (line->end[end].up)
            wire->owner.on_sent(wire->owner.self, line->end[end].party, line->end[end].conn);
        break;
    case WIRE_CLOSED:
        on_closed(wire, at, end);
        break;
    case WIRE_EVENTS:
        break;
    }
}
