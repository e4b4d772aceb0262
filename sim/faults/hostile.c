#include "faults/hostile.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "faults/hostile_private.h"

#define QUEUE_BYTES         (1u << 18)
#define CALL_MAX_NS         (12 * SECOND_NS)
#define PAUSE_MIN_NS        (SECOND_NS / 5)
#define PAUSE_NS            (3 * SECOND_NS)
#define TICK_MIN_NS         (50 * MS_NS)
#define TICK_NS             (400 * MS_NS)
#define MUTE_NS             SECOND_NS
#define DAMAGED_ONE_IN      3
#define HANDSHAKE_NOISE_MAX 1500
/* Number of attacks that send rumors: SENDS_EARLY_RUMORS and the next three. */
#define RUMOR_ATTACKS 4

static uint64_t now_ns(const struct hostile *hostile)
{
    return world_now_ns(hostile->world);
}

static uint64_t draw_ns(struct hostile *hostile, uint64_t least_ns, uint64_t span_ns)
{
    return least_ns + (uint64_t)(rng_uniform(&hostile->rng) * (double)span_ns);
}

static void sleep_for(struct hostile *hostile, uint64_t wait_ns)
{
    hostile->next_ns = now_ns(hostile) + wait_ns;
    world_call_outsider(hostile->world, hostile->party, hostile->next_ns);
}

static bool is_in_handshake(const struct hostile *hostile)
{
    return hostile->attack <= HANDSHAKE_REPLAYED;
}

static void hang_up(struct hostile *hostile)
{
    if (hostile->hung_up)
        return;
    hostile->hung_up = true;
    wire_hang_up(&hostile->world->wire, hostile->party, hostile->conn);
}

static void send(struct hostile *hostile, const uint8_t *bytes, size_t count)
{
    if (hostile->hung_up || count == 0)
        return;
    hostile->sending = true;
    wire_send(&hostile->world->wire, hostile->party, hostile->conn, bytes, count);
}

static void flip(struct hostile *hostile, uint8_t *bytes, size_t count)
{
    bytes[rng_below(&hostile->rng, (uint32_t)count)] ^=
        (uint8_t)(1u << rng_below(&hostile->rng, 8));
}

static void send_damaged(struct hostile *hostile, const uint8_t *bytes, size_t count)
{
    memcpy(hostile->out, bytes, count);
    if (hostile->established && rng_below(&hostile->rng, DAMAGED_ONE_IN) == 0) {
        if (hostile->attack == STREAM_FLIPPED)
            flip(hostile, hostile->out, count);
        if (hostile->attack == STREAM_TRUNCATED)
            count = 1 + rng_below(&hostile->rng, (uint32_t)count);
        if (hostile->attack == STREAM_REPEATED) {
            memcpy(hostile->out + count, bytes, count);
            count *= 2;
        }
    }
    send(hostile, hostile->out, count);
}

static void keep(uint8_t *old, size_t *old_bytes, const uint8_t *bytes, size_t count)
{
    *old_bytes = size_min(count, GREETING_MAX);
    memcpy(old, bytes, *old_bytes);
}

static void pump(struct hostile *hostile)
{
    const uint8_t *bytes;
    size_t count;
    if (hostile->sending || hostile->hung_up ||
        !peer_next_send(&hostile->peer, SIZE_MAX, true, &bytes, &count))
        return;
    if (hostile->peer.state == PEER_ANSWERED)
        keep(hostile->old_greeting, &hostile->old_greeting_bytes, bytes, count);
    else if (!hostile->established)
        keep(hostile->old_proof, &hostile->old_proof_bytes, bytes, count);
    send_damaged(hostile, bytes, count);
}

static void send_noise(struct hostile *hostile)
{
    const size_t count = 1 + rng_below(&hostile->rng, HANDSHAKE_NOISE_MAX);
    hostile_random_bytes(hostile, hostile->out, count);
    send(hostile, hostile->out, count);
}

