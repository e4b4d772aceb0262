#include "support/node/peer_pair.h"

struct side dialer, acceptor;
struct message_reader *reader;

struct way way;

const struct address ADDRESS = {.host = "10.0.0.1", .port = 7000};

const struct introduced USUAL = {"swarm", "dense 10", 1000, PROTOCOL_OLDEST, 1, 1};

void side_init(struct side *side, uint8_t seed, const struct introduced *as)
{
    *side = (struct side){.peer = {.state = PEER_FREE}};
    const uint8_t bytes[SEED_BYTES] = {seed};
    const uint8_t key[KEY_BYTES] = {as->key};
    identity_from_seed(&side->identity, bytes);
    entropy_from_seed(&side->entropy, bytes);
    struct introduction ours;
    introduction_make(&ours, as->swarm, as->model, as->parameters);
    ours.protocol = as->protocol;
    ours.newer = as->newer;
    credentials_init(&side->credentials, &side->identity, key, &ours, &side->entropy);
    arena_init(&side->arena, peer_arena_bytes(QUEUE_MAX) + 1024);
    peer_init(&side->peer, &side->arena, &side->arena, QUEUE_MAX);
}

void begin_as(const struct introduced *one, const struct introduced *other)
{
    side_init(&dialer, 1, one);
    side_init(&acceptor, 2, other);
    peer_start(&dialer.peer, 1, true, &ADDRESS, NOW_NS);
    peer_start(&acceptor.peer, 2, false, &ADDRESS, NOW_NS);
    peer_on_connected(&dialer.peer, &dialer.credentials, 0, NOW_NS);
}

int pair_begin(void **state)
{
    (void)state;
    way.chunk = NEVER;
    way.flip[0] = way.flip[1] = way.cut[0] = way.cut[1] = NEVER;
    begin_as(&USUAL, &USUAL);
    return 0;
}

int pair_end(void **state)
{
    (void)state;
    peer_end(&dialer.peer);
    peer_end(&acceptor.peer);
    arena_release(&dialer.arena);
    arena_release(&acceptor.arena);
    return 0;
}

void begin_again(void)
{
    (void)pair_end(NULL);
    begin_as(&USUAL, &USUAL);
}

struct message message_number(uint32_t i)
{
    return (struct message){.kind = WANT, .tag = i, .seq = 1000 + i};
}

void say_some(struct side *side, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct message message = message_number(i);
        assert_true(peer_say(&side->peer, &message));
    }
}

static void apply(struct side *side)
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

void take(struct side *side, const uint8_t *bytes, size_t count)
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

void carry(struct side *from, struct side *to, const uint8_t *bytes, size_t count)
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

bool send_once(struct side *from, struct side *to)
{
    const uint8_t *bytes;
    size_t count;
    if (!peer_next_send(&from->peer, SIZE_MAX, true, &bytes, &count))
        return false;
    carry(from, to, bytes, count);
    peer_on_sent(&from->peer);
    return true;
}

void converse(void)
{
    bool more = true;
    while (more) {
        more = send_once(&dialer, &acceptor);
        more |= send_once(&acceptor, &dialer);
    }
}

int open_pair(void **state)
{
    (void)state;
    secret_start();
    reader = message_reader_new();
    return 0;
}

int close_pair(void **state)
{
    (void)state;
    message_reader_free(reader);
    return 0;
}
