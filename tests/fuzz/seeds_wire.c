/* Seeds of harnesses that decode messages of the network. */
#include <stdio.h>
#include <string.h>

#include "frame/bytes.h"
#include "frame/frame.h"
#include "fuzz/seeds.h"
#include "support/base/updates.h"
#include "wire/block.h"
#include "wire/body_codec.h"
#include "wire/message.h"
#include "wire/order.h"
#include "wire/record.h"
#include "wire/rumor.h"
#include "wire/vote.h"

#define UPDATE_ENTRIES   200
#define PROOF_PARAMETERS 100000

static const uint8_t context[CONTEXT_BYTES] = {7};
static const uint8_t seed[SEED_BYTES] = {1};
static uint32_t index_[UPDATE_ENTRIES];
static int8_t level_[UPDATE_ENTRIES];

static void frames(void)
{
    static const size_t sizes[] = {1, 16, 112, 300};
    uint8_t bytes[1024] = {0};
    size_t count = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        frame_head(bytes + count, sizes[i]);
        count += 2 + sizes[i];
    }
    seed_put("frame", "greetings", "\xff\x01", 2, bytes, count);
    seed_put("frame", "too_long", "\x0f\x00", 2, bytes, count);
    seed_put("frame", "cut", "\xff\xff", 2, bytes, count - 1);
}

static void messages(void)
{
    static uint8_t bulk[40] = {1, 2, 3};
    for (uint8_t kind = HELLO; kind < MESSAGE_KINDS; kind++) {
        const struct message message = {.kind = kind,
                                        .incarnation = 1700000000000,
                                        .port = 7770,
                                        .token = 200,
                                        .tag = UINT64_MAX,
                                        .seq = 70000,
                                        .digest = UINT64_MAX - 1,
                                        .count = 8,
                                        .text = {(const uint8_t *)"10.0.0.1", 8},
                                        .learned = {(const uint8_t *)"10.0.0.1", 8},
                                        .entries = {(const uint8_t *)"10.0.0.1", 8},
                                        .bulk = {bulk, sizeof bulk}};
        uint8_t bytes[sizeof bulk + 8 + MESSAGE_ADDS];
        char name[16];
        (void)snprintf(name, sizeof name, "kind_%02u", kind);
        seed_put("message", name, NULL, 0, bytes, message_encode(&message, bytes, sizeof bytes));
    }
}

static void blocks(void)
{
    static const int32_t ones[] = {0, -1, 1, -7, 100};
    static const int32_t ends[] = {INT32_MIN, INT32_MAX, 0};
    static const int32_t zeros[9];
    uint8_t bytes[64];
    seed_put("block", "page", "\x04\x00", 2, bytes, block_encode(ones, 5, bytes));
    seed_put("block", "widest", "\x02\x00", 2, bytes, block_encode(ends, 3, bytes));
    seed_put("block", "zeros", "\x08\x00", 2, bytes, block_encode(zeros, 9, bytes));
}

static void body(const char *name, enum levels levels, double density)
{
    uint8_t head[7] = {0}, bytes[4096];
    struct update update = {.tau = 0.5f, .amount = 4096, .index = index_, .level = level_};
    struct body_plan plan;
    const uint64_t parameters = draw_update(&update, UPDATE_ENTRIES, density, levels, 1);
    body_plan_make(&plan, index_, level_, UPDATE_ENTRIES, sizeof bytes - BITS_TAIL_BYTES);
    bytes_put(head, plan.count - 1, 2);
    bytes_put(head + 2, parameters - 1, 4);
    const size_t count = body_encode(&plan, index_, level_, bytes);
    seed_put("body", name, head, sizeof head, bytes, count);
    char beyond[32]; /* a body whose last entry is beyond the parameters */
    (void)snprintf(beyond, sizeof beyond, "%s_beyond", name);
    bytes_put(head + 2, parameters - 2, 4);
    seed_put("body", beyond, head, sizeof head, bytes, count);
}

static void rumor(const char *name, enum levels levels, double density)
{
    static uint8_t bytes[RUMOR_MAX];
    struct identity identity;
    struct update update = {.tau = 0.5f, .amount = 4096, .index = index_, .level = level_};
    (void)draw_update(&update, UPDATE_ENTRIES, density, levels, 1);
    identity_from_seed(&identity, seed);
    struct rumor_head head = {.incarnation = 1700000000000, .seq = 3, .samples = 64, .prev = {1}};
    memcpy(head.origin, identity.id, ID_BYTES);
    uint32_t taken;
    size_t count;
    rumor_encode(&head, &update, 0, RUMOR_MAX, &identity, context, bytes, &taken, &count);
    seed_put("rumor", name, NULL, 0, bytes, count);
}

static void record(const char *name, const char *host, enum stage stage)
{
    uint8_t bytes[RECORD_BYTES];
    struct identity identity;
    identity_from_seed(&identity, seed);
    struct record record = {.incarnation = 1700000000000,
                            .stamp = 1,
                            .samples = 64,
                            .samples_per_second = 400,
                            .uplink = 1e6f,
                            .renew_ms = 1000,
                            .trains = true,
                            .stage = stage,
                            .address = {.port = 7770}};
    memcpy(record.id, identity.id, ID_BYTES);
    (void)snprintf(record.address.host, sizeof record.address.host, "%s", host);
    record_create(&record, &identity, context, bytes);
    seed_put("record", name, NULL, 0, bytes, sizeof bytes);
}

