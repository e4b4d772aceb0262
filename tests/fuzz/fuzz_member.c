/* Members that send arbitrary messages after a valid handshake, with valid signatures.
 *
 * The input is a script: each byte is an operation, and the bytes after it are its arguments. A few
 * bytes reach the code behind a HELLO, a claim of a newer version, a base offered block by block,
 * or an operator's order. Whatever the members send, no CHECK of the node fails, every message of
 * the node can be decoded, and its base is the sum that it reports.
 */
#include "fuzz/believe.h"
#include "fuzz/claims.h"
#include "fuzz/play.h"
#include "fuzz/script.h"
#include "node/expulsion_api.h"
#include "node/quarantine_api.h"
#include "node/swarm_keys.h"
#include "wire/equivocation_proof.h"
#include "wire/order.h"
#include "wire/record.h"
#include "wire/rumor.h"
#include "wire/vote.h"

#define OPERATIONS_MAX 64
#define ENTRIES_MAX    8
#define MS_NS          ((uint64_t)1000000)

static struct scene *scenes[2];

static void put_record(const struct member *member, struct record *record,
                       uint8_t out[static RECORD_BYTES])
{
    const uint8_t shape = input_byte(&input);
    memcpy(record->id, member->identity->id, ID_BYTES);
    record->incarnation = member->incarnation;
    record->renew_ms = 1000;
    record->trains = shape & 1;
    record->stage = (shape & 6) == 6 ? input_byte(&input) % STAGES : STAGE_RUNNING;
    if (shape & 8) {
        record->samples = pick();
        record->digest = pick();
        record->samples_per_second = pick_float();
        record->uplink = pick_float();
        record->ingress = pick_float();
        record->lag_ms = (uint32_t)pick();
        record->swarm_samples = pick();
        record->renew_ms = (uint32_t)pick() * 100;
    }
    if (shape & 16)
        record->address = (struct address){.host = "10.0.0.1", .port = (uint16_t)pick()};
    record_create(record, member->identity, scene->context, out);
}

static void say_hello(void)
{
    uint8_t bytes[RECORD_BYTES];
    struct member *member = pick_member();
    const uint8_t shape = input_byte(&input);
    struct record record = {.stamp = ++member->stamp};
    if (shape & 1)
        member->incarnation = pick();
    put_record(member, &record, bytes);
    struct message hello = {.kind = HELLO,
                            .incarnation = member->incarnation,
                            .port = shape & 2 ? pick() : 0,
                            .text = {(const uint8_t *)"10.0.0.9", shape & 4 ? 8 : 0},
                            .bulk = {bytes, RECORD_BYTES}};
    (void)scene_say(scene, member, &hello);
    member->seq = shape & 1 ? 0 : member->seq;
}

/* Sends member records of any members from one member. */
static void say_records(void)
{
    uint8_t bytes[3 * RECORD_BYTES];
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    const size_t count = 1 + shape % 3;
    for (size_t i = 0; i < count; i++) {
        struct member *member = pick_member();
        struct record record = {.stamp = shape & 64 ? pick() : ++member->stamp};
        put_record(member, &record, bytes + i * RECORD_BYTES);
    }
    const struct message message = {.kind = shape & 128 ? MEMBER_LIST : MEMBER_UPDATE,
                                    .bulk = {bytes, count * RECORD_BYTES}};
    (void)scene_say(scene, speaker, &message);
}

static void pick_update(struct update *update, uint8_t shape)
{
    uint32_t at = 0;
    update->tau = 0.5f;
    update->amount = shape & 1 ? 1 + (uint32_t)input_number(&input, 3) % AMOUNT_MAX : 1000;
    update->count = 1 + (shape >> 1) % ENTRIES_MAX;
    for (uint32_t i = 0; i < update->count; i++) {
        const uint8_t byte = input_byte(&input);
        update->index[i] = at += 1 + byte % 100;
        update->level[i] = (int8_t)((byte & 1 ? 1 : -1) * (1 + byte / 2 % LEVEL_MAX));
    }
}

