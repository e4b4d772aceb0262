#include <math.h>
#include <string.h>

#include "faults/hostile_private.h"
#include "frame/bytes.h"
#include "frame/frame.h"

#define NOISE_MAX  3000
#define PACK_ITEMS 8
/* Bytes of a binary item; not a multiple of the size of a record or a version entry. */
#define PACK_BULK     13
#define VERSION_HUGE  1600
#define FLOOD_AT_ONCE 40
#define WANTS_AT_ONCE 8
/* Until the victim has sent a rumor, only one forgery in this many is sent: an invented rumor. */
#define MADE_UP_ONE_IN 8
#define AHEAD_MAX      50

void hostile_random_bytes(struct hostile *hostile, uint8_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)rng_next(&hostile->rng);
}

/* Queues arbitrary bytes as one message. Drops them if the queue is full. */
static void send_raw(struct hostile *hostile, const uint8_t *bytes, size_t count)
{
    struct queue *queue = &hostile->peer.queue;
    uint8_t *room = queue_room(queue, count);
    if (!room)
        return;
    memcpy(room, bytes, count);
    queue_add(queue, count);
}

/* Queues a message, even of a kind that the victim does not know. Drops it if it is too large or
 * the queue is full. */
static void queue_message(struct hostile *hostile, const struct message *message)
{
    static uint8_t bytes[MESSAGE_MAX];
    if (peer_knows(&hostile->peer, message->kind))
        (void)peer_say(&hostile->peer, message);
    else if (message_capacity(message) <= sizeof bytes)
        send_raw(hostile, bytes, message_encode(message, bytes, sizeof bytes));
}

static void send_bulk(struct hostile *hostile, enum message_kind kind, const uint8_t *bulk,
                      size_t bytes)
{
    queue_message(hostile, &(struct message){.kind = kind, .bulk = {bulk, bytes}});
}

static void send_records(struct hostile *hostile, const uint8_t *bytes, size_t count)
{
    send_bulk(hostile, rng_below(&hostile->rng, 2) ? MEMBER_UPDATE : MEMBER_LIST, bytes, count);
}

static struct record own_record(struct hostile *hostile)
{
    struct record record = {.incarnation = 1, .stamp = ++hostile->stamp};
    memcpy(record.id, hostile->identity.id, ID_BYTES);
    return record;
}

static void send_own_record(struct hostile *hostile)
{
    uint8_t bytes[RECORD_BYTES];
    const struct record record = own_record(hostile);
    record_create(&record, &hostile->identity, hostile->context, bytes);
    send_records(hostile, bytes, sizeof bytes);
}

/* Sends a record of another node: a received record with a flipped bit, or a new one that the
 * attacker signs. One record in eight lacks its last byte. */
static void send_forged_record(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    const struct observed *observed = &hostile->observed;
    uint8_t bytes[RECORD_BYTES];
    struct record record = own_record(hostile);
    memcpy(record.id, hostile->world->nodes[hostile->victim].identity.id, ID_BYTES);
    if (observed->records_count > 0) {
        const uint8_t *any =
            observed->records + rng_below(rng, (uint32_t)observed->records_count) * RECORD_BYTES;
        memcpy(bytes, any, RECORD_BYTES);
        memcpy(record.id, any, ID_BYTES);
    }
    if (observed->records_count == 0 || rng_below(rng, 2)) {
        record.incarnation = UINT64_MAX; /* newer than any real record */
        record.stage = STAGE_LEFT;
        record_create(&record, &hostile->identity, hostile->context, bytes);
    } else {
        bytes[rng_below(rng, RECORD_BYTES)] ^= (uint8_t)(1u << rng_below(rng, 8));
    }
    send_records(hostile, bytes, RECORD_BYTES - (rng_below(rng, 8) == 0));
}

/* Sends the attacker's own record: validly signed, but with another node's address and absurd
 * values. */
static void send_untrue_record(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    uint8_t bytes[RECORD_BYTES];
    struct record record = own_record(hostile);
    record.address = world_address(rng_below(rng, hostile->world->nodes_count));
    record.trains = rng_below(rng, 2);
    record.samples_per_second = rng_below(rng, 2) ? 1e30f : 0;
    record.samples = rng_next(rng);
    record.swarm_samples = rng_next(rng) >> rng_below(rng, 64);
    record.stage = (enum stage)rng_below(rng, STAGES);
    record.lag_ms = rng_below(rng, 2) ? UINT32_MAX : 0;
    record.uplink = rng_below(rng, 2) ? 1e30f : 0;
    record.ingress = rng_below(rng, 2) ? 1e30f : 1e-30f;
    record.renew_ms = rng_below(rng, 2) ? RENEW_MS_MAX : 1;
    record_create(&record, &hostile->identity, hostile->context, bytes);
    send_records(hostile, bytes, sizeof bytes);
}

