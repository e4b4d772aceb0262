#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "node/admission.h"
#include "node/expulsion_api.h"
#include "node/quarantine_api.h"
#include "node/settle.h"
#include "world/poisoner.h"
#include "world/world_private.h"

#define EPOCH_MS 1700000000000ull /* wall clock at virtual time 0, milliseconds since 1970 */

void world_trace(struct world *world, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint64_t hash = world->trace, word = 0;
    for (; count >= 8; at += 8, count -= 8) {
        memcpy(&word, at, 8);
        hash = rng_mix(hash ^ word) + 1;
    }
    word = count;
    memcpy(&word, at, count);
    world->trace = rng_mix(hash ^ word ^ (uint64_t)count << 56) + 1;
}

/* The functions below forward events of the network to its parties. Party i < nodes_max is node i;
 * later parties are outsiders. */

static struct outsider *outsider_at(struct world *world, uint32_t party)
{
    return &world->outsiders[party - world->nodes_max];
}

static uint64_t on_accept(void *self, uint32_t party, uint32_t from)
{
    struct world *world = self;
    if (party >= world->nodes_max) {
        struct outsider *outsider = outsider_at(world, party);
        return outsider->self && outsider->on_accept ? outsider->on_accept(outsider->self, from)
                                                     : 0;
    }
    struct address address = world_address(from);
    address.port = 40000;
    const uint64_t conn = node_on_accept(world->nodes[party].node, world_now_ns(world), &address);
    world->nodes[party].has_met |= conn != 0;
    world_pump(world, party);
    return world_is_running(world, party) ? conn : 0;
}

static void on_connected(void *self, uint32_t party, uint64_t conn)
{
    struct world *world = self;
    if (party >= world->nodes_max) {
        outsider_at(world, party)->on_connected(outsider_at(world, party)->self, conn);
        return;
    }
    world->nodes[party].has_met = true;
    node_on_connected(world->nodes[party].node, world_now_ns(world), conn);
    world_pump(world, party);
}

static void on_bytes(void *self, uint32_t party, uint64_t conn, const uint8_t *bytes, size_t count)
{
    struct world *world = self;
    if (party >= world->nodes_max) {
        outsider_at(world, party)->on_bytes(outsider_at(world, party)->self, conn, bytes, count);
        return;
    }
    const uint64_t resume_ns =
        node_on_bytes(world->nodes[party].node, world_now_ns(world), conn, bytes, count);
    if (resume_ns > 0)
        wire_hold(&world->wire, party, conn, resume_ns);
    world_pump(world, party);
}

static void on_sent(void *self, uint32_t party, uint64_t conn)
{
    struct world *world = self;
    if (party >= world->nodes_max) {
        outsider_at(world, party)->on_sent(outsider_at(world, party)->self, conn);
        return;
    }
    node_on_sent(world->nodes[party].node, world_now_ns(world), conn);
    world_pump(world, party);
}

static void on_closed(void *self, uint32_t party, uint64_t conn, const char *why)
{
    struct world *world = self;
    if (party >= world->nodes_max) {
        outsider_at(world, party)->on_closed(outsider_at(world, party)->self, conn);
        return;
    }
    node_on_closed(world->nodes[party].node, world_now_ns(world), conn, why);
    world_pump(world, party);
}

/* The functions below set up the world and its nodes. */

void world_init(struct world *world, const struct world_options *options)
{
    *world = (struct world){
        .nodes = memory_new(options->nodes_max, sizeof *world->nodes),
        .nodes_max = options->nodes_max,
        .outsiders = memory_new(options->outsiders_max + 1, sizeof *world->outsiders),
        .outsiders_max = options->outsiders_max,
        .maker = options->maker,
        .seed = options->seed,
    };
    event_queue_init(&world->event_queue, WORLD_BEGIN_NS);
    const struct wire_owner owner = {.self = world,
                                     .on_accept = on_accept,
                                     .on_connected = on_connected,
                                     .on_bytes = on_bytes,
                                     .on_sent = on_sent,
                                     .on_closed = on_closed};
    wire_init(&world->wire, &world->event_queue, &owner, WORLD_EVENTS,
              options->nodes_max + options->outsiders_max, options->paths, options->regions,
              options->seed);
    check_init(&world->check);
}