static void say_rumor(void)
{
    static uint8_t bytes[RUMOR_MAX];
    uint32_t index[ENTRIES_MAX], taken;
    int8_t level[ENTRIES_MAX];
    struct update update = {.index = index, .level = level};
    struct member *speaker = pick_member(), *origin = pick_member();
    const uint8_t shape = input_byte(&input);
    struct rumor_head head = {.incarnation = origin->incarnation, .seq = origin->seq};
    size_t count;
    if ((shape & 96) == 96)
        head.seq = (uint32_t)pick();
    else
        origin->seq++;
    if (shape & 128)
        head.samples = pick() >> (64 - 8 * HEAD_SAMPLES_BYTES);
    memcpy(head.origin, origin->identity->id, ID_BYTES);
    if (head.seq > 0) {
        static const uint8_t none[HEAD_HASH_BYTES];
        memcpy(head.prev, origin->prev, sizeof head.prev);
        /* a predecessor's hash is not zero */
        head.prev[0] |= memcmp(head.prev, none, sizeof none) == 0;
    }
    pick_update(&update, shape);
    rumor_encode(&head, &update, 0, RUMOR_MAX, origin->identity, scene->context, bytes, &taken,
                 &count);
    struct signed_head made;
    rumor_signed_head(bytes, count, scene->context, &made);
    if ((shape & 96) != 96)
        remember_head(origin, &made);
    (void)scene_say(scene, speaker, &(struct message){.kind = RUMOR, .bulk = {bytes, count}});
}

/* Sends a proof of equivocation: two heads of one stream with the same number, or with consecutive
 * numbers of which the second does not continue the first. For some inputs the proof is false: the
 * second head is of another member or incarnation. The node must refuse it. */
static void say_proof(void)
{
    uint8_t bytes[PROOF_BYTES];
    struct signed_head one, other;
    struct member *speaker = pick_member(), *author = pick_member();
    const uint8_t shape = input_byte(&input);
    const bool is_false = shape & 2;
    const uint32_t seq = (uint32_t)pick(), known = node_proofs_changes(scene->node);
    make_head(&one, author->identity->id, author->incarnation, seq, 1);
    make_head(&other, author->identity->id, author->incarnation, seq + (shape & 1), 2);
    if (proof_create(&one, &other, SCENE_PARAMETERS, bytes) != OK)
        return;
    if (is_false)
        bytes[SIGNED_HEAD_BYTES + pick() % HEAD_SEQ_AT] ^= (uint8_t)(1 + shape % 255);
    const struct message proof = {
        .kind = PROOF, .hash = shape & 4 ? pick() : 1, .bulk = {bytes, sizeof bytes}};
    (void)scene_say(scene, speaker, &proof);
    CHECK(!is_false || node_proofs_changes(scene->node) == known);
}

/* Sends votes of any members against one member or against the node. */
static void say_votes(void)
{
    uint8_t bytes[3 * VOTE_BYTES];
    struct member *speaker = pick_member(), *accused = pick_member();
    const uint8_t shape = input_byte(&input);
    const struct identity *whom = shape & 1 ? scene->options.identity : accused->identity;
    size_t count = 0;
    for (uint32_t i = 0; i < 1 + shape / 2u % 3; i++) {
        struct member *voter = pick_member();
        struct vote vote = {.incarnation = accused->incarnation,
                            .keep = shape & 16 ? (uint32_t)pick() % 100 : 0};
        memcpy(vote.accused, whom->id, ID_BYTES);
        memcpy(vote.voter, voter->identity->id, ID_BYTES);
        if (voter->identity == whom)
            continue;
        vote_create(&vote, voter->identity, scene->context, bytes + count);
        count += VOTE_BYTES;
    }
    if (shape & 32 && count > 0)
        bytes[pick() % count] ^= (uint8_t)(1 + shape % 255);
    const struct message votes = {
        .kind = VOTES, .hash = shape & 64 ? pick() : 1, .bulk = {bytes, count}};
    (void)scene_say(scene, speaker, &votes);
}

