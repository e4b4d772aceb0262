#include "support/sim/puppet.h"

#include "node/broadcast/version.h"
#include "support/net/stream.h"
#include "wire/equivocation_proof.h"

#define PROOFS_AT_ONCE 64   /* proofs per message of puppet_prove_outsiders */
#define AMOUNT         1000 /* units by which a rumor of puppet_rumor moves its entry */

void puppet_send(struct puppet *puppet, const uint8_t *bytes, size_t count)
{
    CHECK(!puppet->sending);
    puppet->sending = true;
    wire_send(&world.wire, puppet->party, puppet->peer.conn, bytes, count);
}

void puppet_pump(struct puppet *puppet)
{
    const uint8_t *bytes;
    size_t count;
    if (!puppet->sending && peer_next_send(&puppet->peer, SIZE_MAX, true, &bytes, &count))
        puppet_send(puppet, bytes, count);
}

static void puppet_on_message(struct puppet *puppet)
{
    size_t bytes;
    const uint8_t *at = peer_message(&puppet->peer, &bytes);
    struct message message;
    CHECK(message_decode(puppet->reader, at, bytes, &message) == OK);
    puppet->heard[message.kind]++;
    puppet->last_seq[message.kind] = message.seq;
    puppet->last[message.kind] = message;
    if (puppet->on_heard)
        puppet->on_heard(puppet, &message);
    if (message.kind == BYE) {
        puppet->bye_reason = message.reason;
        (void)snprintf(puppet->bye, sizeof puppet->bye, "%.*s", (int)message.text.count,
                       (const char *)message.text.at);
    }
}

/* Sends ACKs like every node. Without them the node would soon send nothing more. */
static void puppet_give_ack(struct puppet *puppet)
{
    struct congestion *link = &puppet->link;
    if (puppet->gives_no_acks || puppet->peer.state != PEER_MEETING ||
        !congestion_owes_ack(link, world_now_ns(&world)))
        return;
    const struct message ack = {
        .kind = ACK, .received = link->received, .clock = world_now_ns(&world) / 1000};
    CHECK(peer_say(&puppet->peer, &ack));
    congestion_on_acked(link, world_now_ns(&world));
}

static void puppet_on_connected(void *self, uint64_t conn)
{
    struct puppet *puppet = self;
    (void)conn;
    peer_on_connected(&puppet->peer, &puppet->credentials, 0, world_now_ns(&world));
    puppet_pump(puppet);
}

static void puppet_on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct puppet *puppet = self;
    struct problem problem;
    enum peer_event event;
    congestion_on_received(&puppet->link, world_now_ns(&world), count);
    while ((event = peer_take(&puppet->peer, &puppet->credentials, world_now_ns(&world), &bytes,
                              &count, &problem)) != PEER_NOTHING) {
        if (event == PEER_REFUSED) {
            wire_hang_up(&world.wire, puppet->party, conn);
            return;
        }
        if (event == PEER_SAID)
            puppet_on_message(puppet);
    }
    puppet_give_ack(puppet);
    puppet_pump(puppet);
}

static void puppet_on_sent(void *self, uint64_t conn)
{
    struct puppet *puppet = self;
    (void)conn;
    puppet->sending = false;
    if (puppet->peer.sending)
        peer_on_sent(&puppet->peer);
    puppet_pump(puppet);
}

static void puppet_on_closed(void *self, uint64_t conn)
{
    struct puppet *puppet = self;
    (void)conn;
    puppet->closed = true;
    peer_end(&puppet->peer);
}

void puppet_init(struct puppet *puppet, uint32_t node, uint8_t seed)
{
    const struct outsider outsider = {.self = puppet,
                                      .on_connected = puppet_on_connected,
                                      .on_bytes = puppet_on_bytes,
                                      .on_sent = puppet_on_sent,
                                      .on_closed = puppet_on_closed};
    *puppet = (struct puppet){.node = node, .reader = message_reader_new()};
    puppet->party = world_enter(&world, &outsider);
    CHECK(puppet->party != WIRE_NOBODY);
    const uint8_t secret[SEED_BYTES] = {seed, 0x77},
                  entropy[SEED_BYTES] = {seed, 0x99, (uint8_t)node};
    identity_from_seed(&puppet->identity, secret);
    entropy_from_seed(&puppet->entropy, entropy);
    const struct node_options *options = &world.nodes[node].options;
    struct introduction ours;
    introduction_make(&ours, options->swarm_id, options->model, options->parameters);
    credentials_init(&puppet->credentials, &puppet->identity, options->swarm_key, &ours,
                     &puppet->entropy);
    introduction_context(puppet->context, &ours);
    arena_init(&puppet->arena, peer_arena_bytes(PUPPET_QUEUE_BYTES));
    peer_init(&puppet->peer, &puppet->arena, &puppet->arena, PUPPET_QUEUE_BYTES);
}

void puppet_call(struct puppet *puppet)
{
    const struct address address = world_address(puppet->node);
    puppet->closed = puppet->sending = false;
    memset(puppet->heard, 0, sizeof puppet->heard);
    puppet->bye_reason = 0;
    puppet->bye[0] = '\0';
    peer_start(&puppet->peer, (uint64_t)++puppet->calls << 32 | puppet->slot, true, &address,
               world_now_ns(&world));
    congestion_init(&puppet->link, world_now_ns(&world));
    wire_dial(&world.wire, puppet->party, puppet->peer.conn, puppet->node);
    run(6 * NEARBY_NS); /* three round trips: time for the connection and all handshake messages */
}