static void send_bad_greeting(struct hostile *hostile)
{
    const uint8_t *bytes;
    size_t count;
    peer_on_connected(&hostile->peer, &hostile->credentials, 0, now_ns(hostile));
    CHECK(peer_next_send(&hostile->peer, SIZE_MAX, true, &bytes, &count));
    memcpy(hostile->out, bytes, count);
    if (hostile->attack == HANDSHAKE_TRUNCATED)
        count = 1 + rng_below(&hostile->rng, (uint32_t)count - 1);
    else
        flip(hostile, hostile->out, count);
    send(hostile, hostile->out, count);
}

static void on_connected(void *self, uint64_t conn)
{
    struct hostile *hostile = self;
    (void)conn;
    switch (hostile->attack) {
    case HANDSHAKE_SILENT:
        break;
    case HANDSHAKE_NOISE:
        send_noise(hostile);
        break;
    case HANDSHAKE_TRUNCATED:
    case HANDSHAKE_FLIPPED:
        send_bad_greeting(hostile);
        break;
    case HANDSHAKE_REPLAYED:
        send(hostile, hostile->old_greeting, hostile->old_greeting_bytes);
        break;
    default:
        peer_on_connected(&hostile->peer, &hostile->credentials, 0, now_ns(hostile));
        pump(hostile);
        break;
    }
}

static void receive(struct hostile *hostile, const uint8_t *bytes, size_t count)
{
    struct problem problem;
    enum peer_event event;
    while ((event = peer_take(&hostile->peer, &hostile->credentials, now_ns(hostile), &bytes,
                              &count, &problem)) != PEER_NOTHING) {
        size_t message_bytes;
        if (event == PEER_REFUSED) {
            hang_up(hostile);
            return;
        }
        if (event == PEER_MET) {
            /* The handshake proof must leave before HELLO is queued. */
            pump(hostile);
            hostile_introduce(hostile);
            hostile->established = true;
        } else {
            const uint8_t *message = peer_message(&hostile->peer, &message_bytes);
            hostile_observe(hostile, message, message_bytes);
        }
    }
    pump(hostile);
}

static void on_bytes(void *self, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct hostile *hostile = self;
    (void)conn;
    if (!is_in_handshake(hostile))
        receive(hostile, bytes, count);
    else if (hostile->attack == HANDSHAKE_REPLAYED && !hostile->sending)
        send(hostile, hostile->old_proof, hostile->old_proof_bytes);
}

static void on_sent(void *self, uint64_t conn)
{
    struct hostile *hostile = self;
    (void)conn;
    hostile->sending = false;
    if (hostile->peer.sending)
        peer_on_sent(&hostile->peer);
    if (!is_in_handshake(hostile))
        pump(hostile);
}

static void on_closed(void *self, uint64_t conn)
{
    struct hostile *hostile = self;
    (void)conn;
    peer_end(&hostile->peer);
    hostile->conn = 0;
    sleep_for(hostile, draw_ns(hostile, PAUSE_MIN_NS, PAUSE_NS));
}

static enum attack draw_attack(struct hostile *hostile)
{
    if (hostile->kind == HOSTILE_STRANGER)
        /* Any attack on a session would do: a stranger's handshake fails, so no session begins. */
        return SENDS_NO_HELLO;
    if (hostile->kind == HOSTILE_MUTE)
        return SENDS_ALL_BUT_RUMORS;
    /* Half of the draws choose an attack with rumors; a quarter choose a false base, false ACKs or
     * invented members. The last quarter choose any attack. */
    const uint32_t quarter = rng_below(&hostile->rng, 4);
    if (quarter < 2)
        return (enum attack)(SENDS_EARLY_RUMORS + rng_below(&hostile->rng, RUMOR_ATTACKS));
    if (quarter == 2 && rng_below(&hostile->rng, 2))
        return SENDS_FALSE_BASES;
    if (quarter == 2)
        return (enum attack)(SENDS_FALSE_BASES +
                             rng_below(&hostile->rng, ATTACKS - SENDS_FALSE_BASES));
    const enum attack attack = (enum attack)rng_below(&hostile->rng, ATTACKS);
    return attack == HANDSHAKE_REPLAYED && hostile->old_proof_bytes == 0 ? HANDSHAKE_NOISE : attack;
}