/* Sends the self-signed record of a nonexistent member, at a node's address or an unused one. */
static void send_made_up_member(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    struct identity nobody;
    uint8_t seed[SEED_BYTES], bytes[RECORD_BYTES];
    hostile_random_bytes(hostile, seed, sizeof seed);
    identity_from_seed(&nobody, seed);
    struct record record = own_record(hostile);
    memcpy(record.id, nobody.id, ID_BYTES);
    record.address = world_address(rng_below(rng, 2 * hostile->world->nodes_max));
    record.samples_per_second = rng_below(rng, 2) ? 1e6f : 0;
    record.renew_ms = rng_below(rng, 10000);
    record.trains = rng_below(rng, 2);
    record.swarm_samples = rng_next(rng) >> rng_below(rng, 64);
    record_create(&record, &nobody, hostile->context, bytes);
    send_records(hostile, bytes, sizeof bytes);
    secret_wipe(&nobody, sizeof nobody);
}

static void send_false_ack(struct hostile *hostile)
{
    struct rng *rng = &hostile->rng;
    const double part = rng_below(rng, 4) ? rng_uniform(rng) : 1e6;
    queue_message(hostile,
                  &(struct message){.kind = ACK,
                                    .received = (uint64_t)(part * (double)hostile->received),
                                    .clock = rng_next(rng) >> rng_below(rng, 64),
                                    .held = rng_next(rng) >> rng_below(rng, 64),
                                    .most = rng_next(rng) >> rng_below(rng, 64)});
}

/* Sends a VERSION that claims more rumors than the victim has. */
static void send_version(struct hostile *hostile, const uint8_t *slice, size_t entries)
{
    const struct observed *observed = &hostile->observed;
    uint8_t learned[VERSION_HUGE * LEARNED_BYTES];
    const bool whole = rng_below(&hostile->rng, 2);
    for (size_t i = 0; i < entries && whole; i++)
        learned_put(
            learned + i * LEARNED_BYTES,
            &(struct learned){
                .samples = rng_next(&hostile->rng) >> rng_below(&hostile->rng, 64),
                .rate = rng_below(&hostile->rng, 2) ? NAN : (float)rng_uniform(&hostile->rng)});
    queue_message(hostile,
                  &(struct message){.kind = VERSION,
                                    .digest = observed->digest,
                                    .hash = observed->hash ^ (rng_next(&hostile->rng) | 1),
                                    .rumors = observed->rumors + 1 + rng_below(&hostile->rng, 1000),
                                    .members = observed->members,
                                    .base = rng_below(&hostile->rng, 4) > 0,
                                    .whole = whole,
                                    .learned = {learned, whole ? entries * LEARNED_BYTES : 0},
                                    .bulk = {slice, entries * VERSION_ENTRY_BYTES}});
}

/* Sends the victim's version with more rumors of each origin and with an unknown origin. */
static void send_version_ahead(struct hostile *hostile)
{
    const struct observed *observed = &hostile->observed;
    uint8_t out[(OBSERVED_ENTRIES + 1) * VERSION_ENTRY_BYTES];
    size_t entries = 0;
    for (; entries < observed->entries_count; entries++) {
        const struct version_entry entry = version_entry_at(observed->entries, entries);
        version_entry_put(out + entries * VERSION_ENTRY_BYTES, entry.tag,
                          entry.next + 1 + rng_below(&hostile->rng, AHEAD_MAX), entry.hash);
    }
    version_entry_put(out + entries * VERSION_ENTRY_BYTES, rng_next(&hostile->rng), 7,
                      hostile->identity.id);
    send_version(hostile, out, entries + 1);
}

static void send_huge_version(struct hostile *hostile)
{
    const struct observed *observed = &hostile->observed;
    uint8_t out[VERSION_HUGE * VERSION_ENTRY_BYTES];
    for (size_t i = 0; i < VERSION_HUGE; i++) {
        const uint64_t tag = i < observed->entries_count
                                 ? version_entry_at(observed->entries, i).tag
                                 : rng_next(&hostile->rng);
        version_entry_put(out + i * VERSION_ENTRY_BYTES, tag, UINT32_MAX, hostile->identity.id);
    }
    send_version(hostile, out, VERSION_HUGE);
}

static void send_noise(struct hostile *hostile)
{
    uint8_t noise[NOISE_MAX];
    const size_t count = 1 + rng_below(&hostile->rng, NOISE_MAX);
    hostile_random_bytes(hostile, noise, count);
    send_raw(hostile, noise, count);
}

