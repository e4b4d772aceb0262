/* The code produces the test vectors of net/README.md, on which other implementations rely. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"
#include "crypto/gate.h"
#include "crypto/handshake.h"
#include "crypto/identity.h"
#include "crypto/session.h"
#include "frame/bytes.h"
#include "wire/block.h"
#include "wire/message.h"
#include "wire/order.h"
#include "wire/record.h"
#include "wire/rumor.h"

#define PAGE_MAX    (1 << 20)
#define INCARNATION 1700000000000u
#define TAG         0xc18c79057e785dbdu /* tag of the caller's incarnation, as on the page */
#define DIGEST      0x60454e9bf2ac41dfu /* digest of the block's entries */

static char page[PAGE_MAX]; /* net/README.md without whitespace */

/* The identities and the introduction of the page's vectors. */
static struct identity caller, called;
static struct introduction introduction;
static uint8_t swarm_key[KEY_BYTES], prologue[INTRODUCTION_BYTES], context[CONTEXT_BYTES];

static void count_up(uint8_t out[static 32], uint8_t from)
{
    for (uint8_t i = 0; i < 32; i++)
        out[i] = (uint8_t)(from + i);
}

static int set_up(void **state)
{
    (void)state;
    uint8_t seed[SEED_BYTES];
    secret_start();
    count_up(swarm_key, 0x00);
    count_up(seed, 0x20);
    identity_from_seed(&caller, seed);
    count_up(seed, 0x40);
    identity_from_seed(&called, seed);
    introduction_make(&introduction, "hearsay", "1x1x2: dense 8, tanh, dense 2; seed 1", 42);
    introduction_prologue(prologue, &introduction, 11);
    introduction_context(context, &introduction);

    FILE *file = fopen(PROTOCOL_PAGE, "r");
    assert_non_null(file);
    size_t length = 0;
    for (int c = fgetc(file); c != EOF && length < PAGE_MAX - 1; c = fgetc(file))
        if (c != ' ' && c != '\n')
            page[length++] = (char)c;
    return fclose(file);
}

/* Checks that the page shows these bytes in hex. */
static void assert_shown(const void *bytes, size_t count)
{
    static char hex[2 * RUMOR_MAX + 1];
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", at[i]);
    if (!strstr(page, hex))
        fail_msg("the page does not show %s", hex);
}

static void assert_number_shown(uint64_t number)
{
    char hex[17];
    (void)snprintf(hex, sizeof hex, "%016llx", (unsigned long long)number);
    if (!strstr(page, hex))
        fail_msg("the page does not show %s", hex);
}

static void keys_match_the_page(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate, swarm_key, &introduction);
    assert_shown(caller.id, ID_BYTES);
    assert_shown(caller.noise_secret, DH_BYTES);
    assert_shown(caller.noise_public, DH_BYTES);
    assert_shown(caller.certificate + ID_BYTES, SIGNATURE_BYTES);
    assert_shown(called.id, ID_BYTES);
    assert_shown(called.noise_public, DH_BYTES);
    assert_shown(gate.key, KEY_BYTES);
    assert_shown(prologue, INTRODUCTION_BYTES);
    assert_shown(context, CONTEXT_BYTES);
}

/* Runs both sides' handshakes up to the session keys. */
static void handshake_and_first_record_match_the_page(void **state)
{
    (void)state;
    struct gate gate;
    struct handshake ours, theirs;
    uint8_t psk[KEY_BYTES], ephemeral[DH_BYTES], sealed_gate[GATE_BYTES];
    uint8_t message[512], payload[HANDSHAKE_PAYLOAD_MAX], send_key[KEY_BYTES],
        receive_key[KEY_BYTES];
    size_t bytes, payload_bytes;
    gate_init(&gate, swarm_key, &introduction);
    secret_blake2b(psk, KEY_BYTES, "hearsay psk", 11, swarm_key, KEY_BYTES);
    count_up(ephemeral, 0x60);
    handshake_init(&ours, true, prologue, sizeof prologue, psk, caller.noise_secret, ephemeral);
    count_up(ephemeral, 0x80);
    handshake_init(&theirs, false, prologue, sizeof prologue, psk, called.noise_secret, ephemeral);
    assert_shown(psk, KEY_BYTES);
    assert_shown(ours.hash, HASH_BYTES);

    assert_int_equal(handshake_create(&ours, NULL, 0, message, &bytes), OK);
    assert_shown(message, bytes);
    gate_create(&gate, sealed_gate, message, bytes);
    assert_shown(sealed_gate, GATE_BYTES);
    assert_int_equal(handshake_consume(&theirs, message, bytes, payload, &payload_bytes), OK);
    memcpy(payload, called.certificate, CERTIFICATE_BYTES);
    bytes_put(payload + CERTIFICATE_BYTES, 12, 2);
    assert_int_equal(handshake_create(&theirs, payload, CERTIFICATE_BYTES + 2, message, &bytes),
                     OK);
    assert_shown(message, bytes);
    assert_int_equal(handshake_consume(&ours, message, bytes, payload, &payload_bytes), OK);
    assert_int_equal(
        handshake_create(&ours, caller.certificate, CERTIFICATE_BYTES, message, &bytes), OK);
    assert_shown(message, bytes);
    handshake_split(&ours, send_key, receive_key);
    assert_shown(send_key, KEY_BYTES);
    assert_shown(receive_key, KEY_BYTES);

    struct session session;
    uint8_t record[64];
    session_init(&session, send_key, receive_key);
    bytes = message_encode(&(struct message){.kind = PING, .token = 1000}, message, sizeof message);
    assert_shown(message, bytes);
    session_seal(&session, message, bytes, record);
    assert_shown(record, bytes + RECORD_OVERHEAD);
}

