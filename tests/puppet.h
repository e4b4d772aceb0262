/* A puppet: a conversation with a node of a world (world.h) in which the test says every word.
 *
 *   test ─► puppet_say, puppet_shout ─► the node;   the node's bytes ─► puppet ─► counted by kind
 *
 * It has the swarm key and an identity of its own, so it gets as far as any member does. */
#ifndef HEARSAY_TEST_PUPPET_H
#define HEARSAY_TEST_PUPPET_H

#include "peer.h"
#include "record.h"
#include "world.h"

struct puppet {
    struct world *world;
    int node;
    uint64_t conn;
    struct identity identity;
    struct entropy entropy;
    struct club club;
    uint8_t context[CONTEXT_BYTES];
    struct arena arena;
    struct peer peer;
    struct message_reader *reader;
    uint8_t inbox[1 << 20];
    size_t inbox_bytes;
    bool closed;
    uint32_t heard[MESSAGE_KINDS];
    uint64_t last_seq[MESSAGE_KINDS];
    uint64_t bye_reason;
    char bye[64];
    uint32_t seq; /* of its own rumors */
};

static inline void puppet_on_bytes(void *self, const uint8_t *bytes, size_t count)
{
    struct puppet *puppet = self;
    CHECK(count <= sizeof puppet->inbox - puppet->inbox_bytes);
    memcpy(puppet->inbox + puppet->inbox_bytes, bytes, count);
    puppet->inbox_bytes += count;
}

static inline void puppet_on_closed(void *self)
{
    ((struct puppet *)self)->closed = true;
}

static inline void puppet_give(struct puppet *puppet, const uint8_t *bytes, size_t count)
{
    struct world *world = puppet->world;
    node_on_bytes(world->nodes[puppet->node].node, world->now_ns, puppet->conn, bytes, count);
    world_pump(world, puppet->node);
    world_check(world, puppet->node);
}

static inline void puppet_hear(struct puppet *puppet)
{
    size_t bytes;
    const uint8_t *at = peer_message(&puppet->peer, &bytes);
    struct message message;
    CHECK(message_decode(puppet->reader, at, bytes, &message) == OK);
    puppet->heard[message.kind]++;
    puppet->last_seq[message.kind] = message.seq;
    if (message.kind == BYE) {
        puppet->bye_reason = message.reason;
        (void)snprintf(puppet->bye, sizeof puppet->bye, "%.*s", (int)message.text.count,
                       (const char *)message.text.at);
    }
}

/* Say what waits to be said, hear what the node said. */
static inline void puppet_exchange(struct puppet *puppet)
{
    const uint8_t *bytes;
    size_t count;
    while (peer_next_send(&puppet->peer, &bytes, &count)) {
        puppet_give(puppet, bytes, count);
        peer_on_sent(&puppet->peer);
        struct problem problem;
        const uint8_t *at = puppet->inbox;
        enum peer_event event;
        while ((event = peer_take(&puppet->peer, &puppet->club, puppet->world->now_ns, &at,
                                  &puppet->inbox_bytes, &problem)) != PEER_NOTHING) {
            CHECK(event != PEER_REFUSED);
            if (event == PEER_SAID)
                puppet_hear(puppet);
        }
    }
}

static inline void puppet_listen(struct puppet *puppet)
{
    struct problem problem;
    const uint8_t *at = puppet->inbox;
    while (peer_take(&puppet->peer, &puppet->club, puppet->world->now_ns, &at, &puppet->inbox_bytes,
                     &problem) == PEER_SAID)
        puppet_hear(puppet);
}

static inline void puppet_say(struct puppet *puppet, const struct message *message)
{
    CHECK(peer_say(&puppet->peer, message));
    puppet_exchange(puppet);
}

static inline void puppet_say_bulk(struct puppet *puppet, enum message_kind kind,
                                   const uint8_t *bulk, size_t bytes)
{
    puppet_say(puppet, &(struct message){.kind = kind, .bulk = {bulk, bytes}});
}

/* Any bytes, well sealed. */
static inline void puppet_shout(struct puppet *puppet, const uint8_t *bytes, size_t count)
{
    static uint8_t out[MESSAGE_MAX + RECORD_OVERHEAD];
    session_seal(&puppet->peer.session, bytes, count, out);
    puppet_give(puppet, out, count + RECORD_OVERHEAD);
    puppet_listen(puppet);
}

