/* The Noise handshake: published vectors, and rejection of every altered message. Payloads have the
 * sizes that nodes use: none, then 96 bytes in each direction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "crypto/handshake.h"
#include "support/base/hex.h"
#include "support/net/noise_vectors.h"

#define MESSAGES          3
#define MESSAGE_BYTES_MAX (HANDSHAKE_2_BYTES + HANDSHAKE_PAYLOAD_MAX)
#define NODE_PAYLOAD      96

static const uint8_t swarm_psk[KEY_BYTES] = {0x50, 0x51};
static const uint8_t other_psk[KEY_BYTES] = {0x50, 0x52};
static const uint8_t payload_of_node[NODE_PAYLOAD] = {1, 2, 3};
static const uint8_t low_order[DH_BYTES]; /* the point 0 */

struct sides {
    struct handshake initiator;
    struct handshake responder;
};

static struct sides sides_new(const char *initiator_prologue, const uint8_t *initiator_psk,
                              const char *responder_prologue, const uint8_t *responder_psk)
{
    static const uint8_t statics[2][DH_BYTES] = {{0x11}, {0x22}};
    static const uint8_t ephemerals[2][DH_BYTES] = {{0x33}, {0x44}};
    struct sides sides;
    handshake_init(&sides.initiator, true, initiator_prologue, strlen(initiator_prologue),
                   initiator_psk, statics[0], ephemerals[0]);
    handshake_init(&sides.responder, false, responder_prologue, strlen(responder_prologue),
                   responder_psk, statics[1], ephemerals[1]);
    return sides;
}

static struct sides sides_as_usual(void)
{
    return sides_new("hearsay", swarm_psk, "hearsay", swarm_psk);
}

static struct handshake *sender_of(struct sides *sides, int message)
{
    return message == 2 ? &sides->responder : &sides->initiator;
}

static struct handshake *receiver_of(struct sides *sides, int message)
{
    return message == 2 ? &sides->initiator : &sides->responder;
}

static size_t create(struct sides *sides, int message, uint8_t *out)
{
    size_t bytes;
    size_t payload_bytes = message == 1 ? 0 : NODE_PAYLOAD;
    assert_int_equal(
        handshake_create(sender_of(sides, message), payload_of_node, payload_bytes, out, &bytes),
        OK);
    return bytes;
}

static enum error consume(struct sides *sides, int message, const uint8_t *in, size_t bytes)
{
    uint8_t payload[HANDSHAKE_PAYLOAD_MAX];
    size_t payload_bytes;
    return handshake_consume(receiver_of(sides, message), in, bytes, payload, &payload_bytes);
}

/* Returns both sides after message `message` was created and before it is consumed. */
static struct sides sides_before(struct sides sides, int message, uint8_t *out, size_t *bytes)
{
    for (int m = 1; m < message; m++) {
        *bytes = create(&sides, m, out);
        assert_int_equal(consume(&sides, m, out, *bytes), OK);
    }
    *bytes = create(&sides, message, out);
    return sides;
}

static void assert_dead_and_wiped(const struct handshake *handshake)
{
    struct handshake wiped;
    memset(&wiped, 0, sizeof wiped);
    wiped.state = HANDSHAKE_DEAD;
    assert_memory_equal(handshake, &wiped, sizeof wiped);
}

/* Checks that the receiver rejects the message, writes nothing, and cannot continue. */
static void assert_refused(struct sides sides, int message, const uint8_t *in, size_t bytes)
{
    uint8_t payload[HANDSHAKE_PAYLOAD_MAX];
    uint8_t untouched[HANDSHAKE_PAYLOAD_MAX];
    size_t payload_bytes = 12345;
    memset(payload, 0xAA, sizeof payload);
    memset(untouched, 0xAA, sizeof untouched);
    struct handshake *receiver = receiver_of(&sides, message);
    assert_int_not_equal(handshake_consume(receiver, in, bytes, payload, &payload_bytes), OK);
    assert_int_equal(payload_bytes, 12345);
    assert_memory_equal(payload, untouched, sizeof payload);
    assert_dead_and_wiped(receiver);
    assert_int_equal(handshake_consume(receiver, in, bytes, payload, &payload_bytes), MALFORMED);
    assert_int_equal(handshake_create(receiver, NULL, 0, payload, &payload_bytes), MALFORMED);
}

