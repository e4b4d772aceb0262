/* A few parties on the wires, who write down what they hear: for stories about time.
 *
 * Party 0, 1, 2 .. live in region 0, party 3 in region 1; every path takes 40 ms one way. Time
 * begins at 0. A test dials, sends and hangs up in their name, and looks at what was heard when. */
#ifndef HEARSAY_TESTS_SUPPORT_WIRE_STORY_H
#define HEARSAY_TESTS_SUPPORT_WIRE_STORY_H

#include <string.h>

#include "base/error.h"
#include "network/wire.h"

#define PARTIES   4
#define BASE      10 /* of the kinds of the wire's events */
#define SLOTS     16
#define HEARD_MAX (1u << 18)
#define DELAY_NS  (40 * MILLI_NS)
#define MS(n)     ((n)*MILLI_NS)
#define MBIT      125000u /* bytes per second */
#define TEN_KB    10000

/* What a party has heard on one of its connections. */
struct heard {
    uint64_t conn;
    bool is_taken; /* the other called */
    uint32_t from;
    uint64_t begun_ns;   /* accepted, or connected; 0: not yet */
    uint64_t first_ns;   /* byte */
    uint64_t last_ns;    /* byte */
    uint64_t sent_ns;    /* last SEND done */
    uint64_t closed_ns;  /* 0: not yet */
    uint32_t sends_done; /* how often */
    uint32_t pieces;
    char why[32];
    size_t count;
    uint8_t bytes[HEARD_MAX];
};

static struct event_queue event_queue;
static struct wire wire;
static struct path paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
static struct rate rates[PARTIES][2]; /* up, down */
static struct heard heard[PARTIES][SLOTS];
static uint32_t generation;
static uint8_t text[HEARD_MAX];

static inline struct heard *heard_by(uint32_t party, uint64_t conn)
{
    struct heard *here = &heard[party][(uint32_t)conn];
    CHECK((uint32_t)conn < SLOTS && here->conn == conn);
    return here;
}

static inline struct heard *open_slot(uint32_t party, uint32_t slot)
{
    struct heard *here = &heard[party][slot];
    memset(here, 0, sizeof *here);
    here->conn = (uint64_t)++generation << 32 | slot;
    return here;
}

static uint64_t on_accept(void *self, uint32_t party, uint32_t from)
{
    (void)self;
    uint32_t slot = 0;
    while (wire.parties[party].line[slot])
        slot++;
    struct heard *here = open_slot(party, slot);
    here->is_taken = true;
    here->from = from;
    here->begun_ns = event_queue.now_ns;
    return here->conn;
}

static void on_connected(void *self, uint32_t party, uint64_t conn)
{
    (void)self;
    heard_by(party, conn)->begun_ns = event_queue.now_ns;
}

static void on_bytes(void *self, uint32_t party, uint64_t conn, const uint8_t *bytes, size_t count)
{
    (void)self;
    struct heard *here = heard_by(party, conn);
    CHECK(here->begun_ns && !here->closed_ns && count > 0 && count <= HEARD_MAX - here->count);
    if (here->count == 0)
        here->first_ns = event_queue.now_ns;
    here->last_ns = event_queue.now_ns;
    here->pieces++;
    memcpy(here->bytes + here->count, bytes, count);
    here->count += count;
}

static void on_sent(void *self, uint32_t party, uint64_t conn)
{
    (void)self;
    heard_by(party, conn)->sent_ns = event_queue.now_ns;
    heard_by(party, conn)->sends_done++;
}

static void on_closed(void *self, uint32_t party, uint64_t conn, const char *why)
{
    (void)self;
    struct heard *here = heard_by(party, conn);
    CHECK(!here->closed_ns);
    here->closed_ns = event_queue.now_ns;
    (void)strncpy(here->why, why, sizeof here->why - 1);
}

static inline void story_begins(uint64_t seed)
{
    const struct wire_owner owner = {.on_accept = on_accept,
                                     .on_connected = on_connected,
                                     .on_bytes = on_bytes,
                                     .on_sent = on_sent,
                                     .on_closed = on_closed};
    memset(paths, 0, sizeof paths);
    memset(rates, 0, sizeof rates);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            paths[a][b].delay_ns = DELAY_NS;
    event_queue_init(&event_queue, 0);
    wire_init(&wire, &event_queue, &owner, BASE, PARTIES, paths, 2, seed);
    for (uint32_t i = 0; i < PARTIES; i++) {
        wire.parties[i].listens = true;
        wire.parties[i].region = i == 3;
        wire.parties[i].up.rate = &rates[i][0];
        wire.parties[i].down.rate = &rates[i][1];
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(rng_mix(i) >> 7);
    generation = 0;
    memset(heard, 0, sizeof heard);
}

static inline void story_ends(void)
{
    CHECK(wire.flying <= PARTIES * HEARD_MAX); /* no byte has landed twice */
    wire_free(&wire);
    event_queue_free(&event_queue);
}

static inline void run_until(uint64_t until_ns)
{
    while (event_queue_next_ns(&event_queue) <= until_ns) {
        const struct event event = event_queue_take(&event_queue);
        wire_on_event(&wire, &event);
    }
    event_queue.now_ns = until_ns;
}

/* A calls b in this slot; what a hears. */
static inline struct heard *dial(uint32_t a, uint32_t slot, uint32_t b)
{
    struct heard *here = open_slot(a, slot);
    wire_dial(&wire, a, here->conn, b);
    return here;
}

/* What b hears of the call that it took last. */
static inline struct heard *taken_by(uint32_t b)
{
    struct heard *last = NULL;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (heard[b][slot].is_taken && (!last || heard[b][slot].conn > last->conn))
            last = &heard[b][slot];
    CHECK(last);
    return last;
}

static struct heard *a, *b; /* the ends of the call of party 0 to party 1 */

/* They are connected from 80 ms on; now is 100 ms. */
static inline void meet(void)
{
    a = dial(0, 0, 1);
    run_until(MS(100));
    b = taken_by(1);
}

/* The first `count` of the text. */
static inline void say(uint32_t party, const struct heard *here, size_t count)
{
    wire_send(&wire, party, here->conn, text, count);
}

/* Has the first `count` of the text, and nothing else, been heard? */
static inline bool has_text(const struct heard *here, size_t count)
{
    return here->count == count && memcmp(here->bytes, text, count) == 0;
}

#endif
