/* Messages: round trips of every kind, and safe decoding of any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "wire/message.h"

#define ROOM   4096
#define ROUNDS 100000

static struct message_reader *reader;

static int start(void **state)
{
    (void)state;
    reader = message_reader_new();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    message_reader_free(reader);
    return 0;
}

static const uint8_t words[] = "node1.example.org";
static const uint8_t blob[300] = {0x93, 0xff, 0xc6, 0x00};

static struct message sample_of_late(enum message_kind kind)
{
    const struct bytes text = {words, sizeof words - 1}, bulk = {blob, sizeof blob};
    if (kind == SETTINGS)
        return (struct message){.kind = kind, .text = text};
    if (kind == INFERENCE)
        return (struct message){.kind = kind, .count = 64, .bulk = bulk};
    return (struct message){.kind = kind,
                            .reason = UINT64_MAX,
                            .count = UINT64_MAX,
                            .wait = 1ull << 33,
                            .text = text,
                            .bulk = bulk};
}

static struct message sample_of(enum message_kind kind)
{
    const struct bytes text = {words, sizeof words - 1}, bulk = {blob, sizeof blob};
    switch (kind) {
    case HELLO:
        return (struct message){
            .kind = kind, .incarnation = UINT64_MAX, .port = 7770, .text = text, .bulk = bulk};
    case PING:
    case PONG:
        return (struct message){.kind = kind, .token = 1ull << 32};
    case ACK:
        return (struct message){
            .kind = kind, .received = UINT64_MAX, .clock = 1ull << 40, .held = 128, .most = 65536};
    case MEMBER_UPDATE:
    case MEMBER_LIST:
    case RUMOR:
    case PROOF:
    case VOTES:
    case HEADS:
        return (struct message){.kind = kind, .bulk = bulk};
    case MEMBER_QUERY:
    case PRUNE:
        return (struct message){.kind = kind, .tag = 0};
    case VERSION:
        return (struct message){.kind = kind,
                                .digest = UINT64_MAX - 1,
                                .hash = UINT64_MAX,
                                .rumors = 1ull << 40,
                                .members = 1000,
                                .base = 2,
                                .whole = 1,
                                .learned = bulk,
                                .bulk = bulk};
    case SETTINGS:
    case INFERENCE:
    case REPLY:
        return sample_of_late(kind);
    case TAKE:
    case LISTED:
        return (struct message){.kind = kind};
    case HISTORY:
        return (struct message){
            .kind = kind, .digest = UINT64_MAX, .part = 200, .parts = 1ull << 33, .bulk = bulk};
    case FETCH:
        return (struct message){.kind = kind, .block = UINT32_MAX, .count = UINT64_MAX};
    case BLOCK:
        return (struct message){.kind = kind, .block = UINT64_MAX, .entries = bulk, .bulk = text};
    case WANT:
    case GONE:
        return (struct message){.kind = kind, .tag = 0x8000000000000000u, .seq = 128};
    case BYE:
        return (struct message){.kind = kind, .reason = BYE_FULL, .text = text, .bulk = bulk};
    case ORDERS:
    case SWARM_KEY:
        return (struct message){.kind = kind, .number = UINT64_MAX, .bulk = bulk};
    case MESSAGE_KINDS:
        break;
    }
    fail();
    return (struct message){0};
}

static void assert_same_bytes(struct bytes a, struct bytes b)
{
    assert_int_equal(a.count, b.count);
    if (a.count > 0)
        assert_memory_equal(a.at, b.at, a.count);
}

static void assert_same(const struct message *a, const struct message *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_true(a->incarnation == b->incarnation && a->port == b->port && a->token == b->token);
    assert_true(a->received == b->received && a->clock == b->clock && a->held == b->held &&
                a->most == b->most);
    assert_true(a->tag == b->tag && a->seq == b->seq && a->digest == b->digest);
    assert_true(a->number == b->number);
    assert_true(a->hash == b->hash && a->rumors == b->rumors && a->members == b->members);
    assert_true(a->base == b->base && a->whole == b->whole && a->part == b->part &&
                a->parts == b->parts);
    assert_true(a->block == b->block && a->count == b->count && a->reason == b->reason &&
                a->wait == b->wait);
    assert_same_bytes(a->text, b->text);
    assert_same_bytes(a->learned, b->learned);
    assert_same_bytes(a->entries, b->entries);
    assert_same_bytes(a->bulk, b->bulk);
}

/* Decodes a heap copy of exact size, so that a sanitizer detects reads behind it. */
static enum error decode_exactly(const uint8_t *in, size_t bytes, struct message *message)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, in, bytes);
    const enum error error = message_decode(reader, copy, bytes, message);
    if (error == OK) {
        const struct bytes parts[] = {message->text, message->learned, message->entries,
                                      message->bulk};
        for (int i = 0; i < 4; i++)
            if (parts[i].count > 0)
                assert_true(parts[i].at >= copy && parts[i].at + parts[i].count <= copy + bytes);
    }
    free(copy);
    return error;
}