static struct sides sides_of_vector(const struct noise_vector *vector)
{
    struct sides sides;
    uint8_t prologue[64];
    uint8_t psk[KEY_BYTES];
    uint8_t statics[DH_BYTES];
    uint8_t ephemeral[DH_BYTES];
    size_t prologue_bytes = hex_bytes(prologue, sizeof prologue, vector->prologue);
    if (vector->psk != NULL)
        hex_bytes(psk, sizeof psk, vector->psk);
    hex_bytes(statics, sizeof statics, vector->initiator_static);
    hex_bytes(ephemeral, sizeof ephemeral, vector->initiator_ephemeral);
    handshake_init(&sides.initiator, true, prologue, prologue_bytes,
                   vector->psk != NULL ? psk : NULL, statics, ephemeral);
    hex_bytes(statics, sizeof statics, vector->responder_static);
    hex_bytes(ephemeral, sizeof ephemeral, vector->responder_ephemeral);
    handshake_init(&sides.responder, false, prologue, prologue_bytes,
                   vector->psk != NULL ? psk : NULL, statics, ephemeral);
    return sides;
}

static void check_handshake_messages(const struct noise_vector *vector, struct sides *sides)
{
    for (int m = 1; m <= MESSAGES; m++) {
        uint8_t payload[64];
        uint8_t ciphertext[MESSAGE_BYTES_MAX];
        uint8_t created[MESSAGE_BYTES_MAX];
        uint8_t opened[HANDSHAKE_PAYLOAD_MAX];
        size_t created_bytes;
        size_t opened_bytes;
        size_t payload_bytes = hex_bytes(payload, sizeof payload, vector->messages[m - 1].payload);
        size_t bytes = hex_bytes(ciphertext, sizeof ciphertext, vector->messages[m - 1].ciphertext);
        assert_int_equal(
            handshake_create(sender_of(sides, m), payload, payload_bytes, created, &created_bytes),
            OK);
        assert_int_equal(created_bytes, bytes);
        assert_memory_equal(created, ciphertext, bytes);
        assert_int_equal(
            handshake_consume(receiver_of(sides, m), created, created_bytes, opened, &opened_bytes),
            OK);
        assert_int_equal(opened_bytes, payload_bytes);
        assert_memory_equal(opened, payload, payload_bytes);
    }
}

/* The responder sends first. Each direction counts its own records. */
static void check_transport_messages(const struct noise_vector *vector, struct sides *sides)
{
    uint8_t keys[2][KEY_BYTES];
    uint8_t receive_key[KEY_BYTES];
    handshake_split(&sides->responder, keys[0], receive_key);
    handshake_split(&sides->initiator, keys[1], receive_key);
    for (int m = MESSAGES; m < NOISE_MESSAGES; m++) {
        uint8_t payload[64];
        uint8_t ciphertext[64 + TAG_BYTES];
        uint8_t sealed[64 + TAG_BYTES];
        size_t payload_bytes = hex_bytes(payload, sizeof payload, vector->messages[m].payload);
        size_t bytes = hex_bytes(ciphertext, sizeof ciphertext, vector->messages[m].ciphertext);
        int turn = m - MESSAGES;
        assert_int_equal(bytes, payload_bytes + TAG_BYTES);
        secret_seal(sealed, keys[turn % 2], (uint64_t)turn / 2, NULL, 0, payload, payload_bytes);
        assert_memory_equal(sealed, ciphertext, bytes);
    }
}

static void agrees_with_published_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < noise_vectors_count; i++) {
        const struct noise_vector *vector = &noise_vectors[i];
        uint8_t hash[HASH_BYTES];
        struct sides sides = sides_of_vector(vector);
        check_handshake_messages(vector, &sides);
        hex_bytes(hash, sizeof hash, vector->handshake_hash);
        assert_memory_equal(sides.initiator.hash, hash, HASH_BYTES);
        assert_memory_equal(sides.responder.hash, hash, HASH_BYTES);
        check_transport_messages(vector, &sides);
    }
}