static void orders(void)
{
    uint8_t bytes[2 * ORDER_BYTES_MAX];
    struct operator_key key;
    struct order order = {
        .number = 1, .kind = ORDER_EXPEL, .reason = "publishes noise", .issued_ms = 1700000000000};
    operator_key_from_seed(&key, seed);
    size_t count = order_create(&order, &key, context, bytes);
    order.number = 2;
    order.pairs_count = 2;
    order.pairs[0] = (struct order_pair){.incarnation = 1, .keep = 3};
    order.pairs[1] = (struct order_pair){.incarnation = 1700000000000, .keep = 1};
    count += order_create(&order, &key, context, bytes + count);
    seed_put("order", "two", NULL, 0, bytes, count);
    order = (struct order){.number = 3,
                           .kind = ORDER_REKEY,
                           .subject = {1},
                           .reason = "a laptop was stolen",
                           .issued_ms = 1700000000000,
                           .until_ms = 1700000604800};
    count = order_create(&order, &key, context, bytes);
    seed_put("order", "rekey", NULL, 0, bytes, count);
}

/* Writes a seed of two heads. `change`: pairs of a position and a new byte of the second head,
 * which begins as a copy of the first. fuzz_proof.c defines the bits of `shape`. */
static void proof(const char *name, uint32_t seq, uint8_t shape, const uint8_t *change,
                  size_t count)
{
    static uint8_t bytes[RUMOR_MAX];
    struct identity identity;
    struct update update = {.tau = 0.5f, .amount = 4096, .index = index_, .level = level_};
    (void)draw_update(&update, UPDATE_ENTRIES, 0.01, LAPLACE, 1);
    identity_from_seed(&identity, seed);
    struct rumor_head head = {
        .incarnation = 1700000000000, .seq = seq, .samples = 64, .prev = {seq > 0}};
    memcpy(head.origin, identity.id, ID_BYTES);
    uint32_t taken;
    size_t rumor_bytes;
    rumor_encode(&head, &update, 0, RUMOR_MAX, &identity, context, bytes, &taken, &rumor_bytes);
    uint8_t start[5 + SIGNED_HEAD_BYTES];
    bytes_put(start, PROOF_PARAMETERS - 1, 4);
    start[4] = shape;
    memcpy(start + 5, bytes, SIGNED_HEAD_BYTES);
    seed_put("proof", name, start, sizeof start, change, count);
}

static void proofs(void)
{
    static const uint8_t other_amount[] = {HEAD_AMOUNT_AT, 77};
    static const uint8_t other_prev[] = {HEAD_PREV_AT, 9, HEAD_AMOUNT_AT, 77};
    static const uint8_t no_prev[] = {HEAD_SEQ_AT, 4};
    static const uint8_t fewer_samples[] = {HEAD_SAMPLES_AT, 1};
    proof("siblings", 3, 1 | 4, other_amount, sizeof other_amount);
    proof("cousins", 3, 1 | 4, other_prev, sizeof other_prev);
    proof("broken_chain", 3, 1, no_prev, sizeof no_prev);
    proof("fewer_samples", 0, 1 | 2, fewer_samples, sizeof fewer_samples);
    proof("follows", 0, 1 | 2, NULL, 0);
    proof("same", 3, 1, NULL, 0);
}

static void vote(const char *name, uint32_t keep)
{
    uint8_t bytes[2 * VOTE_BYTES];
    struct identity identity;
    identity_from_seed(&identity, seed);
    struct vote vote = {.accused = {1}, .incarnation = 1700000000000, .keep = keep};
    memcpy(vote.voter, identity.id, ID_BYTES);
    vote_create(&vote, &identity, context, bytes);
    vote.keep = 7;
    vote_create(&vote, &identity, context, bytes + VOTE_BYTES);
    seed_put("vote", name, NULL, 0, bytes, sizeof bytes);
}

/* Each seed holds both peers' credentials, and for each flight its changes and pieces. */
static void handshakes(void)
{
    static const uint8_t in_pieces[] = {0, 0, 0, 7, 0, 1, 0, 100};
    static const uint8_t changed[] = {0, 0, 0, 0, 0, 0, 1, 9, 0, 255};
    static const uint8_t other_model[] = {160, 0};
    static const uint8_t other_start[] = {160, 9, 1, 0, 0};
    static const uint8_t other_form[] = {160, 9, 2, 3, 'a', '\n', 'b', 0};
    static const uint8_t of_no_form[] = {0, 160, 63, 0, 0};
    static const uint8_t other_certificate[] = {0, 200, 5};
    seed_put("handshake", "in_pieces", NULL, 0, in_pieces, sizeof in_pieces);
    seed_put("handshake", "changed", NULL, 0, changed, sizeof changed);
    seed_put("handshake", "other_model", NULL, 0, other_model, sizeof other_model);
    seed_put("handshake", "other_start", NULL, 0, other_start, sizeof other_start);
    seed_put("handshake", "other_form", NULL, 0, other_form, sizeof other_form);
    seed_put("handshake", "of_no_form", NULL, 0, of_no_form, sizeof of_no_form);
    seed_put("handshake", "other_certificate", NULL, 0, other_certificate,
             sizeof other_certificate);
}

void seeds_wire(void)
{
    secret_start();
    frames();
    messages();
    blocks();
    body("laplace", LAPLACE, 0.1);
    body("ones", ONES, 0.5);
    body("uniform", UNIFORM, 0.01);
    body("two_sides", TWO_SIDES, 0.9);
    rumor("laplace", LAPLACE, 0.01);
    rumor("two_sides", TWO_SIDES, 0.5);
    record("dials", "", STAGE_RUNNING);
    record("address", "192.0.2.1", STAGE_LEAVING);
    record("name", "node1.example.org", STAGE_LEFT);
    record("ipv6", "2001:db8::7", STAGE_SETTLED);
    orders();
    proofs();
    vote("all", 0);
    vote("some", 1u << 28);
    handshakes();
}