static void assert_refused(const uint8_t *in, size_t bytes)
{
    struct message message = {.kind = PING, .token = 77};
    assert_int_equal(decode_exactly(in, bytes, &message), MALFORMED);
    assert_int_equal(message.token, 77);
}

static void every_kind_decodes_as_it_was_sent(void **state)
{
    (void)state;
    for (int kind = HELLO; kind < MESSAGE_KINDS; kind++) {
        const struct message sent = sample_of((enum message_kind)kind);
        uint8_t bytes[ROOM];
        const size_t count = message_encode(&sent, bytes, sizeof bytes);
        assert_true(count <= message_capacity(&sent) - MESSAGE_ADDS + 64);
        struct message got;
        assert_int_equal(message_decode(reader, bytes, count, &got), OK);
        assert_same(&sent, &got);
    }
}

static void bulk_has_little_overhead(void **state)
{
    (void)state;
    static uint8_t bulk[60000], bytes[sizeof bulk + 64];
    const struct message sent = {.kind = VERSION,
                                 .digest = UINT64_MAX,
                                 .hash = UINT64_MAX,
                                 .rumors = UINT64_MAX,
                                 .members = UINT64_MAX,
                                 .bulk = {bulk, sizeof bulk}};
    assert_true(message_encode(&sent, bytes, sizeof bytes) <= sizeof bulk + MESSAGE_ADDS);
}

static void decoding_copies_nothing(void **state)
{
    (void)state;
    const struct message sent = sample_of(HELLO);
    uint8_t bytes[ROOM];
    const size_t count = message_encode(&sent, bytes, sizeof bytes);
    struct message got;
    assert_int_equal(message_decode(reader, bytes, count, &got), OK);
    assert_true(got.text.at > bytes && got.text.at < bytes + count);
    assert_true(got.bulk.at > bytes && got.bulk.at + got.bulk.count == bytes + count);
}

static void empty_texts_and_bulks_decode_as_empty(void **state)
{
    (void)state;
    const struct message sent = {.kind = HELLO, .incarnation = 1};
    uint8_t bytes[ROOM];
    const size_t count = message_encode(&sent, bytes, sizeof bytes);
    struct message got;
    assert_int_equal(message_decode(reader, bytes, count, &got), OK);
    assert_same(&sent, &got);
}

static void a_message_fits_its_exact_size(void **state)
{
    (void)state;
    const struct message sent = sample_of(WANT);
    uint8_t bytes[ROOM];
    const size_t count = message_encode(&sent, bytes, sizeof bytes);
    assert_int_equal(message_encode(&sent, bytes, count), count);
}

static void refuses_every_truncation_and_every_extension(void **state)
{
    (void)state;
    for (int kind = HELLO; kind < MESSAGE_KINDS; kind++) {
        const struct message sent = sample_of((enum message_kind)kind);
        uint8_t bytes[ROOM] = {0};
        const size_t count = message_encode(&sent, bytes, sizeof bytes);
        for (size_t cut = 0; cut < count; cut++)
            assert_refused(bytes, cut);
        assert_refused(bytes, count + 1);
    }
}

/* Rejects [PING, x] with an invalid x, and other arrays that are no messages. */
static void refuses_other_arrays(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint8_t bytes[12];
        size_t count;
    } CASES[] = {
        {"nothing", {0}, 0},
        {"an empty array", {0x90}, 1},
        {"a number", {PING}, 1},
        {"a map", {0x81, PING, 1}, 3},
        {"an array with a long count", {0xdc, 0, 2, PING, 1}, 5},
        {"an array with a longer count", {0xdd, 0, 0, 0, 2, PING, 1}, 7},
        {"a kind below the first", {0x92, 0, 1}, 3},
        {"a kind beyond the last", {0x92, MESSAGE_KINDS, 1}, 3},
        {"a huge kind", {0x92, 0xce, 0xff, 0xff, 0xff, 0xff, 1}, 7},
        {"a negative kind", {0x92, 0xff, 1}, 3},
        {"a text as kind", {0x92, 0xa1, 'p', 1}, 4},
        {"a field too few", {0x91, PING}, 2},
        {"a field too many", {0x93, PING, 1, 1}, 4},
        {"a negative number", {0x92, PING, 0xff}, 3},
        {"a signed number", {0x92, PING, 0xd0, 1}, 4},
        {"a float", {0x92, PING, 0xca, 0, 0, 0, 0}, 7},
        {"nil", {0x92, PING, 0xc0}, 3},
        {"a boolean", {0x92, PING, 0xc3}, 3},
        {"the byte msgpack never uses", {0x92, PING, 0xc1}, 3},
        {"a text for a number", {0x92, PING, 0xa1, '1'}, 4},
        {"a bin for a number", {0x92, PING, 0xc4, 1, 1}, 5},
        {"a text for a bulk", {0x92, RUMOR, 0xa1, 'r'}, 4},
        {"a number for a bulk", {0x92, RUMOR, 1}, 3},
        {"a bin for a text", {0x94, BYE, 1, 0xc4, 1, 'x', 0xc4, 0}, 8},
        {"an array inside", {0x92, PING, 0x91, 1}, 4},
        {"an array in an array in an array", {0x92, PING, 0x91, 0x91, 0x91, 1}, 6},
        {"an array of 4 billion inside", {0x92, PING, 0xdd, 0xff, 0xff, 0xff, 0xff}, 7},
        {"a map inside", {0x92, PING, 0x81, 1, 1}, 5},
        {"an extension", {0x92, PING, 0xd4, 1, 1}, 5},
        {"15 fields claimed", {0x9f, PING, 1}, 3},
        {"two messages", {0x92, PING, 1, 0x92, PING, 1}, 6},
        {"a bin of 255 bytes that are not there", {0x92, RUMOR, 0xc4, 0xff, 1}, 5},
        {"a bin of 64 KiB that are not there", {0x92, RUMOR, 0xc5, 0xff, 0xff, 1}, 6},
        {"a bin of 4 GiB", {0x92, RUMOR, 0xc6, 0xff, 0xff, 0xff, 0xff, 1}, 8},
        {"a bin whose end wraps", {0x92, RUMOR, 0xc6, 0xff, 0xff, 0xff, 0xfe, 1}, 8},
        {"a text of 4 GiB", {0x94, BYE, 1, 0xdb, 0xff, 0xff, 0xff, 0xff, 1}, 9},
        {"a bin without its size", {0x92, RUMOR, 0xc6, 0}, 4},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct message message = {.token = 77};
        if (decode_exactly(CASES[i].bytes, CASES[i].count, &message) != MALFORMED)
            fail_msg("%s was accepted as a message", CASES[i].what);
        assert_int_equal(message.token, 77);
    }
}