void puppet_meet(struct puppet *puppet)
{
    puppet_call(puppet);
    CHECK(puppet->peer.state == PEER_MEETING);
}

void puppet_say(struct puppet *puppet, const struct message *message)
{
    CHECK(peer_say(&puppet->peer, message));
    puppet_pump(puppet);
    run(3 * NEARBY_NS);
}

void puppet_say_bulk(struct puppet *puppet, enum message_kind kind, const uint8_t *bulk,
                     size_t bytes)
{
    puppet_say(puppet, &(struct message){.kind = kind, .bulk = {bulk, bytes}});
}

void puppet_shout(struct puppet *puppet, const uint8_t *bytes, size_t count)
{
    static uint8_t out[MESSAGE_MAX + RECORD_OVERHEAD];
    session_seal(&puppet->peer.keys->session, bytes, count, out);
    puppet_send(puppet, out, count + RECORD_OVERHEAD);
    run(3 * NEARBY_NS);
}

struct record puppet_record(const struct puppet *puppet)
{
    struct record record = {.incarnation = 1, .stamp = 1};
    memcpy(record.id, puppet->identity.id, ID_BYTES);
    return record;
}

struct signed_head puppet_head(const struct puppet *puppet, uint64_t incarnation, uint32_t seq)
{
    static const uint8_t none[HEAD_HASH_BYTES];
    if (incarnation == 1 && seq < PUPPET_MADE &&
        memcmp(puppet->made[seq].hash, none, HEAD_HASH_BYTES) != 0)
        return puppet->made[seq];
    return stream_head(&puppet->identity, incarnation, seq, PUPPET_SAMPLES, puppet->context);
}

void puppet_entry(const struct puppet *puppet, uint32_t next, uint8_t *out)
{
    CHECK(next > 0);
    version_entry_put(out, origin_tag(puppet->identity.id, 1), next,
                      puppet_head(puppet, 1, next - 1).hash);
}

/* Makes rumor `seq` with one entry: base[index] += amount. */
static size_t rumor_of(struct puppet *puppet, uint32_t seq, uint32_t index, uint32_t amount,
                       uint8_t out[static RUMOR_MAX])
{
    int8_t level = 1;
    const struct update update = {
        .tau = 0.5f, .amount = amount, .count = 1, .index = &index, .level = &level};
    struct rumor_head head = {.incarnation = 1, .seq = seq};
    memcpy(head.origin, puppet->identity.id, ID_BYTES);
    if (seq > 0)
        memcpy(head.prev, puppet_head(puppet, 1, seq - 1).hash, HEAD_HASH_BYTES);
    uint32_t taken;
    size_t bytes;
    rumor_encode(&head, &update, 0, RUMOR_MAX, &puppet->identity, puppet->context, out, &taken,
                 &bytes);
    if (seq < PUPPET_MADE)
        rumor_signed_head(out, bytes, puppet->context, &puppet->made[seq]);
    return bytes;
}

size_t puppet_rumor(struct puppet *puppet, uint32_t seq, uint32_t index,
                    uint8_t out[static RUMOR_MAX])
{
    return rumor_of(puppet, seq, index, AMOUNT, out);
}

void puppet_burst(struct puppet *puppet)
{
    uint8_t rumor[RUMOR_MAX];
    puppet_say_bulk(puppet, RUMOR, rumor, rumor_of(puppet, 0, 0, 1 << 24, rumor));
}

void puppet_hello(struct puppet *puppet)
{
    uint8_t record[RECORD_BYTES];
    const struct record said = puppet_record(puppet);
    record_create(&said, &puppet->identity, puppet->context, record);
    puppet_say(puppet,
               &(struct message){.kind = HELLO, .incarnation = 1, .bulk = {record, RECORD_BYTES}});
    /* an empty version: the puppet has no rumors */
    if (!puppet->closed && puppet->peer.state != PEER_CLOSING)
        puppet_say(puppet, &(struct message){.kind = VERSION, .hash = 1, .base = 1, .whole = 1});
}

/* Writes a proof that this identity has signed two different first rumors. */
static void prove(const struct puppet *puppet, const struct identity *identity, uint8_t *out)
{
    const struct signed_head one = stream_head(identity, 1, 0, 1, puppet->context),
                             two = stream_head(identity, 1, 0, 2, puppet->context);
    CHECK(proof_create(&one, &two, world.nodes[puppet->node].options.parameters, out) == OK);
}

void puppet_prove_itself(struct puppet *puppet)
{
    uint8_t proof[PROOF_BYTES];
    prove(puppet, &puppet->identity, proof);
    puppet_say_bulk(puppet, PROOF, proof, sizeof proof);
}

void puppet_prove_outsiders(struct puppet *puppet, uint32_t count)
{
    uint8_t proofs[PROOFS_AT_ONCE * PROOF_BYTES];
    uint32_t in = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct identity outsider;
        const uint8_t seed[SEED_BYTES] = {0xff, (uint8_t)i, (uint8_t)(i >> 8)};
        identity_from_seed(&outsider, seed);
        prove(puppet, &outsider, proofs + (size_t)in * PROOF_BYTES);
        if (++in < PROOFS_AT_ONCE && i + 1 < count)
            continue;
        puppet_say_bulk(puppet, PROOF, proofs, (size_t)in * PROOF_BYTES);
        in = 0;
    }
}

void puppet_free(struct puppet *puppet)
{
    world_exit(&world, puppet->party);
    peer_end(&puppet->peer);
    message_reader_free(puppet->reader);
    arena_release(&puppet->arena);
}