static void call(struct hostile *hostile)
{
    const struct address address = world_address(hostile->victim);
    hostile->conn = (uint64_t)++hostile->calls << 32;
    hostile->attack = draw_attack(hostile);
    hostile->call_ns = now_ns(hostile);
    hostile->lasts_ns = hostile->kind == HOSTILE_MEMBER
                            ? draw_ns(hostile, SECOND_NS, CALL_MAX_NS - SECOND_NS)
                            : CALL_MAX_NS;
    hostile->established = hostile->sending = hostile->hung_up = false;
    hostile->observed = (struct observed){0};
    hostile->received = 0;
    peer_start(&hostile->peer, hostile->conn, true, &address, hostile->call_ns);
    wire_dial(&hostile->world->wire, hostile->party, hostile->conn, hostile->victim);
}

static void on_time(void *self)
{
    struct hostile *hostile = self;
    if (now_ns(hostile) < hostile->next_ns)
        /* The event is for an earlier outsider in this slot, or was replaced by a later event. */
        return;
    const bool stays = hostile->kind == HOSTILE_MUTE && hostile->established;
    if (hostile->conn == 0)
        call(hostile);
    else if (!stays && now_ns(hostile) - hostile->call_ns > hostile->lasts_ns)
        hang_up(hostile);
    else if (hostile->established && !hostile->hung_up)
        hostile_send(hostile);
    if (!is_in_handshake(hostile))
        pump(hostile);
    sleep_for(hostile,
              hostile->kind == HOSTILE_MUTE ? MUTE_NS : draw_ns(hostile, TICK_MIN_NS, TICK_NS));
}

static void init_credentials(struct hostile *hostile)
{
    const struct node_options *options = &hostile->world->nodes[hostile->victim].options;
    uint8_t key[KEY_BYTES];
    memcpy(key, options->swarm_key, KEY_BYTES);
    key[0] ^= hostile->kind == HOSTILE_STRANGER;
    struct introduction ours;
    introduction_make(&ours, options->swarm_id, options->model, options->parameters);
    if (world_is_running(hostile->world, hostile->victim))
        memcpy(ours.model, node_model_hash(hostile->world->nodes[hostile->victim].node),
               sizeof ours.model);
    struct credentials *credentials = &hostile->credentials;
    credentials_init(credentials, &hostile->identity, key, &ours, &hostile->entropy);
    introduction_context(hostile->context, &ours);
    secret_wipe(key, sizeof key);
}

struct hostile *hostile_enter(struct world *world, enum hostile_kind kind, uint32_t victim,
                              uint64_t seed)
{
    struct hostile *hostile = memory_new(1, sizeof *hostile);
    const struct outsider outsider = {.self = hostile,
                                      .on_connected = on_connected,
                                      .on_bytes = on_bytes,
                                      .on_sent = on_sent,
                                      .on_closed = on_closed,
                                      .on_time = on_time};
    hostile->party = world_enter(world, &outsider);
    if (hostile->party == WIRE_NOBODY) {
        free(hostile);
        return NULL;
    }
    hostile->world = world;
    hostile->kind = kind;
    hostile->victim = victim;
    hostile->rng = rng_new(seed, 0x484F5354);
    uint8_t secret[SEED_BYTES] = {0x6F, 0x75, 0x74};
    memcpy(secret + 8, &seed, sizeof seed);
    identity_from_seed(&hostile->identity, secret);
    secret[3] = 1;
    entropy_from_seed(&hostile->entropy, secret);
    secret[3] = 2;
    hostile_stream_init(hostile, secret);
    init_credentials(hostile);
    hostile->reader = message_reader_new();
    arena_init(&hostile->arena, peer_arena_bytes(QUEUE_BYTES));
    peer_init(&hostile->peer, &hostile->arena, &hostile->arena, QUEUE_BYTES);
    sleep_for(hostile, 0);
    return hostile;
}

void hostile_leave(struct hostile *hostile)
{
    world_exit(hostile->world, hostile->party);
    peer_end(&hostile->peer);
    message_reader_free(hostile->reader);
    hostile_stream_end(hostile);
    false_base_free(&hostile->base);
    arena_release(&hostile->arena);
    secret_wipe(&hostile->identity, sizeof hostile->identity);
    free(hostile);
}
