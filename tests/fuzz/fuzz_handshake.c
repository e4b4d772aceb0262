/* Gate, handshake and the first records: two peers, and an attacker between them.
 *
 *   dialer ── flight 1 ──► acceptor ── flight 2 ──► dialer ── flight 3 ──► acceptor …
 *
 * The input sets both peers' credentials and then, flight by flight, the changes on the path. Keys
 * follow from seeds, so the bytes of a flight are always the same. A peer that completes the
 * handshake knows the other's identity. Each peer receives the other's messages in order and from
 * the first one on, or none. If no attacker changes anything, each receives all of them. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "node/connection/peer.h"

#define QUEUE_BYTES (1u << 12)
#define FLIGHT_MAX  8192
#define TURNS_MAX   12
#define SAID        3  /* messages that each peer sends after the handshake */
#define PARTS_BYTES 64 /* size of the text with a model's parts, including the final zero */
#define NOW_NS      ((uint64_t)1000000000)

enum meddling { PASS, CHANGE, CUT, INSERT, TWICE, OTHER_FLIGHT, MEDDLINGS };

struct side {
    struct identity identity;
    /* identity that the peer shows: its own, or one with a changed certificate */
    struct identity shown;
    struct entropy entropy;
    struct credentials credentials;
    struct arena arena;
    struct peer peer;
    char parts[PARTS_BYTES]; /* parts of the peer's model as text */
    bool met;
    bool is_over;
    uint32_t heard;
};

struct flight {
    uint8_t bytes[FLIGHT_MAX];
    size_t count;
};

static struct side sides[2]; /* [0] the dialer, [1] the acceptor */
static struct flight flights[TURNS_MAX];
static struct message_reader *reader;
static bool is_meddled;

void fuzz_begin(void)
{
    secret_start();
    reader = message_reader_new();
    for (uint8_t i = 0; i < 2; i++) {
        const uint8_t seed[SEED_BYTES] = {(uint8_t)(1 + i)};
        identity_from_seed(&sides[i].identity, seed);
        arena_init(&sides[i].arena, peer_arena_bytes(QUEUE_BYTES));
        peer_init(&sides[i].peer, &sides[i].arena, &sides[i].arena, QUEUE_BYTES);
    }
}

/* Sets standing, form and the model's parts from the input. */
static void bring_form(struct side *side, struct introduction *ours, struct input *input)
{
    size_t count;
    const uint8_t standing = input_byte(input), form = input_byte(input);
    const uint8_t *parts = input_bytes(input, input_byte(input) % PARTS_BYTES, &count);
    ours->standing = standing % (STANDING_MAX + 1);
    for (uint32_t i = 0; i < FORM_BYTES; i++)
        ours->form[i] = form == 0 ? 0 : (uint8_t)(ours->form[i] + form - 1);
    memcpy(side->parts, parts, count);
    side->parts[count] = '\0';
}

/* Sets a peer's credentials from the input. For half of the values they are valid. For the rest
 * they have a wrong release, swarm, model or certificate. */
static void bring(struct side *side, uint8_t seed, struct input *input)
{
    static const uint8_t swarm_key[KEY_BYTES] = {9};
    const uint8_t entropy[SEED_BYTES] = {seed, 1};
    struct introduction ours;
    const uint8_t lie = input_byte(input);
    introduction_make(&ours, "swarm", "dense 10; seed 1", 1000);
    (void)snprintf(side->parts, sizeof side->parts, "dense 10");
    side->shown = side->identity;
    if (lie >= 128)
        is_meddled = true;
    else
        ours.newer = lie & 1;
    if (lie >= 128 && lie < 192) {
        ours.protocol = (uint16_t)(ours.protocol + (lie & 3));
        ours.newer = lie >> 1 & 3;
        ours.parameters += lie >> 2 & 3;
        ours.swarm[0] ^= lie >> 4 & 1;
        ours.model[15] ^= lie >> 5 & 1;
        if (lie >> 5 & 1)
            bring_form(side, &ours, input);
    } else if (lie >= 192) {
        side->shown.certificate[input_byte(input) % CERTIFICATE_BYTES] ^= (uint8_t)(1 + lie % 255);
    }
    entropy_from_seed(&side->entropy, entropy);
    credentials_init(&side->credentials, &side->shown, swarm_key, &ours, &side->entropy);
    side->credentials.parts = side->parts;
    side->met = side->is_over = false;
    side->heard = 0;
}

