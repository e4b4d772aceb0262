#include "fuzz/scene.h"

#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "base/rng.h"
#include "node/admission.h"
#include "node/swarm_keys.h"

#define MEMBER_QUEUE_BYTES (1u << 17)
/* Maximum actions at one moment. A node that requests more is in an endless loop. */
#define ACTIONS_MAX 100000

/* identities of the members, then the node's */
static struct identity identities[SCENE_MEMBERS + 1];
static struct operator_key operator_key;
static struct message_reader *reader;
static const uint8_t swarm_key[KEY_BYTES] = {0x5A, 1};

static struct arena arenas[2];

/* LeakSanitizer's function, if it is linked. Memory that these bytes point to does not count as
 * leaked. */
void __lsan_register_root_region(const void *start, size_t bytes) __attribute__((weak));

struct identity *scene_identity(uint32_t i)
{
    return &identities[i];
}

struct operator_key *scene_operator(void)
{
    return &operator_key;
}

static void make_keys(void)
{
    if (reader)
        return;
    for (uint8_t i = 0; i <= SCENE_MEMBERS; i++) {
        const uint8_t seed[SEED_BYTES] = {i, 0x77};
        identity_from_seed(&identities[i], seed);
    }
    const uint8_t seed[SEED_BYTES] = {0x0B};
    operator_key_from_seed(&operator_key, seed);
    reader = message_reader_new();
}

static struct address address_of(uint32_t i)
{
    struct address address = {.port = 7000};
    (void)snprintf(address.host, sizeof address.host, "10.0.%u.1", (unsigned)i);
    return address;
}

static struct node_options options_of(bool node_calls)
{
    static const uint8_t entropy[SEED_BYTES] = {3};
    struct node_options options = {
        .identity = &identities[SCENE_MEMBERS],
        .swarm_key = swarm_key,
        .swarm_id = "scene",
        .model = "600 numbers",
        .settings = "train.rate=0.02\ndata.shard!1/2\n",
        .parameters = SCENE_PARAMETERS,
        .block_entries = SCENE_BLOCK_ENTRIES,
        .incarnation = 1000,
        .has_operator = true,
        .wall_ms = 1000,
        .keys.entropy = entropy,
        .seed = 4,
        .listen_port = 7000,
        .trains = true,
        .bytes_per_s = 4000,
        .interval_ns = 500000000,
        .steps_min = 4,
        .gain = 1,
        .beta = 0.3,
        .partition_s = 30,
        .weigh_throughput = true,
        .log_bytes = 1 << 16,
        .save_ns = 30000000000,
        .grace_ns = 20000000000,
        .limits = {.peers_max = 6,
                   .members_max = 16,
                   .incarnations_max = 64,
                   .half_open_max = 3,
                   .half_open_per_net_max = 2,
                   .handshake_ns = 5000000000,
                   .silence_ns = 3000000000,
                   .send_queue_bytes = 1 << 17,
                   .apply_window = 2000,
                   .quarantines = true,
                   .answers = {.samples_max = 3,
                               .sample_bytes = 2,
                               .outputs = 1,
                               .about = "1x1x2 uint8, 1 numbers"},
                   .notes_per_s = 10},
    };
    memcpy(options.operator_id, operator_key.id, ID_BYTES);
    for (uint32_t i = 0; node_calls && i < SCENE_MEMBERS; i++)
        options.seeds[options.seeds_count++] = address_of(i);
    return options;
}

static void member_init(struct scene *scene, struct arena *arena, uint32_t i)
{
    struct member *member = &scene->members[i];
    struct introduction ours;
    const uint8_t entropy[SEED_BYTES] = {(uint8_t)i, 0x99};
    introduction_make(&ours, scene->options.swarm_id, scene->options.model, SCENE_PARAMETERS);
    *member = (struct member){.identity = &identities[i], .incarnation = 1};
    entropy_from_seed(&member->entropy, entropy);
    credentials_init(&member->credentials, member->identity, swarm_key, &ours, &member->entropy);
    introduction_context(scene->context, &ours);
    peer_init(&member->peer, arena, arena, MEMBER_QUEUE_BYTES);
}