/* Makes one of three swarm keys. */
static void make_key(uint8_t key[static KEY_BYTES], uint8_t which)
{
    memset(key, 0, KEY_BYTES);
    key[0] = (uint8_t)(1 + which % 3);
}

/* Makes an order for a new key. For some inputs the previous key is the same key, which makes the
 * order invalid. */
static void put_keys(struct order *order, uint8_t shape)
{
    uint8_t key[KEY_BYTES];
    make_key(key, shape >> 1 & 7);
    swarm_key_hash(order->subject, key);
    make_key(key, shape >> 4 & 3);
    swarm_key_hash(order->before, key);
    order->until_ms = pick();
}

/* Makes an operator's order to expel or admit a member or the node, or for a new key. Returns the
 * order's size in bytes. */
static size_t make_order(uint8_t out[static ORDER_BYTES_MAX])
{
    const uint8_t shape = input_byte(&input);
    struct order order = {.number = shape & 1 ? pick() : node_orders_count(scene->node) + 1u,
                          .reason = "harms",
                          .issued_ms = 1};
    order.kind = shape & 128 ? ORDER_REKEY : shape & 64 ? ORDER_ADMIT : ORDER_EXPEL;
    memcpy(order.subject, scene_identity((shape >> 1 & 31) % (SCENE_MEMBERS + 1))->id, ID_BYTES);
    order.pairs_count = order.kind == ORDER_EXPEL ? shape >> 4 & 3 : 0;
    if (order.kind == ORDER_REKEY)
        put_keys(&order, shape);
    for (uint32_t i = 0; i < order.pairs_count; i++)
        order.pairs[i] = (struct order_pair){.incarnation = i == 0 ? pick() : i * 1000,
                                             .keep = (uint32_t)pick()};
    return order_create(&order, scene_operator(), scene->context, out);
}

static void say_orders(void)
{
    uint8_t bytes[2 * ORDER_BYTES_MAX];
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    size_t count = make_order(bytes);
    if (shape & 1)
        count += make_order(bytes + count);
    const struct message message = {
        .kind = ORDERS, .number = shape & 2 ? pick() : 1, .bulk = {bytes, shape & 4 ? 0 : count}};
    (void)scene_say(scene, speaker, &message);
}