static size_t pack_item(struct hostile *hostile, uint8_t *out)
{
    static const uint8_t types[] = {0x00, 0x7f, 0x80, 0x90, 0xa5, 0xc0, 0xc2, 0xc4, 0xc6,
                                    0xca, 0xcb, 0xcc, 0xcf, 0xd0, 0xd3, 0xdb, 0xdc, 0xe0};
    hostile_random_bytes(hostile, out, 2 + PACK_BULK);
    out[0] = types[rng_below(&hostile->rng, sizeof types)];
    if (out[0] != 0xc4)
        return 1 + rng_below(&hostile->rng, 9);
    out[1] = PACK_BULK;
    return 2 + PACK_BULK;
}

/* Sends a MessagePack array of items of all types, some shorter than their headers say. */
static void send_pack(struct hostile *hostile)
{
    uint8_t out[2 + PACK_ITEMS * (2 + PACK_BULK)];
    const uint32_t items = rng_below(&hostile->rng, PACK_ITEMS + 1);
    out[0] = (uint8_t)(0x90 | items);
    out[1] = (uint8_t)rng_below(&hostile->rng, MESSAGE_KINDS + 2);
    size_t bytes = 2;
    for (uint32_t i = 1; i < items; i++)
        bytes += pack_item(hostile, out + bytes);
    send_raw(hostile, out, bytes);
}

static void send_any(struct hostile *hostile)
{
    static const uint32_t units[] = {1, VERSION_ENTRY_BYTES, RECORD_BYTES};
    struct rng *rng = &hostile->rng;
    const struct observed *observed = &hostile->observed;
    uint8_t text[100], bulk[NOISE_MAX];
    hostile_random_bytes(hostile, text, sizeof text);
    hostile_random_bytes(hostile, bulk, sizeof bulk);
    const uint32_t unit = units[rng_below(rng, 3)];
    struct message message = {
        .kind = (enum message_kind)(1 + rng_below(rng, MESSAGE_KINDS - 1)),
        .incarnation = rng_next(rng),
        .port = rng_below(rng, 100000),
        .token = rng_next(rng),
        .tag = rng_next(rng),
        .seq = rng_next(rng) >> rng_below(rng, 64),
        .digest = rng_next(rng),
        .hash = observed->hash ^ (rng_next(rng) | 1),
        .rumors = rng_next(rng),
        .members = rng_next(rng),
        .base = rng_below(rng, 2),
        .whole = rng_below(rng, 2),
        .part = rng_below(rng, 3),
        /* random, so that the HISTORY is incomplete: nodes would accept a complete one */
        .parts = rng_next(rng),
        .block = rng_next(rng) >> rng_below(rng, 64),
        .count = rng_below(rng, 10),
        .reason = rng_below(rng, 12),
        .text = {text, rng_below(rng, sizeof text)},
        .learned = {text, rng_below(rng, sizeof text)},
        .entries = {text, rng_below(rng, sizeof text)},
        .bulk = {bulk, (1 + rng_below(rng, NOISE_MAX / unit)) * unit},
    };
    if (observed->entries_count > 0 && rng_below(rng, 2))
        message.tag =
            version_entry_at(observed->entries, rng_below(rng, (uint32_t)observed->entries_count))
                .tag;
    queue_message(hostile, &message);
}

/* Requests all rumors of several origins and stops reading from the connection. */
static void send_want(struct hostile *hostile)
{
    const struct observed *observed = &hostile->observed;
    if (observed->entries_count == 0)
        return;
    hostile->world->wire.parties[hostile->party].deaf_ns = hostile->call_ns + hostile->lasts_ns;
    for (uint32_t i = 0; i < WANTS_AT_ONCE; i++) {
        const uint32_t any = rng_below(&hostile->rng, (uint32_t)observed->entries_count);
        queue_message(
            hostile,
            &(struct message){.kind = WANT, .tag = version_entry_at(observed->entries, any).tag});
    }
}

static void send_flood(struct hostile *hostile)
{
    for (uint32_t i = 0; i < FLOOD_AT_ONCE; i++)
        queue_message(hostile, &(struct message){.kind = i % 2 ? PING : PRUNE,
                                                 .tag = rng_next(&hostile->rng),
                                                 .token = i});
}

static void send_rumor(struct hostile *hostile)
{
    uint8_t rumor[RUMOR_MAX];
    size_t bytes;
    if (hostile->attack == SENDS_EARLY_RUMORS)
        bytes = hostile_rumor_early(hostile, rumor);
    else if (hostile->attack == SENDS_RUMORS_OVER_LIMITS)
        bytes = hostile_rumor_over_limits(hostile, rumor);
    else if (hostile->observed.rumor_bytes == 0 && rng_below(&hostile->rng, MADE_UP_ONE_IN))
        return;
    else
        bytes = hostile_rumor_forged(hostile, rumor);
    send_bulk(hostile, RUMOR, rumor, bytes);
}