static struct member *member_by_conn(struct scene *scene, uint64_t conn)
{
    for (uint32_t i = 0; i < SCENE_MEMBERS; i++)
        if (scene->members[i].conn == conn)
            return &scene->members[i];
    return NULL;
}

static void begin(struct scene *scene, struct member *member, uint64_t conn, bool dialled)
{
    const struct address address = address_of(SCENE_MEMBERS);
    member->conn = conn;
    memset(member->heard, 0, sizeof member->heard);
    peer_start(&member->peer, 1, dialled, &address, scene->now_ns);
    congestion_init(&member->link, scene->now_ns);
}

static void end(struct member *member)
{
    if (member->conn == 0)
        return;
    member->conn = 0;
    peer_end(&member->peer);
}

void scene_call(struct scene *scene, struct member *member)
{
    if (member->conn != 0 || scene->is_over)
        return;
    const struct address from = address_of((uint32_t)(member - scene->members));
    const uint64_t conn = node_on_accept(scene->node, scene->now_ns, &from);
    if (conn != 0) {
        begin(scene, member, conn, true);
        peer_on_connected(&member->peer, &member->credentials, 0, scene->now_ns);
    }
    scene_run(scene);
}

void scene_close(struct scene *scene, struct member *member)
{
    const uint64_t conn = member->conn;
    end(member);
    if (conn != 0)
        node_on_closed(scene->node, scene->now_ns, conn, "reset");
    scene_run(scene);
}

void scene_wait_unauthenticated(struct scene *scene, uint8_t network, const uint8_t *bytes,
                                size_t count)
{
    const struct address from = address_of(100u + network);
    const uint64_t conn = scene->is_over ? 0 : node_on_accept(scene->node, scene->now_ns, &from);
    if (conn != 0 && count > 0)
        (void)node_on_bytes(scene->node, scene->now_ns, conn, bytes, count);
    scene_run(scene);
}

static void member_on_message(struct scene *scene, struct member *member)
{
    struct message message;
    size_t bytes;
    const uint8_t *at = peer_message(&member->peer, &bytes);
    CHECK(message_decode(reader, at, bytes, &message) == OK);
    member->heard[message.kind]++;
    member->last[message.kind] = message;
    if (message.kind == PING && !member->is_silent)
        (void)peer_say(&member->peer, &(struct message){.kind = PONG, .token = message.token});
    CHECK(scene->now_ns >= SCENE_BEGIN_NS);
}

/* Returns true if the member may refuse the node during the handshake: the node has used a newer
 * swarm key, and members have only the first key. */
static bool shows_another_key(const struct scene *scene, const struct member *member)
{
    struct node_swarm_key key;
    node_swarm_key(scene->node, &key);
    return member->peer.state == PEER_GREETED && (key.order > 0 || key.older > 0);
}

/* Processes bytes from the node. Returns false if the member refuses the node and ends the
 * connection. */
static bool member_take(struct scene *scene, struct member *member, const uint8_t *bytes,
                        size_t count)
{
    struct problem problem;
    enum peer_event event;
    congestion_on_received(&member->link, scene->now_ns, count);
    while ((event = peer_take(&member->peer, &member->credentials, scene->now_ns, &bytes, &count,
                              &problem)) != PEER_NOTHING) {
        CHECK(event != PEER_REFUSED || shows_another_key(scene, member));
        if (event == PEER_REFUSED)
            return false;
        if (event == PEER_SAID)
            member_on_message(scene, member);
    }
    struct congestion *link = &member->link;
    if (member->is_silent || member->peer.state != PEER_MEETING ||
        !congestion_owes_ack(link, scene->now_ns))
        return true;
    const struct message ack = {
        .kind = ACK, .received = link->received, .clock = scene->now_ns / 1000};
    if (peer_say(&member->peer, &ack))
        congestion_on_acked(link, scene->now_ns);
    return true;
}

/* Delivers the member's queued bytes to the node. Returns false if there were none. */
static bool member_sends(struct scene *scene, struct member *member)
{
    const uint8_t *bytes;
    size_t count;
    if (member->conn == 0 || !peer_next_send(&member->peer, SIZE_MAX, true, &bytes, &count))
        return false;
    (void)node_on_bytes(scene->node, scene->now_ns, member->conn, bytes, count);
    peer_on_sent(&member->peer);
    return true;
}

