/* Members that say anything: behind a valid handshake, with signatures that hold.
 *
 * The input is a script: each byte is an operation, the next ones its arguments. So what lies
 * behind a HELLO, a claim to know more, a base that is offered block by block or an order of the
 * operator is reached by a few bytes, and changing one of them changes one thing. Whatever the
 * members do, no CHECK of the node fails, all that it says can be read, and its base is the sum
 * that it says. */
#include "fuzz/believe.h"
#include "fuzz/fuzz.h"
#include "fuzz/scene.h"
#include "fuzz/script.h"

#include "base/digest.h"
#include "node/broadcast/history.h"
#include "node/broadcast/version.h"
#include "node/put_out.h"
#include "wire/block.h"
#include "wire/bytes.h"
#include "wire/order.h"
#include "wire/proof.h"
#include "wire/record.h"
#include "wire/rumor.h"

#define OPERATIONS_MAX 64
#define CLAIMS_MAX     6
#define ENTRIES_MAX    8
#define MILLI_NS       ((uint64_t)1000000)

/* The version and base that the members say they have, if they say so at all. A node takes their
 * word that a base is the sum of its rumors, so where they lie it believes a false digest. */
static bool is_lie;
static struct claim {
    uint32_t count;
    struct signed_head heads[CLAIMS_MAX]; /* of the last rumor of each origin */
    uint64_t tags[CLAIMS_MAX];
    uint32_t factor; /* unit i of the base is factor · i */
} claim;

static struct scene *scenes[2];
static struct scene *scene;
static struct input input;
static uint8_t version_bytes[CLAIMS_MAX * VERSION_ENTRY_BYTES];

static struct member *pick_member(void)
{
    return &scene->members[input_byte(&input) % SCENE_MEMBERS];
}

/* A number: mostly small, or one that means something to the node, or any. */
static uint64_t pick(void)
{
    struct node_stats stats;
    const uint8_t choice = input_byte(&input);
    if (choice < 192)
        return choice;
    node_stats(scene->node, scene->now_ns, &stats);
    switch (choice % 16) {
    case 0:
        return UINT64_MAX;
    case 1:
        return (uint64_t)1 << 32;
    case 2:
        return stats.digest;
    case 3:
        return stats.version_hash;
    case 4:
        return stats.version;
    case 5:
        return scene->now_ns / 1000;
    case 6:
    case 7:
        return origin_tag(scene_identity(SCENE_MEMBERS)->id, node_incarnation(scene->node));
    case 8:
    case 9:
    case 10:
    case 11:
        return origin_tag(scene_identity(choice % 4)->id, scene->members[choice % 4].incarnation);
    case 12:
        return input_number(&input, 2);
    case 13:
        return input_number(&input, 4);
    default:
        return input_number(&input, 8);
    }
}