static void give_order(void)
{
    uint8_t bytes[ORDER_BYTES_MAX];
    struct problem problem = {""};
    const size_t count = make_order(bytes);
    const enum error error = node_on_order(scene->node, scene->now_ns, bytes, count, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    scene_run(scene);
}

static void say_key(void)
{
    uint8_t key[KEY_BYTES];
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    make_key(key, shape & 3);
    const struct message message = {.kind = SWARM_KEY,
                                    .number = shape & 4 ? pick() : node_orders_count(scene->node),
                                    .bulk = {key, shape & 8 ? 0 : KEY_BYTES - (shape >> 4 & 1)}};
    (void)scene_say(scene, speaker, &message);
}

static void give_key(void)
{
    uint8_t key[KEY_BYTES];
    struct problem problem = {""};
    make_key(key, input_byte(&input));
    const enum error error = node_on_swarm_key(scene->node, scene->now_ns, key, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    scene_run(scene);
}

/* Sends a message of any kind with any numbers and any bytes. */
static void say_anything(void)
{
    struct member *speaker = pick_member();
    struct message message = {.kind = HELLO + input_byte(&input) % (MESSAGE_KINDS - 1)};
    uint64_t *const numbers[] = {&message.tag, &message.seq, &message.part, &message.reason};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = pick();
    message.token = message.incarnation = message.digest = message.received = message.block =
        message.number = message.tag;
    message.port = message.hash = message.count = message.clock = message.seq;
    message.rumors = message.held = message.part;
    message.members = message.most = message.parts = message.reason;
    message.base = message.whole = message.reason & 1;
    message.text.at = input_bytes(&input, input_byte(&input) % 64, &message.text.count);
    message.learned = message.entries = message.text;
    message.bulk.at = input_bytes(&input, input_byte(&input), &message.bulk.count);
    (void)scene_say(scene, speaker, &message);
}

static void shout(void)
{
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    size_t count;
    const uint8_t *bytes = input_bytes(&input, shape / 2, &count);
    if (shape & 1)
        (void)scene_shout(scene, speaker, bytes, count);
    else
        scene_send_raw(scene, speaker, bytes, count);
}

static void call(void)
{
    scene_call(scene, pick_member());
}

/* A caller in one of four networks sends some bytes and then waits. */
static void wait_unauthenticated(void)
{
    const uint8_t shape = input_byte(&input);
    size_t count;
    const uint8_t *bytes = input_bytes(&input, shape / 4, &count);
    scene_wait_unauthenticated(scene, shape % 4, bytes, count);
}

static void hang_up(void)
{
    scene_close(scene, pick_member());
}

/* Lets 1 ms to 20 s pass. */
static void pass(void)
{
    static const uint16_t spans_ms[] = {1, 30, 300, 1000, 1000, 3000, 3000, 5000};
    const uint8_t shape = input_byte(&input);
    scene_pass(scene, spans_ms[shape % 8] * MS_NS * (1 + shape / 64));
}

static void step(void)
{
    const uint8_t steps = input_byte(&input);
    scene_step(scene, 1 + steps % 16, steps & 128 ? input_number(&input, 3) : 32);
}

static void set_stepping(void)
{
    scene_set_stepping(scene, !scene->is_stepping);
}

static void leave(void)
{
    if (!node_is_leaving(scene->node))
        node_leave(scene->node, scene->now_ns);
    scene_run(scene);
}

static void change_manners(void)
{
    struct member *member = pick_member();
    if (input_byte(&input) & 1)
        member->is_silent = !member->is_silent;
    else
        scene->refuses_calls = !scene->refuses_calls;
}

static void (*const OPERATIONS[SCRIPT_OPERATIONS])(void) = {
    [SAY_HELLO] = say_hello,
    [SAY_RECORDS] = say_records,
    [SAY_RUMOR] = say_rumor,
    [MAKE_CLAIM] = make_claim,
    [SAY_VERSION] = say_version,
    [SAY_HISTORY] = say_history,
    [SAY_BLOCKS] = say_blocks,
    [SAY_ORDERS] = say_orders,
    [SAY_PROOF] = say_proof,
    [SAY_HEADS] = say_heads,
    [GIVE_ORDER] = give_order,
    [SAY_ANYTHING] = say_anything,
    [SHOUT] = shout,
    [CALL] = call,
    [STAND_AT_DOOR] = wait_unauthenticated,
    [HANG_UP] = hang_up,
    [PASS] = pass,
    [MAKE_STEPS] = step,
    [SET_STEPPING] = set_stepping,
    [LEAVE] = leave,
    [CHANGE_MANNERS] = change_manners,
    [SAY_KEY] = say_key,
    [GIVE_KEY] = give_key,
    [SAY_VOTES] = say_votes,
};

/* Makes a scene of a training node, 14 s after its start, with two neighbours. The other members
 * have sent no HELLO. */
static struct scene *settled(void)
{
    static const uint8_t script[] = {0, 0, 1, 1, 0, 1};
    scene = scene_new(false);
    input = (struct input){script, sizeof script};
    say_hello();
    say_hello();
    scene_pass(scene, 12000 * MS_NS);
    scene_step(scene, 8, 256);
    scene_pass(scene, 2000 * MS_NS);
    return scene;
}

void fuzz_begin(void)
{
    secret_start();
    believe_signatures();
    scenes[0] = settled();
    scenes[1] = scene_new(true);
    for (int i = 0; i < 2; i++)
        scene_keep(scenes[i]);
}

/* The first byte chooses the scene: a node that trains, or one that has just started. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    input = (struct input){data, bytes};
    scene = scenes[input_byte(&input) & 1];
    claims_begin();
    for (int i = 0; i < OPERATIONS_MAX && input.left > 0 && !scene->is_over; i++) {
        OPERATIONS[input_byte(&input) % SCRIPT_OPERATIONS]();
        scene_check(scene);
    }
    scene_undo(scene);
}