bool scene_say(struct scene *scene, struct member *member, const struct message *message)
{
    if (member->conn == 0 || !peer_can_say(&member->peer) || !peer_say(&member->peer, message))
        return false;
    scene_run(scene);
    return true;
}

void scene_send_raw(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count)
{
    if (member->conn != 0 && count > 0)
        (void)node_on_bytes(scene->node, scene->now_ns, member->conn, bytes, count);
    scene_run(scene);
}

bool scene_shout(struct scene *scene, struct member *member, const uint8_t *bytes, size_t count)
{
    static uint8_t out[MESSAGE_MAX + RECORD_OVERHEAD];
    if (member->conn == 0 || !peer_can_say(&member->peer) || count == 0 || count > MESSAGE_MAX)
        return false;
    session_seal(&member->peer.keys->session, bytes, count, out);
    scene_send_raw(scene, member, out, count + RECORD_OVERHEAD);
    return true;
}

static void perform(struct scene *scene, const struct action *order)
{
    static int32_t units[SCENE_PARAMETERS];
    static float numbers[NODE_PREDICT_MAX];
    const struct executor executor = {
        .ops = &scene_learner, .learner = scene, .units = units, .numbers = numbers};
    if (order->kind == ACTION_SAVE) {
        static uint8_t history[1 << 18];
        size_t bytes;
        CHECK(node_history_max(&scene->options) <= sizeof history);
        (void)node_on_saved(scene->node, scene->now_ns, history, &bytes);
        return;
    }
    if (order->kind == ACTION_TRAIN)
        scene->is_training = true;
    if (order->kind == ACTION_PUBLISH && order->last)
        scene->is_training = false;
    const struct answer answer = executor_perform(&executor, order);
    executor_answer(scene->node, scene->now_ns, &answer);
}

static void on_order(struct scene *scene, const struct action *order)
{
    if (!scene->is_stepping || order->kind == ACTION_READ) {
        perform(scene, order);
        return;
    }
    const size_t bytes = (order_bytes(order) + 15) & ~(size_t)15;
    /* there is space for the node's largest request */
    CHECK(bytes <= SCENE_ORDERS_BYTES - scene->orders_bytes);
    (void)order_copy(scene->orders + scene->orders_bytes, order);
    scene->orders_bytes += bytes;
}

void scene_set_stepping(struct scene *scene, bool is_stepping)
{
    scene->is_stepping = is_stepping;
    for (size_t at = 0; !is_stepping && at < scene->orders_bytes;) {
        const struct action *order = (const struct action *)(scene->orders + at);
        at += (order_bytes(order) + 15) & ~(size_t)15;
        perform(scene, order);
    }
    if (!is_stepping)
        scene->orders_bytes = 0;
    scene_run(scene);
}

static void on_dial(struct scene *scene, const struct action *action)
{
    for (uint32_t i = 0; i < SCENE_MEMBERS && !scene->refuses_calls; i++) {
        const struct address address = address_of(i);
        struct member *member = &scene->members[i];
        if (member->conn != 0 || action->address.port != address.port ||
            strcmp(action->address.host, address.host) != 0)
            continue;
        begin(scene, member, action->conn, false);
        node_on_connected(scene->node, scene->now_ns, action->conn);
        return;
    }
    node_on_closed(scene->node, scene->now_ns, action->conn, "refused");
}

static void on_send(struct scene *scene, const struct action *action)
{
    struct member *member = member_by_conn(scene, action->conn);
    CHECK(action->bytes && action->count > 0);
    const bool refuses = member && !member_take(scene, member, action->bytes, action->count);
    node_on_sent(scene->node, scene->now_ns, action->conn);
    if (refuses) {
        end(member);
        node_on_closed(scene->node, scene->now_ns, action->conn, "");
    }
}

static void on_hang_up(struct scene *scene, const struct action *action)
{
    struct member *member = member_by_conn(scene, action->conn);
    if (member)
        end(member);
    node_on_closed(scene->node, scene->now_ns, action->conn, "");
}