void world_free(struct world *world)
{
    for (uint32_t i = 0; i < world->nodes_count; i++) {
        world_stop(world, i);
        if (sim_learner_exists(&world->nodes[i].sim_learner))
            sim_learner_free(&world->nodes[i].sim_learner);
        sim_disk_clear(&world->nodes[i].sim_disk);
        poisoner_free(world->nodes[i].poisoner);
        secret_wipe(&world->nodes[i].identity, sizeof world->nodes[i].identity);
    }
    check_free(&world->check);
    wire_free(&world->wire);
    event_queue_free(&world->event_queue);
    free(world->outsiders);
    free(world->nodes);
}

struct address world_address(uint32_t i)
{
    struct address address = {.port = WORLD_PORT};
    (void)snprintf(address.host, sizeof address.host, "10.%u.%u.1", (unsigned)(i / 256),
                   (unsigned)(i % 256));
    return address;
}

static const uint8_t ANY_KEY[KEY_BYTES]; /* swarm key of nodes whose options name none */

uint32_t world_add(struct world *world, const struct node_options *options, uint64_t identity,
                   uint32_t region)
{
    CHECK(world->nodes_count < world->nodes_max);
    const uint32_t i = world->nodes_count++;
    struct world_node *at = &world->nodes[i];
    uint8_t seed[SEED_BYTES] = {0x68, 0x73};
    memcpy(seed + 8, &identity, sizeof identity);
    identity_from_seed(&at->identity, seed);
    at->options = *options;
    if (!options->swarm_key)
        at->options.swarm_key = ANY_KEY;
    at->orders_end = &at->orders;
    world->wire.parties[i].region = region;
    return i;
}

void world_introduce(struct world *world, uint32_t i, uint32_t j)
{
    struct node_options *options = &world->nodes[i].options;
    CHECK(options->seeds_count < NODE_SEEDS_MAX);
    options->seeds[options->seeds_count++] = world_address(j);
}

uint64_t world_wall_ms(const struct world *world)
{
    return EPOCH_MS + world_now_ns(world) / MS_NS;
}

/* Drops stored orders, proofs, votes and swarm keys that are signed for another model hash than the
 * checkpoint's. A daemon would refuse to start and name the files that its user must remove. */
static void drop_foreign(struct node_options *options)
{
    struct problem problem;
    if (node_orders_check(options, &problem) != OK)
        options->kept.orders = options->kept.swarm_keys = (struct kept){0};
    if (node_proofs_check(options, &problem) != OK)
        options->kept.proofs = (struct kept){0};
    if (node_votes_check(options, &problem) != OK)
        options->kept.votes = (struct kept){0};
}

static void prepare(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    struct node_options *options = &at->options;
    options->identity = &at->identity;
    options->seed = rng_mix(world->seed + i) | 1;
    options->wall_ms = (uint64_t)((int64_t)world_wall_ms(world) + at->clock_ms);
    options->incarnation = options->wall_ms;
    options->incarnation = u64_max(options->incarnation, at->sim_disk.incarnation);
    at->sim_disk.incarnation = options->incarnation + NODE_INCARNATIONS;
    const uint64_t entropy[3] = {world->seed, i, at->incarnation};
    memcpy(at->entropy, entropy, sizeof entropy);
    options->keys.entropy = at->entropy;
    const struct saved *saved = sim_disk_newest(&at->sim_disk);
    if (saved)
        sim_disk_restore(saved, &at->sim_learner);
    options->history = saved ? saved->history : NULL;
    options->history_bytes = saved ? saved->history_bytes : 0;
    options->model_hash = saved ? saved->model_hash : NULL;
    options->kept.orders.at = at->sim_disk.orders;
    options->kept.orders.bytes = at->sim_disk.orders_bytes;
    options->kept.proofs.at = at->sim_disk.proofs;
    options->kept.proofs.bytes = at->sim_disk.proofs_bytes;
    options->kept.votes.at = at->sim_disk.votes;
    options->kept.votes.bytes = at->sim_disk.votes_bytes;
    options->kept.swarm_keys.at = at->sim_disk.swarm_keys;
    options->kept.swarm_keys.bytes = at->sim_disk.swarm_keys_bytes;
    options->parameters = sim_learner_parameters(&at->sim_learner);
    options->digest = sim_learner_digest(&at->sim_learner);
    options->kept.swarm_samples = saved ? saved->state.swarm_samples : 0;
    drop_foreign(options);
}

static void list_all(struct world *world, uint32_t i)
{
    static uint8_t ids[NODE_LISTED_MAX][ID_BYTES];
    CHECK(world->nodes_count <= NODE_LISTED_MAX);
    for (uint32_t k = 0; k < world->nodes_count; k++)
        memcpy(ids[k], world->nodes[k].identity.id, ID_BYTES);
    node_on_members(world->nodes[i].node, world_now_ns(world), ids[0], world->nodes_count);
}