static void both_sides_get_crossed_keys_and_the_other_public_key(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    struct sides sides = sides_before(sides_as_usual(), 3, message, &bytes);
    uint8_t initiator_public[DH_BYTES];
    uint8_t responder_public[DH_BYTES];
    uint8_t keys[4][KEY_BYTES];
    memcpy(initiator_public, sides.initiator.own_public, DH_BYTES);
    memcpy(responder_public, sides.responder.own_public, DH_BYTES);
    assert_int_equal(consume(&sides, 3, message, bytes), OK);
    assert_int_equal(sides.initiator.state, HANDSHAKE_DONE);
    assert_int_equal(sides.responder.state, HANDSHAKE_DONE);
    handshake_split(&sides.initiator, keys[0], keys[1]);
    handshake_split(&sides.responder, keys[2], keys[3]);
    assert_memory_equal(keys[0], keys[3], KEY_BYTES);
    assert_memory_equal(keys[1], keys[2], KEY_BYTES);
    assert_memory_not_equal(keys[0], keys[1], KEY_BYTES);
    assert_memory_equal(sides.initiator.their_public, responder_public, DH_BYTES);
    assert_memory_equal(sides.responder.their_public, initiator_public, DH_BYTES);
    assert_memory_equal(sides.initiator.hash, sides.responder.hash, HASH_BYTES);
}

static void a_split_wipes_all_secrets(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    uint8_t keys[2][KEY_BYTES];
    struct sides sides = sides_before(sides_as_usual(), 3, message, &bytes);
    handshake_split(&sides.initiator, keys[0], keys[1]);
    struct handshake kept;
    memset(&kept, 0, sizeof kept);
    kept.state = HANDSHAKE_DONE;
    kept.initiator = true;
    memcpy(kept.hash, sides.initiator.hash, HASH_BYTES);
    memcpy(kept.their_public, sides.initiator.their_public, DH_BYTES);
    assert_memory_equal(sides.initiator.psk, kept.psk, KEY_BYTES);
    assert_memory_equal(sides.initiator.chaining, kept.chaining, HASH_BYTES);
    assert_memory_equal(sides.initiator.key, kept.key, KEY_BYTES);
    assert_memory_equal(sides.initiator.own_secret, kept.own_secret, DH_BYTES);
    assert_memory_equal(sides.initiator.ephemeral_secret, kept.ephemeral_secret, DH_BYTES);
    assert_int_equal(sides.initiator.state, HANDSHAKE_DONE);
}