void hostile_introduce(struct hostile *hostile)
{
    if (hostile->attack == SENDS_NO_HELLO)
        return;
    uint8_t bytes[RECORD_BYTES];
    struct record record = own_record(hostile);
    if (hostile->attack == SENDS_WRONG_HELLO)
        memcpy(record.id, hostile->world->nodes[hostile->victim].identity.id, ID_BYTES);
    record_create(&record, &hostile->identity, hostile->context, bytes);
    queue_message(hostile, &(struct message){.kind = HELLO,
                                             .incarnation = record.incarnation,
                                             .bulk = {bytes, RECORD_BYTES}});
    /* A node accepts no rumor from a peer that has sent no VERSION. */
    if (hostile->attack != SENDS_WRONG_HELLO)
        queue_message(hostile, &(struct message){.kind = VERSION,
                                                 .hash = rng_next(&hostile->rng) | 1,
                                                 .base = 1,
                                                 .whole = 1});
}

/* Before the victim's VERSION has arrived, sends no random version: its hash must differ from the
 * victim's, because nodes demand one digest for versions with one hash. */
void hostile_send(struct hostile *hostile)
{
    const bool has_version = hostile->observed.has_version;
    switch (hostile->attack) {
    case SENDS_NOISE:
        if (rng_below(&hostile->rng, 2))
            send_noise(hostile);
        else
            send_pack(hostile);
        break;
    case SENDS_RANDOM_MESSAGES:
        if (has_version)
            send_any(hostile);
        break;
    case SENDS_EARLY_RUMORS:
    case SENDS_RUMORS_OVER_LIMITS:
    case SENDS_FORGED_RUMORS:
        send_rumor(hostile);
        break;
    case SENDS_RUMORS_AT_LIMITS:
        if (has_version)
            hostile_send_limits(hostile);
        break;
    case SENDS_FORGED_RECORDS:
        send_forged_record(hostile);
        break;
    case SENDS_UNTRUE_RECORDS:
        send_untrue_record(hostile);
        break;
    case SENDS_FALSE_ACKS:
        send_false_ack(hostile);
        break;
    case SENDS_MADE_UP_MEMBERS:
        send_made_up_member(hostile);
        break;
    case SENDS_HUGE_VERSIONS:
        if (has_version)
            send_huge_version(hostile);
        break;
    case SENDS_WANTS:
        send_want(hostile);
        break;
    case SENDS_FLOODS:
        send_flood(hostile);
        break;
    case SENDS_FALSE_BASES:
        if (has_version)
            hostile_show_base(hostile);
        break;
    default:
        send_own_record(hostile);
        if (has_version)
            send_version_ahead(hostile);
        break;
    }
}

static void observe_records(struct observed *observed, const struct bytes *bulk)
{
    if (bulk->count == 0 || bulk->count > sizeof observed->records || bulk->count % RECORD_BYTES)
        return;
    memcpy(observed->records, bulk->at, bulk->count);
    observed->records_count = bulk->count / RECORD_BYTES;
}

void hostile_observe(struct hostile *hostile, const uint8_t *bytes, size_t count)
{
    struct observed *observed = &hostile->observed;
    struct message message;
    CHECK(message_decode(hostile->reader, bytes, count, &message) == OK);
    hostile->received += count;
    const struct bytes *bulk = &message.bulk;
    switch (message.kind) {
    case PING:
        queue_message(hostile, &(struct message){.kind = PONG, .token = message.token});
        break;
    case TAKE:
    case FETCH:
        if (hostile->attack == SENDS_FALSE_BASES)
            hostile_give_base(hostile, &message);
        break;
    case BYE:
        hostile_on_bye(hostile, &message);
        break;
    case MEMBER_UPDATE:
    case MEMBER_LIST:
        observe_records(observed, bulk);
        break;
    case RUMOR:
        memcpy(observed->rumor, bulk->at, bulk->count);
        observed->rumor_bytes = bulk->count;
        break;
    case VERSION:
        observed->has_version = true;
        observed->digest = message.digest;
        observed->hash = message.hash;
        observed->rumors = message.rumors;
        observed->members = message.members;
        observed->entries_count = size_min(bulk->count / VERSION_ENTRY_BYTES, OBSERVED_ENTRIES);
        memcpy(observed->entries, bulk->at, observed->entries_count * VERSION_ENTRY_BYTES);
        break;
    default:
        break;
    }
}