static void begin(struct input *input)
{
    static const struct address address = {.host = "10.0.0.1", .port = 7000};
    is_meddled = false;
    for (uint8_t i = 0; i < 2; i++) {
        bring(&sides[i], i, input);
        peer_start(&sides[i].peer, 1, i == 0, &address, NOW_NS);
    }
    peer_on_connected(&sides[0].peer, &sides[0].credentials, 0, NOW_NS);
}

static void say(struct side *side)
{
    for (uint32_t i = 0; i < SAID; i++)
        CHECK(peer_say(&side->peer, &(struct message){.kind = WANT, .tag = i, .seq = 1000 + i}));
}

static void on_message(struct side *side)
{
    struct message message;
    size_t bytes;
    const uint8_t *at = peer_message(&side->peer, &bytes);
    CHECK(side->met && message_decode(reader, at, bytes, &message) == OK);
    CHECK(message.kind == WANT && message.tag == side->heard && message.seq == 1000 + side->heard);
    side->heard++;
}

static void on_met(struct side *side)
{
    const struct side *other = side == &sides[0] ? &sides[1] : &sides[0];
    CHECK(!side->met && memcmp(side->peer.id, other->identity.id, ID_BYTES) == 0);
    side->met = true;
    say(side);
}

static void deliver(struct side *to, const uint8_t *bytes, size_t count)
{
    struct problem problem;
    while (count > 0 && !to->is_over) {
        switch (peer_take(&to->peer, &to->credentials, NOW_NS, &bytes, &count, &problem)) {
        case PEER_NOTHING:
            CHECK(count == 0);
            break;
        case PEER_MET:
            on_met(to);
            break;
        case PEER_SAID:
            on_message(to);
            break;
        case PEER_REFUSED:
            CHECK(is_meddled && strlen(problem.text) > 0);
            to->is_over = true;
            peer_move(&to->peer, PEER_CLOSING, NOW_NS);
        }
    }
}

/* Collects all bytes that the peer has to send now. */
static void collect(struct side *side, struct flight *flight)
{
    const uint8_t *bytes;
    size_t count;
    flight->count = 0;
    while (peer_next_send(&side->peer, SIZE_MAX, true, &bytes, &count)) {
        CHECK(flight->count + count <= FLIGHT_MAX / 2);
        memcpy(flight->bytes + flight->count, bytes, count);
        flight->count += count;
        peer_on_sent(&side->peer);
    }
}

static void insert(struct flight *flight, size_t at, const uint8_t *bytes, size_t count)
{
    memmove(flight->bytes + at + count, flight->bytes + at, flight->count - at);
    memcpy(flight->bytes + at, bytes, count);
    flight->count += count;
}

/* Changes a flight on its way as the input says. turn: number of earlier flights. */
static void meddle(struct flight *flight, uint32_t turn, struct input *input)
{
    const enum meddling how = input_byte(input) % MEDDLINGS;
    const size_t at = flight->count > 0 ? input_number(input, 2) % flight->count : 0;
    size_t count;
    const uint8_t *bytes;
    is_meddled = is_meddled || how != PASS;
    switch (how) {
    case CHANGE:
        if (flight->count > 0)
            flight->bytes[at] ^= (uint8_t)(1 + input_byte(input) % 255);
        break;
    case CUT:
        count = input_byte(input) % (flight->count - at + 1);
        memmove(flight->bytes + at, flight->bytes + at + count, flight->count - at - count);
        flight->count -= count;
        break;
    case INSERT:
        bytes = input_bytes(input, input_byte(input), &count);
        if (count > 0)
            insert(flight, at, bytes, count);
        break;
    case TWICE:
        memcpy(flight->bytes + flight->count, flight->bytes, flight->count);
        flight->count *= 2;
        break;
    case OTHER_FLIGHT:
        *flight = flights[input_byte(input) % (turn + 1)];
        break;
    case PASS:
    case MEDDLINGS:
        break;
    }
}

static void turn(uint32_t number, struct input *input)
{
    struct side *from = &sides[number % 2], *to = &sides[1 - number % 2];
    static struct flight flight;
    collect(from, &flights[number]);
    flight = flights[number];
    meddle(&flight, number, input);
    const size_t piece = input_byte(input);
    for (size_t at = 0, count; at < flight.count; at += count) {
        count = piece == 0 || flight.count - at < piece ? flight.count - at : piece;
        deliver(to, flight.bytes + at, count);
    }
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    struct input input = {data, bytes};
    begin(&input);
    for (uint32_t i = 0; i < TURNS_MAX; i++)
        turn(i, &input);
    CHECK(is_meddled || sides[0].peer.protocol == sides[1].peer.protocol);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(is_meddled || (sides[i].met && sides[i].heard == SAID));
        peer_end(&sides[i].peer);
    }
}
