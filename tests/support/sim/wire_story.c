#include "support/sim/wire_story.h"

struct event_queue event_queue;
struct wire wire;
struct path wire_paths[SCENARIO_REGIONS_MAX][SCENARIO_REGIONS_MAX];
struct rate rates[PARTIES][2];
struct received received[PARTIES][SLOTS];
static uint32_t generation;
uint8_t text[HEARD_MAX];

static struct received *heard_by(uint32_t party, uint64_t conn)
{
    struct received *here = &received[party][(uint32_t)conn];
    CHECK((uint32_t)conn < SLOTS && here->conn == conn);
    return here;
}

static struct received *open_slot(uint32_t party, uint32_t slot)
{
    struct received *here = &received[party][slot];
    memset(here, 0, sizeof *here);
    here->conn = (uint64_t)++generation << 32 | slot;
    return here;
}

static uint64_t on_accept(void *self, uint32_t party, uint32_t from)
{
    (void)self;
    uint32_t slot = 0;
    while (wire.parties[party].connection[slot])
        slot++;
    struct received *here = open_slot(party, slot);
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
    struct received *here = heard_by(party, conn);
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
    struct received *here = heard_by(party, conn);
    CHECK(!here->closed_ns);
    here->closed_ns = event_queue.now_ns;
    (void)strncpy(here->why, why, sizeof here->why - 1);
}

void story_begins(uint64_t seed)
{
    const struct wire_owner owner = {.on_accept = on_accept,
                                     .on_connected = on_connected,
                                     .on_bytes = on_bytes,
                                     .on_sent = on_sent,
                                     .on_closed = on_closed};
    memset(wire_paths, 0, sizeof wire_paths);
    memset(rates, 0, sizeof rates);
    for (int from = 0; from < 2; from++)
        for (int to = 0; to < 2; to++)
            wire_paths[from][to].delay_ns = DELAY_NS;
    event_queue_init(&event_queue, 0);
    wire_init(&wire, &event_queue, &owner, BASE, PARTIES, wire_paths, 2, seed);
    for (uint32_t i = 0; i < PARTIES; i++) {
        wire.parties[i].listens = true;
        wire.parties[i].region = i == 3;
        wire.parties[i].up.rate = &rates[i][0];
        wire.parties[i].down.rate = &rates[i][1];
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(rng_mix(i) >> 7);
    generation = 0;
    memset(received, 0, sizeof received);
}

void story_ends(void)
{
    CHECK(wire.flying <= PARTIES * HEARD_MAX);
    wire_free(&wire);
    event_queue_free(&event_queue);
}

void run_until(uint64_t until_ns)
{
    while (event_queue_next_ns(&event_queue) <= until_ns) {
        const struct event event = event_queue_take(&event_queue);
        wire_on_event(&wire, &event);
    }
    event_queue.now_ns = until_ns;
}

struct received *call(uint32_t from, uint32_t slot, uint32_t to)
{
    struct received *here = open_slot(from, slot);
    wire_dial(&wire, from, here->conn, to);
    return here;
}

struct received *taken_by(uint32_t party)
{
    struct received *last = NULL;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (received[party][slot].is_taken && (!last || received[party][slot].conn > last->conn))
            last = &received[party][slot];
    CHECK(last);
    return last;
}

struct received *a, *b;

void meet(void)
{
    a = call(0, 0, 1);
    run_until(MS(100));
    b = taken_by(1);
}

void say(uint32_t party, const struct received *here, size_t count)
{
    wire_send(&wire, party, here->conn, text, count);
}

bool has_text(const struct received *here, size_t count)
{
    return here->count == count && memcmp(here->bytes, text, count) == 0;
}