/* The page's nonce was drawn from this seed. */
static void the_refusal_matches_the_page(void **state)
{
    (void)state;
    struct gate gate;
    struct entropy entropy;
    uint8_t seed[SEED_BYTES], ephemeral[DH_BYTES], public_key[DH_BYTES], refusal[REFUSAL_BYTES];
    gate_init(&gate, swarm_key, &introduction);
    count_up(seed, 0x80);
    entropy_from_seed(&entropy, seed);
    count_up(ephemeral, 0x60);
    secret_dh_public(public_key, ephemeral);
    refusal_create(&gate, &entropy, public_key, refusal);
    assert_shown(refusal, REFUSAL_BYTES);
}

static void assert_message_shown(const struct message *message)
{
    uint8_t out[RECORD_BYTES + MESSAGE_ADDS];
    assert_shown(out, message_encode(message, out, sizeof out));
}

static void messages_match_the_page(void **state)
{
    (void)state;
    assert_message_shown(&(struct message){.kind = TAKE});
    assert_message_shown(&(struct message){.kind = WANT, .tag = TAG, .seq = 3});
    assert_message_shown(&(struct message){
        .kind = BYE, .reason = BYE_LEAVING, .text = {(const uint8_t *)"so long", 7}});
    assert_message_shown(
        &(struct message){.kind = VERSION, .digest = DIGEST, .members = 2, .whole = 1});
}

static void record_and_hello_match_the_page(void **state)
{
    (void)state;
    struct record record = {
        .incarnation = INCARNATION, .stamp = 1, .samples = 64, .digest = DIGEST, .renew_ms = 1000};
    uint8_t bytes[RECORD_BYTES], hello[RECORD_BYTES + MESSAGE_ADDS];
    memcpy(record.id, caller.id, ID_BYTES);
    record_create(&record, &caller, context, bytes);
    const struct message message = {.kind = HELLO,
                                    .incarnation = INCARNATION,
                                    .text = {(const uint8_t *)"127.0.0.1", 9},
                                    .bulk = {bytes, sizeof bytes}};
    const size_t head = message_encode(&message, hello, sizeof hello) - RECORD_BYTES;
    assert_shown(hello, head + ID_BYTES);
    assert_shown(bytes + 32, 24); /* incarnation, stamp, samples */
    assert_shown(bytes + 56, 20); /* all fields from digest to trains */
    assert_shown(bytes + RECORD_BYTES - SIGNATURE_BYTES, ID_BYTES);
    assert_shown(bytes + RECORD_BYTES - ID_BYTES, ID_BYTES);
}

static void rumor_and_digest_match_the_page(void **state)
{
    (void)state;
    uint32_t index[] = {0, 3, 7, 20, 41};
    int8_t level[] = {1, -2, 1, 3, -1};
    const struct update update = {
        .tau = 0.001f, .amount = 4096, .count = 5, .index = index, .level = level};
    struct rumor_head head = {.incarnation = INCARNATION, .samples = 64};
    static uint8_t rumor[RUMOR_MAX];
    uint32_t taken;
    size_t bytes;
    memcpy(head.origin, caller.id, ID_BYTES);
    rumor_encode(&head, &update, 0, RUMOR_MAX, &caller, context, rumor, &taken, &bytes);
    assert_int_equal(taken, 5);
    assert_shown(rumor + 32, 24); /* all fields from incarnation to samples */
    assert_shown(rumor + 56, 8);  /* tau, amount */
    assert_shown(rumor + HEAD_PREV_AT, HEAD_HASH_BYTES);
    assert_shown(rumor + HEAD_BODY_AT, HEAD_HASH_BYTES);
    assert_shown(rumor + HEAD_BYTES, bytes - HEAD_BYTES - SIGNATURE_BYTES);
    assert_shown(rumor + bytes - SIGNATURE_BYTES, 32);
    assert_shown(rumor + bytes - 32, 32);
    struct signed_head head_of_it;
    rumor_signed_head(rumor, bytes, context, &head_of_it);
    assert_shown(head_of_it.hash, HEAD_HASH_BYTES);
    assert_number_shown(digest_of_update(&update));
    for (uint32_t i = 0; i < 5; i++) {
        assert_number_shown(digest_hash(index[i]));
        assert_number_shown(digest_of_entry(index[i], (uint32_t)(level[i] * 4096)));
    }
}

