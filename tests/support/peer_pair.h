/* Two conversations joined by arrays of bytes, and what may happen to the bytes on the way.
 *
 *   dialer ─ carry: changed? cut off? in pieces? ─► acceptor;   and back
 *
 * Each says some messages when it has met the other; what is heard must be what was said. */
#ifndef HEARSAY_TESTS_SUPPORT_PEER_PAIR_H
#define HEARSAY_TESTS_SUPPORT_PEER_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "node/connection/peer.h"

#define NOW_NS    1000u
#define QUEUE_MAX (1u << 18)
#define SAID      3 /* messages each side says when it has met the other */
#define NEVER     SIZE_MAX

struct side {
    struct arena arena;
    struct identity identity;
    struct entropy entropy;
    struct credentials credentials;
    struct peer peer;
    bool met, refused;
    uint32_t heard; /* all of them as the other said them, in order */
    struct problem problem;
    uint64_t out_bytes; /* on the way to the other so far */
};

static struct side dialer, acceptor;
static struct message_reader *reader;

/* What happens on the way from the dialer [0] and from the acceptor [1]. */
static struct {
    size_t chunk;   /* bytes at once */
    size_t flip[2]; /* the byte changed */
    size_t cut[2];  /* the first byte lost, and all after it */
    uint8_t mask;
} way;

static const struct address ADDRESS = {.host = "10.0.0.1", .port = 7000};

struct introduced {
    const char *swarm, *model;
    uint64_t parameters;
    uint16_t protocol;
    uint8_t key;
};

static const struct introduced USUAL = {"swarm", "dense 10", 1000, PROTOCOL_VERSION, 1};

static inline void side_init(struct side *side, uint8_t seed, const struct introduced *as)
{
    *side = (struct side){.peer = {.state = PEER_FREE}};
    const uint8_t bytes[SEED_BYTES] = {seed};
    const uint8_t key[KEY_BYTES] = {as->key};
    identity_from_seed(&side->identity, bytes);
    entropy_from_seed(&side->entropy, bytes);
    struct introduction ours;
    introduction_make(&ours, as->swarm, as->model, as->parameters);
    ours.protocol = as->protocol;
    side->credentials.identity = &side->identity;
    side->credentials.entropy = &side->entropy;
    gate_init(&side->credentials.gate, key, &ours);
    introduction_encode(side->credentials.prologue, &ours);
    memcpy(side->credentials.psk, key, KEY_BYTES);
    arena_init(&side->arena, peer_arena_bytes(QUEUE_MAX) + 1024);
    peer_init(&side->peer, &side->arena, QUEUE_MAX);
}

static inline void begin_as(const struct introduced *one, const struct introduced *other)
{
    side_init(&dialer, 1, one);
    side_init(&acceptor, 2, other);
    peer_start(&dialer.peer, 1, true, &ADDRESS, NOW_NS);
    peer_start(&acceptor.peer, 2, false, &ADDRESS, NOW_NS);
    peer_on_connected(&dialer.peer, &dialer.credentials, NOW_NS);
}

static inline int begin(void **state)
{
    (void)state;
    way.chunk = NEVER;
    way.flip[0] = way.flip[1] = way.cut[0] = way.cut[1] = NEVER;
    begin_as(&USUAL, &USUAL);
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    peer_end(&dialer.peer);
    peer_end(&acceptor.peer);
    arena_release(&dialer.arena);
    arena_release(&acceptor.arena);
    return 0;
}

static inline void begin_again(void)
{
    (void)end(NULL);
    begin_as(&USUAL, &USUAL);
}

/* Message number i: WANT 0 i, WANT 1 i + 1, ... */
static inline struct message message_number(uint32_t i)
{
    return (struct message){.kind = WANT, .tag = i, .seq = 1000 + i};
}

static inline void say_some(struct side *side, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct message message = message_number(i);
        assert_true(peer_say(&side->peer, &message));
    }
}

static inline void apply(struct side *side)
{
    size_t bytes;
    const uint8_t *at = peer_message(&side->peer, &bytes);
    struct message message;
    assert_int_equal(message_decode(reader, at, bytes, &message), OK);
    const struct message expected = message_number(side->heard++);
    assert_int_equal(message.kind, expected.kind);
    assert_int_equal(message.tag, expected.tag);
    assert_int_equal(message.seq, expected.seq);
}

static inline void take(struct side *side, const uint8_t *bytes, size_t count)
{
    while (count > 0 && !side->refused) {
        switch (
            peer_take(&side->peer, &side->credentials, NOW_NS, &bytes, &count, &side->problem)) {
        case PEER_NOTHING:
            assert_int_equal(count, 0);
            break;
        case PEER_MET:
            assert_false(side->met);
            side->met = true;
            say_some(side, SAID);
            break;
        case PEER_SAID:
            apply(side);
            break;
        case PEER_REFUSED:
            side->refused = true;
            peer_move(&side->peer, PEER_CLOSING, NOW_NS);
        }
    }
}

/* Carry these bytes over, as the way would have it. */
static inline void carry(struct side *from, struct side *to, const uint8_t *bytes, size_t count)
{
    static uint8_t copy[SENDING_BYTES];
    const int direction = from == &acceptor;
    memcpy(copy, bytes, count);
    const size_t start = from->out_bytes;
    from->out_bytes += count;
    if (way.flip[direction] >= start && way.flip[direction] - start < count)
        copy[way.flip[direction] - start] ^= way.mask;
    if (way.cut[direction] <= start)
        return;
    if (way.cut[direction] - start < count)
        count = way.cut[direction] - start;
    for (size_t at = 0; at < count; at += way.chunk) {
        take(to, copy + at, count - at < way.chunk ? count - at : way.chunk);
        if (way.chunk == NEVER)
            break;
    }
}

/* False when there was nothing to send. */
static inline bool send_once(struct side *from, struct side *to)
{
    const uint8_t *bytes;
    size_t count;
    if (!peer_next_send(&from->peer, SIZE_MAX, true, &bytes, &count))
        return false;
    carry(from, to, bytes, count);
    peer_on_sent(&from->peer);
    return true;
}

static inline void converse(void)
{
    bool more = true;
    while (more) {
        more = send_once(&dialer, &acceptor);
        more |= send_once(&acceptor, &dialer);
    }
}

static inline int open_pair(void **state)
{
    (void)state;
    secret_start();
    reader = message_reader_new();
    return 0;
}

static inline int close_pair(void **state)
{
    (void)state;
    message_reader_free(reader);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