static void accepts_longer_encodings_of_a_number(void **state)
{
    (void)state;
    static const uint8_t LONG[] = {0x92, 0xcc, PING, 0xcf, 0, 0, 0, 0, 0, 0, 0, 5};
    struct message got;
    assert_int_equal(message_decode(reader, LONG, sizeof LONG, &got), OK);
    assert_int_equal(got.kind, PING);
    assert_int_equal(got.token, 5);
}

static size_t mutate(struct rng *rng, uint8_t *bytes, size_t count)
{
    for (uint32_t flips = 1 + rng_below(rng, 4); flips > 0; flips--) {
        const uint32_t at = rng_below(rng, (uint32_t)count);
        if (rng_below(rng, 2))
            bytes[at] ^= (uint8_t)(1u << rng_below(rng, 8));
        else
            bytes[at] = (uint8_t)rng_next(rng);
    }
    return rng_below(rng, 3) ? count : 1 + rng_below(rng, (uint32_t)count);
}

/* Every accepted mutation is a message, which encoding and decoding leave unchanged. */
static void survives_a_hundred_thousand_mutations(void **state)
{
    (void)state;
    struct rng rng = rng_new(1, 0);
    uint32_t taken = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const int kind = HELLO + (int)rng_below(&rng, MESSAGE_KINDS - HELLO);
        const struct message sent = sample_of((enum message_kind)kind);
        uint8_t bytes[ROOM], again[ROOM];
        size_t count = message_encode(&sent, bytes, sizeof bytes);
        count = mutate(&rng, bytes, count);
        struct message got, twice;
        if (decode_exactly(bytes, count, &got) != OK)
            continue;
        taken++;
        assert_int_equal(message_decode(reader, bytes, count, &got), OK);
        count = message_encode(&got, again, sizeof again);
        assert_int_equal(message_decode(reader, again, count, &twice), OK);
        assert_same(&got, &twice);
    }
    assert_true(taken > ROUNDS / 100 && taken < ROUNDS);
}

static void survives_a_hundred_thousand_random_messages(void **state)
{
    (void)state;
    struct rng rng = rng_new(2, 0);
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t bytes[64];
        const size_t count = rng_below(&rng, sizeof bytes + 1);
        for (size_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)rng_next(&rng);
        if (count > 1) { /* passes the first checks, so that later checks are also tested */
            bytes[0] = (uint8_t)(0x90 | (bytes[0] & 7));
            bytes[1] = (uint8_t)(bytes[1] % (MESSAGE_KINDS + 1));
        }
        struct message got;
        (void)decode_exactly(bytes, count, &got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_decodes_as_it_was_sent),
        cmocka_unit_test(bulk_has_little_overhead),
        cmocka_unit_test(decoding_copies_nothing),
        cmocka_unit_test(empty_texts_and_bulks_decode_as_empty),
        cmocka_unit_test(a_message_fits_its_exact_size),
        cmocka_unit_test(refuses_every_truncation_and_every_extension),
        cmocka_unit_test(refuses_other_arrays),
        cmocka_unit_test(accepts_longer_encodings_of_a_number),
        cmocka_unit_test(survives_a_hundred_thousand_mutations),
        cmocka_unit_test(survives_a_hundred_thousand_random_messages),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