void world_start(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    CHECK(!at->node);
    if (sim_learner_exists(&at->sim_learner))
        sim_learner_free(&at->sim_learner);
    world->maker.make(world->maker.self, i, &at->sim_learner);
    at->incarnation++;
    at->ended = world->is_resting;
    at->training = at->stepping = at->finished = at->starts_again = at->has_met = false;
    at->steps = at->applied = at->moved_on = 0;
    world->wire.parties[i].paused_ns = world->wire.parties[i].deaf_ns = 0;
    at->born_ns = world_now_ns(world);
    prepare(world, i);
    world_training_begins(at);
    arena_init(&at->arena, node_arena_bytes(&at->options));
    at->node = node_new(&at->arena, &at->options, world_now_ns(world));
    check_started(world, i);
    if (world->has_list)
        list_all(world, i);
    at->step_ns_most = 0;
    at->batch_size.samples = at->batch_size.ns = at->batch_size.steps = 0;
    world_size_step(at);
    at->wake_ns = NEVER_NS;
    world->wire.parties[i].listens = at->options.listen_port != 0;
    world_pump(world, i);
}

void world_stop(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    if (!at->node)
        return;
    sim_disk_settle(&at->sim_disk, world_now_ns(world));
    node_free(at->node);
    arena_release(&at->arena);
    at->node = NULL;
    world->wire.parties[i].listens = false;
    world_drop_orders(at);
}

void world_kill(struct world *world, uint32_t i, bool silently)
{
    wire_die(&world->wire, i, silently);
    world_stop(world, i);
}

void world_wipe(struct world *world, uint32_t i)
{
    CHECK(!world_is_running(world, i));
    sim_disk_clear(&world->nodes[i].sim_disk);
}

void world_kill_in(struct world *world, uint32_t i, uint32_t actions, bool silently)
{
    world->nodes[i].dies_in = actions;
    world->nodes[i].dies_silently = silently;
}

enum error world_order(struct world *world, uint32_t i, const uint8_t *order, size_t bytes)
{
    struct problem problem;
    const enum error error =
        node_on_order(world->nodes[i].node, world_now_ns(world), order, bytes, &problem);
    world_pump(world, i);
    return error;
}

void world_vote(struct world *world, uint32_t i, const uint8_t *vote)
{
    CHECK(node_on_vote(world->nodes[i].node, world_now_ns(world), vote) == OK);
    world_pump(world, i);
}

enum error world_swarm_key(struct world *world, uint32_t i, const uint8_t key[static KEY_BYTES])
{
    struct problem problem;
    const enum error error =
        node_on_swarm_key(world->nodes[i].node, world_now_ns(world), key, &problem);
    world_pump(world, i);
    return error;
}

void world_list(struct world *world, uint32_t i, const uint32_t *members, uint32_t count)
{
    static uint8_t ids[NODE_LISTED_MAX][ID_BYTES];
    CHECK(count <= NODE_LISTED_MAX);
    for (uint32_t k = 0; k < count; k++)
        memcpy(ids[k], world->nodes[members[k]].identity.id, ID_BYTES);
    node_on_members(world->nodes[i].node, world_now_ns(world), ids[0], count);
    world_pump(world, i);
}

void world_poison(struct world *world, uint32_t i, enum poison poison, double value,
                  uint64_t common)
{
    struct world_node *at = &world->nodes[i];
    world_cure(world, i, poison);
    if (poison == POISON_CLAIMS)
        at->claims = value;
    if (poison_is_published(poison))
        at->poisoner = poisoner_new(poison, value, rng_mix(common + i), common);
}

void world_cure(struct world *world, uint32_t i, enum poison poison)
{
    struct world_node *at = &world->nodes[i];
    if (poison == POISON_CLAIMS)
        at->claims = 0;
    if (!poison_is_published(poison))
        return;
    poisoner_free(at->poisoner);
    at->poisoner = NULL;
}

void world_leave(struct world *world, uint32_t i)
{
    node_leave(world->nodes[i].node, world_now_ns(world));
    world_pump(world, i);
}

void world_finish(struct world *world, uint32_t i)
{
    CHECK(node_finish(world->nodes[i].node, world_now_ns(world)));
    world_pump(world, i);
}

void world_pause(struct world *world, uint32_t i, uint64_t until_ns)
{
    struct party *party = &world->wire.parties[i];
    party->paused_ns = u64_max(party->paused_ns, until_ns);
}