static void block_and_digest_match_the_page(void **state)
{
    (void)state;
    const int32_t units[] = {0, -1, 1, -7, 100};
    uint8_t block[BLOCK_MAX];
    uint64_t digest = 0;
    assert_shown(block, block_encode(units, 5, block));
    for (uint32_t i = 0; i < 5; i++)
        digest = digest_add(digest, digest_of_entry(i, (uint32_t)units[i]));
    assert_int_equal(digest, DIGEST);
    assert_number_shown(digest);
}

static void an_order_matches_the_page(void **state)
{
    (void)state;
    uint8_t seed[SEED_BYTES], bytes[ORDER_BYTES_MAX];
    struct operator_key operator_key;
    struct order order = {.number = 1,
                          .kind = ORDER_EXPEL,
                          .issued_ms = INCARNATION,
                          .reason = "publishes noise",
                          .pairs_count = 1,
                          .pairs = {{.incarnation = INCARNATION, .keep = 3}}};
    count_up(seed, 0xa0);
    operator_key_from_seed(&operator_key, seed);
    memcpy(order.subject, called.id, ID_BYTES);
    assert_shown(operator_key.id, ID_BYTES);
    const size_t count = order_create(&order, &operator_key, context, bytes);
    assert_int_equal(count, ORDER_HEAD_BYTES + ORDER_PAIR_BYTES + SIGNATURE_BYTES);
    assert_shown(bytes, 10); /* number, kind, pairs */
    assert_shown(bytes + 10, ID_BYTES);
    assert_shown(bytes + 42, 8); /* issued */
    assert_shown(bytes + 50, strlen(order.reason));
    assert_shown(bytes + ORDER_HEAD_BYTES, ORDER_PAIR_BYTES);
    assert_shown(bytes + count - SIGNATURE_BYTES, 32);
    assert_shown(bytes + count - 32, 32);
}

static void a_rekey_order_matches_the_page(void **state)
{
    (void)state;
    uint8_t seed[SEED_BYTES], key[KEY_BYTES], bytes[ORDER_BYTES_MAX];
    struct operator_key operator_key;
    struct order order = {.number = 2,
                          .kind = ORDER_REKEY,
                          .issued_ms = INCARNATION,
                          .reason = "a laptop was stolen",
                          .until_ms = INCARNATION + 604800000};
    count_up(seed, 0xa0);
    count_up(key, 0xc0);
    operator_key_from_seed(&operator_key, seed);
    swarm_key_hash(order.subject, key);
    swarm_key_hash(order.before, swarm_key);
    const size_t count = order_create(&order, &operator_key, context, bytes);
    assert_int_equal(count, ORDER_HEAD_BYTES + ORDER_REKEY_BYTES + SIGNATURE_BYTES);
    assert_shown(bytes, 10);              /* number, kind, pairs */
    assert_shown(bytes + 10, HASH_BYTES); /* hash of the new key */
    assert_shown(bytes + 42, 8);          /* issued */
    assert_shown(bytes + 50, strlen(order.reason));
    assert_shown(bytes + ORDER_HEAD_BYTES, 8); /* until */
    assert_shown(bytes + ORDER_HEAD_BYTES + 8, HASH_BYTES);
    assert_shown(bytes + count - SIGNATURE_BYTES, 32);
    assert_shown(bytes + count - 32, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_match_the_page),
        cmocka_unit_test(handshake_and_first_record_match_the_page),
        cmocka_unit_test(the_refusal_matches_the_page),
        cmocka_unit_test(messages_match_the_page),
        cmocka_unit_test(record_and_hello_match_the_page),
        cmocka_unit_test(rumor_and_digest_match_the_page),
        cmocka_unit_test(block_and_digest_match_the_page),
        cmocka_unit_test(an_order_matches_the_page),
        cmocka_unit_test(a_rekey_order_matches_the_page),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