static void refuses_every_bit_flip_in_every_message(void **state)
{
    (void)state;
    for (int m = 1; m <= MESSAGES; m++) {
        uint8_t message[MESSAGE_BYTES_MAX];
        size_t bytes;
        struct sides sides = sides_before(sides_as_usual(), m, message, &bytes);
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            message[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_refused(sides, m, message, bytes);
            message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(consume(&sides, m, message, bytes), OK);
    }
}

static void refuses_every_truncation_and_extension_of_every_message(void **state)
{
    (void)state;
    for (int m = 1; m <= MESSAGES; m++) {
        uint8_t message[2 * MESSAGE_BYTES_MAX] = {0};
        size_t bytes;
        struct sides sides = sides_before(sides_as_usual(), m, message, &bytes);
        for (size_t length = 0; length < bytes; length++)
            assert_refused(sides, m, message, length);
        for (size_t length = bytes + 1; length < sizeof message; length++)
            assert_refused(sides, m, message, length);
        assert_int_equal(consume(&sides, m, message, bytes), OK);
    }
}

static void without_a_psk_a_changed_first_message_is_refused_by_the_second(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    struct sides start = sides_new("hearsay", NULL, "hearsay", NULL);
    start = sides_before(start, 1, message, &bytes);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        uint8_t answer[MESSAGE_BYTES_MAX];
        struct sides sides = start;
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(consume(&sides, 1, message, bytes), OK);
        size_t answer_bytes = create(&sides, 2, answer);
        assert_refused(sides, 2, answer, answer_bytes);
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void refuses_another_psk_in_message_3(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    struct sides sides = sides_new("hearsay", swarm_psk, "hearsay", other_psk);
    sides = sides_before(sides, 3, message, &bytes);
    assert_refused(sides, 3, message, bytes);
}

static void refuses_another_prologue_in_message_1(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    struct sides sides = sides_new("hearsay", swarm_psk, "heresay", swarm_psk);
    sides = sides_before(sides, 1, message, &bytes);
    assert_refused(sides, 1, message, bytes);
}

static void does_not_answer_a_low_order_key_in_message_1(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    size_t answer_bytes = 12345;
    struct sides sides = sides_as_usual();
    memcpy(sides.initiator.ephemeral_public, low_order, DH_BYTES);
    sides = sides_before(sides, 1, message, &bytes);
    assert_int_equal(consume(&sides, 1, message, bytes), OK);
    assert_int_equal(handshake_create(&sides.responder, NULL, 0, message, &answer_bytes), FORGED);
    assert_int_equal(answer_bytes, 12345);
    assert_dead_and_wiped(&sides.responder);
}

static void refuses_low_order_keys_in_messages_2_and_3(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    struct sides sides = sides_as_usual();
    memcpy(sides.responder.ephemeral_public, low_order, DH_BYTES);
    sides = sides_before(sides, 2, message, &bytes);
    assert_refused(sides, 2, message, bytes);

    sides = sides_as_usual();
    memcpy(sides.responder.own_public, low_order, DH_BYTES);
    sides = sides_before(sides, 2, message, &bytes);
    assert_refused(sides, 2, message, bytes);

    sides = sides_as_usual();
    memcpy(sides.initiator.own_public, low_order, DH_BYTES);
    sides = sides_before(sides, 3, message, &bytes);
    assert_refused(sides, 3, message, bytes);
}

static void refuses_calls_out_of_turn(void **state)
{
    (void)state;
    uint8_t message[MESSAGE_BYTES_MAX];
    uint8_t out[MESSAGE_BYTES_MAX];
    size_t bytes;
    size_t out_bytes;
    struct sides sides = sides_before(sides_as_usual(), 1, message, &bytes);
    assert_int_equal(handshake_create(&sides.initiator, NULL, 0, out, &out_bytes), MALFORMED);
    assert_dead_and_wiped(&sides.initiator);
    sides = sides_as_usual();
    assert_int_equal(handshake_create(&sides.responder, NULL, 0, out, &out_bytes), MALFORMED);
    sides = sides_as_usual();
    assert_int_equal(handshake_consume(&sides.initiator, message, bytes, out, &out_bytes),
                     MALFORMED);
    sides = sides_before(sides_as_usual(), 3, message, &bytes);
    assert_int_equal(consume(&sides, 3, message, bytes), OK);
    assert_int_equal(handshake_create(&sides.initiator, NULL, 0, out, &out_bytes), MALFORMED);
    assert_int_equal(handshake_consume(&sides.responder, message, bytes, out, &out_bytes),
                     MALFORMED);
}

static void a_message_carries_the_largest_payload(void **state)
{
    (void)state;
    uint8_t payload[HANDSHAKE_PAYLOAD_MAX];
    uint8_t opened[HANDSHAKE_PAYLOAD_MAX];
    uint8_t message[MESSAGE_BYTES_MAX];
    size_t bytes;
    size_t opened_bytes;
    struct sides sides = sides_as_usual();
    memset(payload, 0x5A, sizeof payload);
    assert_int_equal(handshake_create(&sides.initiator, payload, sizeof payload, message, &bytes),
                     OK);
    assert_int_equal(bytes, HANDSHAKE_1_BYTES + HANDSHAKE_PAYLOAD_MAX);
    assert_int_equal(handshake_consume(&sides.responder, message, bytes, opened, &opened_bytes),
                     OK);
    assert_int_equal(opened_bytes, sizeof payload);
    assert_memory_equal(opened, payload, sizeof payload);
}

int main(void)
{
    secret_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_published_vectors),
        cmocka_unit_test(both_sides_get_crossed_keys_and_the_other_public_key),
        cmocka_unit_test(a_split_wipes_all_secrets),
        cmocka_unit_test(refuses_every_bit_flip_in_every_message),
        cmocka_unit_test(refuses_every_truncation_and_extension_of_every_message),
        cmocka_unit_test(without_a_psk_a_changed_first_message_is_refused_by_the_second),
        cmocka_unit_test(refuses_another_psk_in_message_3),
        cmocka_unit_test(refuses_another_prologue_in_message_1),
        cmocka_unit_test(does_not_answer_a_low_order_key_in_message_1),
        cmocka_unit_test(refuses_low_order_keys_in_messages_2_and_3),
        cmocka_unit_test(refuses_calls_out_of_turn),
        cmocka_unit_test(a_message_carries_the_largest_payload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