/* A record of the puppet, as a member that lives nowhere. */
static inline struct record puppet_record(const struct puppet *puppet)
{
    struct record record = {.incarnation = 1, .stamp = 1, .delivered = 1};
    memcpy(record.id, puppet->identity.id, ID_BYTES);
    return record;
}

/* A rumor of the puppet's own, its number `seq`, one entry: base[index] += amount. */
static inline size_t puppet_rumor(const struct puppet *puppet, uint32_t seq, uint32_t index,
                                  uint8_t out[static RUMOR_MAX])
{
    int8_t level = 1;
    const struct update update = {
        .tau = 0.5f, .amount = 1000, .count = 1, .index = &index, .level = &level};
    struct rumor_head head = {.incarnation = 1, .seq = seq};
    memcpy(head.origin, puppet->identity.id, ID_BYTES);
    uint32_t taken;
    size_t bytes;
    rumor_encode(&head, &update, 0, &puppet->identity, puppet->context, out, &taken, &bytes);
    return bytes;
}

static inline void puppet_init(struct puppet *puppet, struct world *world, int node, uint8_t seed)
{
    *puppet = (struct puppet){.world = world, .node = node, .reader = message_reader_new()};
    world_identity(&puppet->identity, seed);
    const uint8_t entropy[SEED_BYTES] = {seed, 0x99};
    entropy_from_seed(&puppet->entropy, entropy);
    const struct node_options *options = &world->nodes[node].options;
    struct introduction ours;
    introduction_make(&ours, options->swarm_id, options->model, options->parameters);
    puppet->club.identity = &puppet->identity;
    puppet->club.entropy = &puppet->entropy;
    gate_init(&puppet->club.gate, options->swarm_key, &ours);
    introduction_encode(puppet->club.prologue, &ours);
    secret_blake2b(puppet->club.psk, KEY_BYTES, "hearsay psk", 11, options->swarm_key, KEY_BYTES);
    secret_blake2b(puppet->context, CONTEXT_BYTES, puppet->club.prologue, INTRODUCTION_BYTES, NULL,
                   0);
    arena_init(&puppet->arena, peer_arena_bytes(1 << 18, 64) + 4096);
    peer_init(&puppet->peer, &puppet->arena, 1 << 18, 64);
}

/* Knock: the id of the conversation, or 0. The world has one puppet at a time. */
static inline uint64_t puppet_knock(struct puppet *puppet, const char *host)
{
    struct world *world = puppet->world;
    struct address from = {.port = 40000};
    (void)snprintf(from.host, sizeof from.host, "%s", host);
    world->puppet = puppet;
    world->on_puppet_bytes = puppet_on_bytes;
    world->on_puppet_closed = puppet_on_closed;
    puppet->conn = node_on_accept(world->nodes[puppet->node].node, world->now_ns, &from);
    if (puppet->conn)
        (void)world_new_line(world,
                             (struct line_end){.node = puppet->node,
                                               .life = world->nodes[puppet->node].life,
                                               .conn = puppet->conn,
                                               .up = true},
                             (struct line_end){.node = NOBODY, .up = true});
    world_pump(world, puppet->node);
    return puppet->conn;
}

/* The whole way to a session; HELLO not yet said. */
static inline void puppet_meet(struct puppet *puppet)
{
    CHECK(puppet_knock(puppet, "10.99.0.1"));
    const struct address address = world_address(puppet->node);
    peer_start(&puppet->peer, 1, true, &address, puppet->world->now_ns);
    peer_on_connected(&puppet->peer, &puppet->club, puppet->world->now_ns);
    for (int i = 0; i < 4; i++) { /* the node reports what it sent as sent, a little later */
        puppet_exchange(puppet);
        world_run(puppet->world, 1);
    }
    CHECK(puppet->peer.state == PEER_MEETING);
}

static inline void puppet_hello(struct puppet *puppet)
{
    uint8_t record[RECORD_BYTES];
    const struct record said = puppet_record(puppet);
    record_create(&said, &puppet->identity, puppet->context, record);
    puppet_say(puppet,
               &(struct message){.kind = HELLO, .incarnation = 1, .bulk = {record, RECORD_BYTES}});
}

static inline void puppet_free(struct puppet *puppet)
{
    message_reader_free(puppet->reader);
    arena_release(&puppet->arena);
}

#endif