void world_rest(struct world *world)
{
    world->is_resting = true;
    for (uint32_t i = 0; i < world->nodes_count; i++)
        world->nodes[i].ended = true;
}

/* The functions below are called by outsiders. */

uint32_t world_enter(struct world *world, const struct outsider *outsider)
{
    for (uint32_t i = 0; i < world->outsiders_max; i++) {
        if (world->outsiders[i].self)
            continue;
        world->outsiders[i] = *outsider;
        world->wire.parties[world->nodes_max + i].listens = outsider->on_accept != NULL;
        return world->nodes_max + i;
    }
    return WIRE_NOBODY;
}

void world_call_outsider(struct world *world, uint32_t party, uint64_t at_ns)
{
    event_queue_put(&world->event_queue, at_ns, WORLD_OUTSIDER, party, 0, 0);
}

void world_exit(struct world *world, uint32_t party)
{
    wire_die(&world->wire, party, false);
    *outsider_at(world, party) = (struct outsider){0};
}

/* The functions below are the event loop. */

void world_put(struct world *world, uint64_t at_ns, uint64_t subject, uint64_t amount)
{
    event_queue_put(&world->event_queue, at_ns, WORLD_USER, 0, subject, amount);
}

/* Returns true if a node's event may be handled now. Postpones events of a paused process until it
 * continues. Drops events of an earlier start. */
static bool is_due(struct world *world, const struct event *event)
{
    const struct world_node *at = &world->nodes[event->who];
    const uint64_t paused_ns = world->wire.parties[event->who].paused_ns;
    if (!at->node || at->incarnation != event->subject)
        return false;
    if (world_now_ns(world) >= paused_ns)
        return true;
    event_queue_put(&world->event_queue, paused_ns, event->kind, event->who, event->subject,
                    event->amount);
    return false;
}

static void on_wake(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    if (world_now_ns(world) < at->wake_ns)
        return; /* outdated event: the node now waits for a later wake-up */
    at->wake_ns = NEVER_NS;
    if (node_wake_ns(at->node) <= world_now_ns(world)) {
        node_on_time(at->node, world_now_ns(world));
        if (node_wake_ns(at->node) <= world_now_ns(world))
            check_fail(&world->check, "6: node %u asks for wake-ups without end", i);
    }
    world_pump(world, i);
}

static void on_event(struct world *world, const struct event *event)
{
    if (event->kind >= WORLD_EVENTS) {
        wire_on_event(&world->wire, event);
        return;
    }
    switch ((enum world_event)event->kind) {
    case WORLD_WAKE:
        if (is_due(world, event))
            on_wake(world, event->who);
        break;
    case WORLD_STEP:
        if (is_due(world, event))
            world_on_step(world, event->who);
        break;
    case WORLD_SAVE:
        if (is_due(world, event))
            world_on_save(world, event->who);
        break;
    case WORLD_OUTSIDER:
        if (outsider_at(world, event->who)->self)
            outsider_at(world, event->who)->on_time(outsider_at(world, event->who)->self);
        break;
    case WORLD_USER:
        world->on_user(world->user, event->subject, event->amount);
        break;
    case WORLD_EVENTS:
        break;
    }
}

void world_run_until(struct world *world, uint64_t until_ns)
{
    while (event_queue_next_ns(&world->event_queue) <= until_ns && !world->check.violation[0]) {
        const struct event event = event_queue_take(&world->event_queue);
        on_event(world, &event);
    }
    world->event_queue.now_ns = u64_max(world->event_queue.now_ns, until_ns);
}

bool world_is_one_version(const struct world *world)
{
    bool first = true;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < world->nodes_count; i++) {
        if (!world->nodes[i].node)
            continue;
        struct node_stats stats;
        node_stats(world->nodes[i].node, world_now_ns(world), &stats);
        if (stats.waiting > 0 || node_is_catching_up(world->nodes[i].node) ||
            (!first && stats.version_hash != hash))
            return false;
        hash = stats.version_hash;
        first = false;
    }
    return true;
}

uint32_t world_running(const struct world *world)
{
    uint32_t running = 0;
    for (uint32_t i = 0; i < world->nodes_count; i++)
        running += world_is_running(world, i);
    return running;
}

bool world_is_known(const struct world *world)
{
    const uint32_t running = world_running(world);
    for (uint32_t i = 0; i < world->nodes_count; i++) {
        if (!world_is_running(world, i))
            continue;
        struct node_stats stats;
        node_stats(world->nodes[i].node, world_now_ns(world), &stats);
        if (stats.members_live != running)
            return false;
    }
    return true;
}