static float pick_float(void)
{
    const uint32_t bits = (uint32_t)input_number(&input, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Records. */

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

/* Of any members, said by one of them. */
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

/* Rumors. */

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

/* The next rumor of that origin follows this head. */
static void remember_head(struct member *origin, const struct signed_head *head)
{
    memcpy(origin->prev, head->hash, sizeof origin->prev);
    origin->seq = signed_head_seq(head) + 1;
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
        head.samples = pick();
    memcpy(head.origin, origin->identity->id, ID_BYTES);
    if (head.seq > 0) {
        static const uint8_t none[HEAD_HASH_BYTES];
        memcpy(head.prev, origin->prev, sizeof head.prev);
        head.prev[0] |= memcmp(head.prev, none, sizeof none) == 0; /* it must name one */
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

/* Versions and bases. */

/* A head of that number, which its origin has signed: signatures hold. */
static void make_head(struct signed_head *head, const uint8_t *id, uint64_t incarnation,
                      uint32_t seq, uint64_t samples)
{
    uint8_t bytes[SIGNED_HEAD_BYTES] = {0};
    memcpy(bytes, id, ID_BYTES);
    bytes_put(bytes + HEAD_INCARNATION_AT, incarnation, 8);
    bytes_put(bytes + HEAD_SEQ_AT, seq, 4);
    bytes_put(bytes + HEAD_COUNT_AT, 1, 4);
    bytes_put(bytes + HEAD_SAMPLES_AT, samples, 8);
    bytes_put_float(bytes + HEAD_TAU_AT, 0.5f);
    bytes_put(bytes + HEAD_AMOUNT_AT, 1000, 4);
    bytes[HEAD_PREV_AT] = seq > 0;
    signed_head_read(head, bytes, scene->context);
}

static void make_claim(void)
{
    is_lie = is_lie || node_bases(scene->node) > 0; /* no longer what they gave it */
    claim.count = input_byte(&input) % (CLAIMS_MAX + 1);
    claim.factor = input_byte(&input);
    for (uint32_t i = 0; i < claim.count; i++) {
        const uint8_t who = input_byte(&input);
        const uint8_t *id = scene_identity(who % (SCENE_MEMBERS + 1))->id;
        struct member *member = &scene->members[who % SCENE_MEMBERS];
        const uint64_t incarnation = who & 128  ? pick()
                                     : who < 64 ? member->incarnation
                                                : node_incarnation(scene->node);
        const uint32_t next = (uint32_t)pick();
        make_head(&claim.heads[i], id, incarnation, next > 0 ? next - 1 : 0, pick());
        claim.tags[i] = origin_tag(id, incarnation);
        if (who & 32) /* its next rumor follows */
            remember_head(member, &claim.heads[i]);
    }
}

static size_t put_version(uint8_t *out)
{
    for (uint32_t i = 0; i < claim.count; i++)
        version_entry_put(out + i * VERSION_ENTRY_BYTES, claim.tags[i],
                          signed_head_seq(&claim.heads[i]) + 1, claim.heads[i].hash);
    return claim.count * VERSION_ENTRY_BYTES;
}

static size_t put_heads(uint8_t *out)
{
    for (uint32_t i = 0; i < claim.count; i++)
        memcpy(out + i * SIGNED_HEAD_BYTES, claim.heads[i].bytes, SIGNED_HEAD_BYTES);
    return claim.count * SIGNED_HEAD_BYTES;
}

static uint64_t claimed_digest(void)
{
    uint64_t digest = 0;
    for (uint32_t i = 0; i < SCENE_PARAMETERS; i++)
        digest = digest_add(digest, digest_of_entry(i, claim.factor * i));
    return digest;
}

/* Bits of the shape: what is told of the claim as it is, and what is made up. */
static void say_version(void)
{
    uint8_t learned[CLAIMS_MAX * LEARNED_BYTES];
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    const size_t bytes = put_version(version_bytes);
    for (uint32_t i = 0; i < claim.count; i++) {
        const struct learned of = {.samples = signed_head_samples(&claim.heads[i]),
                                   .rate = shape & 1};
        learned_put(learned + i * LEARNED_BYTES, &of);
    }
    struct message version = {.kind = VERSION,
                              .digest = shape & 2 ? pick() : claimed_digest(),
                              .hash = shape & 4 ? pick() : entries_hash(version_bytes, claim.count),
                              .rumors = shape & 8 ? pick() : 200,
                              .members = shape & 16 ? pick() : 5,
                              .base = shape >> 5 & 1,
                              .whole = shape >> 6 & 1,
                              .bulk = {version_bytes, bytes}};
    if (version.whole)
        version.text = (struct bytes){learned, claim.count * LEARNED_BYTES};
    (void)scene_say(scene, speaker, &version);
}

static void say_history(void)
{
    uint8_t bytes[CLAIMS_MAX * HISTORY_ENTRY_BYTES];
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    is_lie = is_lie || (shape & 7) != 0;
    const size_t count = put_heads(bytes);
    const struct message history = {.kind = HISTORY,
                                    .digest = shape & 1 ? pick() : claimed_digest(),
                                    .part = shape & 2 ? pick() : 0,
                                    .parts = shape & 4 ? pick() : 1,
                                    .bulk = {bytes, count}};
    (void)scene_say(scene, speaker, &history);
}

static void say_block(struct member *speaker, uint64_t block, uint8_t shape)
{
    int32_t units[SCENE_BLOCK_ENTRIES];
    uint8_t bytes[BLOCK_MAX];
    for (uint32_t i = 0; i < SCENE_BLOCK_ENTRIES; i++)
        units[i] = (int32_t)(claim.factor * ((uint32_t)block * SCENE_BLOCK_ENTRIES + i));
    const size_t entries = put_version(version_bytes);
    const size_t count = block_encode(units, SCENE_BLOCK_ENTRIES, bytes);
    const struct message message = {.kind = BLOCK,
                                    .block = block,
                                    .hash = shape & 1 ? pick()
                                                      : entries_hash(version_bytes, claim.count),
                                    .text = {version_bytes, shape & 2 ? 0 : entries},
                                    .bulk = {bytes, shape & 4 ? 0 : count}};
    (void)scene_say(scene, speaker, &message);
}

/* One block, or all that this member was last asked for. */
static void say_blocks(void)
{
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    const struct message *asked = &speaker->last[FETCH];
    is_lie = is_lie || (shape & 3) != 0;
    if (shape & 128) {
        say_block(speaker, pick(), shape);
        return;
    }
    const uint64_t first = asked->block, count = speaker->heard[FETCH] > 0 ? asked->count : 0;
    for (uint64_t i = 0; i < count && i < 8; i++)
        say_block(speaker, first + i, shape);
}

/* Of one stream two heads of the same number, or of the next one. */
static void say_proof(void)
{
    uint8_t bytes[PROOF_BYTES];
    struct signed_head one, other;
    struct member *speaker = pick_member(), *author = pick_member();
    const uint8_t shape = input_byte(&input);
    const uint32_t seq = (uint32_t)pick();
    make_head(&one, author->identity->id, author->incarnation, seq, 1);
    make_head(&other, author->identity->id, author->incarnation, seq + (shape & 1), 2);
    if (proof_create(&one, &other, bytes) != OK)
        return;
    if (shape & 2)
        bytes[pick() % sizeof bytes] ^= (uint8_t)(1 + shape);
    const struct message proof = {
        .kind = PROOF, .hash = shape & 4 ? pick() : 1, .bulk = {bytes, sizeof bytes}};
    (void)scene_say(scene, speaker, &proof);
}

static void say_heads(void)
{
    uint8_t bytes[CLAIMS_MAX * SIGNED_HEAD_BYTES];
    struct member *speaker = pick_member();
    const uint64_t tag = pick();
    const struct message heads = {.kind = HEADS, .tag = tag, .bulk = {bytes, put_heads(bytes)}};
    (void)scene_say(scene, speaker, &heads);
}

/* Orders of the operator: some member is put out, or the node. */
static size_t make_order(uint8_t out[static ORDER_BYTES_MAX])
{
    const uint8_t shape = input_byte(&input);
    struct order order = {.number = shape & 1 ? pick() : node_orders_count(scene->node) + 1u,
                          .reason = "harms",
                          .issued_ms = 1};
    memcpy(order.subject, scene_identity((shape >> 1) % (SCENE_MEMBERS + 1))->id, ID_BYTES);
    order.pairs_count = shape >> 4 & 3;
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

/* Any kind, with any numbers, and any bytes behind them. */
static void say_anything(void)
{
    struct member *speaker = pick_member();
    struct message message = {.kind = HELLO + input_byte(&input) % (MESSAGE_KINDS - 1)};
    is_lie = is_lie || message.kind == HISTORY || message.kind == BLOCK;
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
    message.bulk.at = input_bytes(&input, input_byte(&input), &message.bulk.count);
    (void)scene_say(scene, speaker, &message);
}

static void shout(void)
{
    struct member *speaker = pick_member();
    const uint8_t shape = input_byte(&input);
    size_t count;
    const uint8_t *bytes = input_bytes(&input, shape / 2, &count);
    is_lie = is_lie || count > 0;
    if (shape & 1)
        (void)scene_shout(scene, speaker, bytes, count);
    else
        scene_send_raw(scene, speaker, bytes, count);
}

static void call(void)
{
    scene_call(scene, pick_member());
}

/* From one network or another; it is not heard of again. */
static void stand_at_door(void)
{
    const uint8_t shape = input_byte(&input);
    size_t count;
    const uint8_t *bytes = input_bytes(&input, shape / 4, &count);
    scene_stand_at_door(scene, shape % 4, bytes, count);
}

static void hang_up(void)
{
    scene_close(scene, pick_member());
}

/* From a millisecond to twenty seconds. */
static void pass(void)
{
    static const uint16_t spans_ms[] = {1, 30, 300, 1000, 1000, 3000, 3000, 5000};
    const uint8_t shape = input_byte(&input);
    scene_pass(scene, spans_ms[shape % 8] * MILLI_NS * (1 + shape / 64));
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
    [STAND_AT_DOOR] = stand_at_door,
    [HANG_UP] = hang_up,
    [PASS] = pass,
    [MAKE_STEPS] = step,
    [SET_STEPPING] = set_stepping,
    [LEAVE] = leave,
    [CHANGE_MANNERS] = change_manners,
};

/* Two neighbours and a member that has not said HELLO, 12 seconds on: the node trains. */
static struct scene *settled(void)
{
    static const uint8_t script[] = {0, 0, 1, 1, 0, 1};
    scene = scene_new(false);
    input = (struct input){script, sizeof script};
    say_hello();
    say_hello();
    scene_pass(scene, 12000 * MILLI_NS);
    scene_step(scene, 8, 256);
    scene_pass(scene, 2000 * MILLI_NS);
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

/* The first byte says where it begins: with a node that trains, or one that has just come. */
void fuzz_one(const uint8_t *data, size_t bytes)
{
    input = (struct input){data, bytes};
    scene = scenes[input_byte(&input) & 1];
    claim = (struct claim){0};
    is_lie = false;
    for (int i = 0; i < OPERATIONS_MAX && input.left > 0 && !scene->is_over; i++) {
        OPERATIONS[input_byte(&input) % SCRIPT_OPERATIONS]();
        if (!is_lie || node_bases(scene->node) == 0)
            scene_check(scene);
    }
    scene_undo(scene);
}