static void act(struct scene *scene, const struct action *action)
{
    switch (action->kind) {
    case ACTION_DIAL:
        on_dial(scene, action);
        break;
    case ACTION_SEND:
        on_send(scene, action);
        break;
    case ACTION_HANGUP:
        on_hang_up(scene, action);
        break;
    case ACTION_RESTART:
    case ACTION_FINISHED:
        scene->is_over = true;
        break;
    case ACTION_NOTE:
        break;
    case ACTION_INCARNATION:
        node_on_incarnation(scene->node, scene->now_ns, action->first);
        break;
    default:
        on_order(scene, action);
    }
}

void scene_run(struct scene *scene)
{
    struct action action;
    bool is_more = true;
    for (uint32_t actions = 0; is_more && !scene->is_over; actions++) {
        CHECK(actions < ACTIONS_MAX);
        is_more = node_next(scene->node, &action);
        if (is_more)
            act(scene, &action);
        for (uint32_t i = 0; !is_more && i < SCENE_MEMBERS; i++)
            is_more = member_sends(scene, &scene->members[i]);
    }
}

void scene_step(struct scene *scene, uint32_t steps, uint64_t samples)
{
    if (scene->is_training && steps > 0)
        node_on_step(scene->node, scene->now_ns, steps, samples);
    scene_run(scene);
}

void scene_pass(struct scene *scene, uint64_t span_ns)
{
    const uint64_t until_ns = scene->now_ns + span_ns;
    for (uint32_t events = 0; scene->now_ns < until_ns && !scene->is_over; events++) {
        CHECK(events < ACTIONS_MAX);
        const uint64_t wake_ns = node_wake_ns(scene->node);
        if (wake_ns > scene->now_ns)
            scene->now_ns = wake_ns < until_ns ? wake_ns : until_ns;
        node_on_time(scene->node, scene->now_ns);
        scene_run(scene);
    }
}

void scene_check(const struct scene *scene)
{
    uint64_t digest = 0;
    if (scene->is_over || scene->orders_bytes > 0 || node_waiting(scene->node) > 0 ||
        node_is_catching_up(scene->node))
        return;
    for (uint32_t i = 0; i < SCENE_PARAMETERS; i++)
        digest = digest_add(digest, digest_of_entry(i, (uint32_t)scene->units[i]));
    CHECK(digest == node_digest(scene->node));
}

/* Gives the node its list of members, which a node that counts votes needs. */
static void list_members(struct scene *scene)
{
    uint8_t ids[SCENE_MEMBERS + 1][ID_BYTES];
    for (uint32_t i = 0; i < SCENE_MEMBERS; i++)
        memcpy(ids[i], scene->members[i].identity->id, ID_BYTES);
    memcpy(ids[SCENE_MEMBERS], scene->options.identity->id, ID_BYTES);
    node_on_members(scene->node, scene->now_ns, ids[0], SCENE_MEMBERS + 1);
}

struct scene *scene_new(bool node_calls)
{
    make_keys();
    struct arena *arena = &arenas[node_calls];
    const struct node_options options = options_of(node_calls);
    arena_init(arena, sizeof(struct scene) + SCENE_ORDERS_BYTES + node_arena_bytes(&options) +
                          SCENE_MEMBERS * peer_arena_bytes(MEMBER_QUEUE_BYTES) + 4096);
    if (__lsan_register_root_region)
        __lsan_register_root_region(arena->start, arena->size_bytes);
    struct scene *scene = arena_alloc(arena, 1, sizeof *scene);
    scene->arena = arena;
    scene->options = options;
    scene->now_ns = SCENE_BEGIN_NS;
    scene->orders = arena_alloc(arena, SCENE_ORDERS_BYTES, 1);
    for (uint32_t i = 0; i < SCENE_MEMBERS; i++)
        member_init(scene, arena, i);
    scene->node = node_new(arena, &scene->options, scene->now_ns);
    list_members(scene);
    scene_run(scene);
    for (uint32_t i = 0; i < SCENE_MEMBERS; i++)
        scene_call(scene, &scene->members[i]);
    return scene;
}
