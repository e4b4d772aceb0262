#include "world/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "events/u64_set.h"
#include "node/broadcast/progress.h"
#include "node/broadcast/version.h"
#include "world/world.h"

/* Time added to deadlines, for example for closing connections. */
#define SLACK_NS (4 * SECOND_NS)
/* Steps that a node may always make between two publications if it chooses their number itself. */
#define STEPS_MOST 16
/* Bound on the samples that a node counts, as a multiple of the claimed or the learned samples,
 * whichever are more. It exceeds 1 because a restarting node counts late rumors twice. */
#define TWICE 1.5

void check_fail(struct check *check, const char *format, ...)
{
    if (check->violation[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(check->violation, sizeof check->violation, format, arguments);
    va_end(arguments);
}

/* The counter of a key is its nonce, so it must rise with each seal. */
static void on_seal(void *self, const uint8_t key[static KEY_BYTES], uint64_t counter)
{
    struct check *check = self;
    uint64_t *next = u64_set_put(&check->nonces, u64_set_of(key, KEY_BYTES));
    if (counter < *next)
        check_fail(check, "7: a key was used with nonce %llu twice", (unsigned long long)counter);
    *next = counter + 1;
}

static bool is_verified(void *self, const uint8_t mark[static SECRET_MARK_BYTES])
{
    struct check *check = self;
    return u64_set_get(&check->verified, u64_set_of(mark, SECRET_MARK_BYTES)) != NULL;
}

static void verified(void *self, const uint8_t mark[static SECRET_MARK_BYTES])
{
    struct check *check = self;
    *u64_set_put(&check->verified, u64_set_of(mark, SECRET_MARK_BYTES)) = 1;
}

void check_init(struct check *check)
{
    *check = (struct check){
        .enabled = true,
        .watch = {.self = check, .on_seal = on_seal, .has_held = is_verified, .held = verified},
    };
    secret_watch(&check->watch);
}

void check_free(struct check *check)
{
    secret_watch(NULL);
    for (uint32_t i = 0; i < check->published_count; i++) {
        free(check->published[i].update.index);
        free(check->published[i].update.level);
    }
    free(check->published);
    for (uint32_t i = 0; i < check->starts_count; i++)
        free(check->starts[i].units);
    free(check->starts);
    u64_set_free(&check->incarnations);
    u64_set_free(&check->rumors_published);
    u64_set_free(&check->rumors_applied);
    u64_set_free(&check->nonces);
    u64_set_free(&check->verified);
}

/* sign: -1 for a reverted update, whose levels are negated. */
static uint64_t hash_of_update(const struct update *update, int sign)
{
    uint64_t hash = rng_mix(update->amount + ((uint64_t)update->count << 32));
    for (uint32_t c = 0; c < update->count; c++)
        hash =
            rng_mix(hash ^ ((uint64_t)update->index[c] << 8 | (uint8_t)(sign * update->level[c]))) +
            1;
    return hash;
}

static uint64_t rumor_key(uint64_t tag, uint32_t seq)
{
    return rng_mix(tag ^ rng_mix(seq)) | 1;
}

/* i: index of the node that published the update; WIRE_NOBODY = an outsider. */
static void note_published(struct check *check, uint32_t i, uint32_t first_seq,
                           const struct node_origin *origin, const struct update *update)
{
    const uint32_t next_seq = origin->next;
    CHECK(first_seq < next_seq);
    if (check->published_count == check->published_max) {
        check->published_max = check->published_max ? 2 * check->published_max : 256;
        check->published =
            memory_more(check->published, check->published_max, sizeof *check->published);
    }
    struct published *published = &check->published[check->published_count++];
    *published = (struct published){.node = i,
                                    .incarnation = origin->incarnation,
                                    .first_seq = first_seq,
                                    .next_seq = next_seq,
                                    .update = *update};
    memcpy(published->id, origin->id, ID_BYTES);
    published->update.index = memory_new(update->count, sizeof *update->index);
    published->update.level = memory_new(update->count, 1);
    memcpy(published->update.index, update->index, update->count * sizeof *update->index);
    memcpy(published->update.level, update->level, update->count);
    for (uint32_t seq = first_seq; seq < next_seq; seq++)
        *u64_set_put(&check->rumors_published,
                     rumor_key(origin_tag(origin->id, origin->incarnation), seq)) =
            check->published_count;
}

void check_published(struct world *world, uint32_t i, uint32_t first_seq,
                     const struct node_origin *origin, const struct update *update)
{
    if (world->check.enabled)
        note_published(&world->check, i, first_seq, origin, update);
}

void check_outsider_published(struct check *check, const uint8_t id[static ID_BYTES],
                              uint64_t incarnation, uint32_t seq, const struct update *update)
{
    struct node_origin origin = {.incarnation = incarnation, .next = seq + 1};
    memcpy(origin.id, id, ID_BYTES);
    if (check->enabled)
        note_published(check, WIRE_NOBODY, seq, &origin, update);
}

/* Returns true if node i published this update since its last start, or ever if that start restored
 * a checkpoint. */
static bool has_published(const struct world_node *at, uint32_t i,
                          const struct published *published)
{
    return published->node == i &&
           (at->options.history_bytes > 0 || published->incarnation >= at->options.incarnation);
}

void check_applied(struct world *world, uint32_t i, const struct action *applied, uint32_t bases)
{
    struct check *check = &world->check;
    if (!check->enabled)
        return;
    const struct world_node *at = &world->nodes[i];
    const uint64_t rumor = rumor_key(applied->tag, applied->seq);
    const uint64_t *number = u64_set_get(&check->rumors_published, rumor);
    const struct published *published = number ? &check->published[*number - 1] : NULL;
    const uint64_t base = rng_mix((uint64_t)i << 40 ^ (uint64_t)at->incarnation << 20 ^ bases);
    uint64_t *mark = u64_set_put(&check->rumors_applied, rng_mix(base ^ rumor) | 1);
    struct node_origin own;
    node_own(at->node, &own);
    if (!published && !check->outsiders_publish)
        check_fail(check, "7: node %u applies an update that no node has published", i);
    if (published && published->next_seq - published->first_seq == 1 &&
        hash_of_update(&published->update, 1) !=
            hash_of_update(applied->update, applied->takes_out ? -1 : 1))
        check_fail(check, "7: node %u applies another update than was published", i);
    if (published && has_published(at, i, published) && !applied->own && !applied->takes_out)
        check_fail(check, "4: node %u applies its own update as another's", i);
    if (*mark && !applied->takes_out)
        check_fail(check, "2: node %u applies rumor %u of %016llx twice", i, applied->seq,
                   (unsigned long long)applied->tag);
    if (origin_tag(own.id, own.incarnation) == applied->tag)
        check_fail(check, "2: node %u receives its own rumor %u", i, applied->seq);
    *mark = !applied->takes_out;
}

static uint64_t base_key(const struct world *world, uint32_t i, uint32_t bases)
{
    return rng_mix((uint64_t)i << 40 ^ (uint64_t)world->nodes[i].incarnation << 20 ^ bases) | 1;
}

/* Returns the incarnation that node i had after it had begun to fetch a base `bases` times
 * (node_bases). If none was recorded, returns the incarnation with which the node started. */
static uint64_t incarnation_at(const struct world *world, uint32_t i, uint32_t bases)
{
    const uint64_t *seen = u64_set_get(&world->check.incarnations, base_key(world, i, bases));
    return seen ? *seen : world->nodes[i].options.incarnation;
}

/* Checks the base that node i has taken over: some node must have published the last rumor that
 * the base counts of each origin. */
static void check_counted(struct check *check, uint32_t i, const struct node *node)
{
    for (uint32_t k = 0; k < node_origins(node) && !check->outsiders_publish; k++) {
        struct node_origin origin;
        node_origin(node, k, &origin);
        const uint64_t tag = origin_tag(origin.id, origin.incarnation);
        if (origin.next > 0 &&
            !u64_set_get(&check->rumors_published, rumor_key(tag, origin.next - 1)))
            check_fail(check, "7: node %u counts %u rumors of %016llx, which no node has published",
                       i, (unsigned)origin.next, (unsigned long long)tag);
    }
}

static void note_incarnation(struct world *world, uint32_t i)
{
    const struct node *node = world->nodes[i].node;
    if (node_bases(node) == 0)
        return;
    uint64_t *seen = u64_set_put(&world->check.incarnations, base_key(world, i, node_bases(node)));
    if (*seen == 0)
        check_counted(&world->check, i, node);
    *seen = node_incarnation(node);
}

/* A node with a new incarnation must keep the effect of its lost publications in its weights. A
 * node that has not trained has no progress to keep. */
void check_block_written(struct world *world, uint32_t i, const struct action *write,
                         uint32_t bases)
{
    const struct world_node *at = &world->nodes[i];
    if (!world->check.enabled)
        return;
    const bool is_new_incarnation =
        node_incarnation(at->node) > incarnation_at(world, i, bases > 0 ? bases - 1 : 0);
    if (is_new_incarnation && bases == node_bases(at->node) && !write->keep_weights)
        check_fail(&world->check, "4: node %u drops publications that were lost", i);
    if (write->keep_weights && !at->training && at->options.history_bytes == 0)
        check_fail(&world->check, "4: node %u keeps weights that have learned nothing", i);
}

void check_event(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    if (world->check.enabled)
        note_incarnation(world, i);
    if (!world->check.enabled || !sim_learner_digest_is_cheap(&at->sim_learner) ||
        node_waiting(at->node) > 0 || node_is_catching_up(at->node))
        return;
    if (node_digest(at->node) != sim_learner_digest(&at->sim_learner))
        check_fail(&world->check, "1: the base of node %u is not the sum of its rumors", i);
}

static void check_caps(struct check *check, uint32_t i, const struct world_node *at,
                       const struct node_stats *stats)
{
    const struct node_options *options = &at->options;
    if (stats->peers_used > options->limits.peers_max)
        check_fail(check, "6: node %u has %u connections", i, (unsigned)stats->peers_used);
    if (stats->queued_bytes_most > options->limits.send_queue_bytes)
        check_fail(check, "6: node %u queues %llu bytes", i,
                   (unsigned long long)stats->queued_bytes_most);
    if (stats->log_held_bytes > options->log_bytes)
        check_fail(check, "6: the log of node %u holds %llu bytes", i,
                   (unsigned long long)stats->log_held_bytes);
    if (at->arena.used_bytes > node_arena_bytes(options))
        check_fail(check, "6: node %u allocates more memory than it announced", i);
}

static void check_training_begins(struct world *world, uint32_t i)
{
    const struct world_node *at = &world->nodes[i];
    const uint64_t now_ns = world_now_ns(world);
    const uint64_t most_ns =
        NODE_JOIN_WAIT_NS + (at->has_met ? NODE_LOST_WAIT_NS : (uint64_t)SLACK_NS);
    if (!at->training && at->options.trains && !node_is_leaving(at->node) &&
        !node_is_catching_up(at->node) && now_ns - at->born_ns > most_ns &&
        now_ns >= world->wire.parties[i].paused_ns + NODE_JOIN_WAIT_NS)
        check_fail(&world->check, "8: node %u waits for the network and does not train", i);
}

/* Checks that a training node has a step in progress and publishes in time. The deadline uses the
 * longer of two publication intervals: the node's present one, and the one a second ago. */
static void check_progress(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    const uint64_t before_ns = at->interval_ns, now_ns = node_interval_ns_max(at->node);
    at->interval_ns = now_ns;
    if (node_lacks_first(at->node))
        /* A node that has taken over the model hash of another swarm publishes nothing until it
         * begins to fetch a base of that swarm. So its deadline starts later. */
        at->published_ns = world_now_ns(world);
    if (!at->training || at->step_ns == 0 || at->ended)
        return;
    const struct node_options *options = &at->options;
    const uint64_t step_ns = u64_max(at->step_ns, at->step_ns_most);
    const uint64_t steps = options->steps_min > 0 ? options->steps_min : STEPS_MOST;
    const uint64_t most_ns = u64_max(u64_max(before_ns, now_ns), steps * step_ns);
    const uint64_t published_ns =
        u64_max(u64_max(at->published_ns, at->began_ns), world->wire.parties[i].paused_ns);
    if (!at->stepping)
        check_fail(&world->check, "8: node %u does not train", i);
    if (world_now_ns(world) > published_ns + most_ns + 2 * step_ns + SLACK_NS)
        check_fail(&world->check, "8: node %u trains and does not publish", i);
}

static void check_count(struct world *world, uint32_t i)
{
    struct check *check = &world->check;
    const struct node *node = world->nodes[i].node;
    const double samples = (double)node_swarm_samples(node), learned = (double)world->learned;
    check->claimed = fmax(check->claimed, progress_claimed(node));
    if (samples > TWICE * fmax(check->claimed, learned))
        check_fail(check, "11: node %u counts %.0f samples; %.0f were claimed, %.0f learned", i,
                   samples, check->claimed, learned);
}

/* Checks that the node at this end closes a connection whose other end vanished. Skips connections
 * on which bytes towards the node are still buffered, in flight or waiting. */
static void check_ghost(struct world *world, const struct connection *connection, int end)
{
    const struct connection_end *mine = &connection->end[end];
    const struct half_connection *half = &connection->half[end];
    if (!connection->end[1 - end].ghost || !mine->up || mine->party >= world->nodes_count ||
        half->held > 0)
        return;
    const struct party *party = &world->wire.parties[mine->party];
    const struct node_options *options = &world->nodes[mine->party].options;
    const uint64_t arrived_ns =
        u64_max(u64_max(half->arrive_ns, half->clear_ns), connection->since_ns);
    const uint64_t received_ns = u64_max(arrived_ns, u64_max(party->paused_ns, party->deaf_ns));
    if (world_now_ns(world) > received_ns +
                                  u64_max(u64_max(options->limits.silence_ns, NODE_PATIENCE_MAX_NS),
                                          options->limits.handshake_ns) +
                                  SLACK_NS)
        check_fail(&world->check, "6: node %u does not notice that its peer is gone", mine->party);
}

void check_second(struct world *world)
{
    struct check *check = &world->check;
    if (!check->enabled)
        return;
    for (uint32_t i = 0; i < world->nodes_count; i++) {
        struct world_node *at = &world->nodes[i];
        if (!at->node)
            continue;
        struct node_stats stats;
        node_stats(at->node, world_now_ns(world), &stats);
        check_caps(check, i, at, &stats);
        check_training_begins(world, i);
        check_progress(world, i);
        check_count(world, i);
        if (stats.waiting == 0 && !node_is_catching_up(at->node) &&
            stats.digest != sim_learner_digest_now(&at->sim_learner))
            check_fail(check, "1: the base of node %u is not the sum of its rumors", i);
        if (sim_learner_account_error(&at->sim_learner) > 0)
            check_fail(check, "4: node %u: published plus residual is not what it produced", i);
    }
    for (uint32_t k = 0; k < world->wire.connections_count; k++)
        for (int end = 0; end < 2 && world->wire.connections[k].generation; end++)
            check_ghost(world, &world->wire.connections[k], end);
}

static uint32_t known_of(const struct world_node *at, const uint8_t id[static ID_BYTES],
                         uint64_t incarnation)
{
    for (uint32_t k = 0; k < node_origins(at->node); k++) {
        struct node_origin origin;
        node_origin(at->node, k, &origin);
        if (origin.incarnation == incarnation && memcmp(origin.id, id, ID_BYTES) == 0)
            return origin.next;
    }
    return 0;
}

/* Adds every rumor in node i's version to `sum`. Returns false if the sum is unknown: the version
 * has only a part of a large update, or a rumor that was not recorded. */
static bool sum_of_rumors(const struct world *world, uint32_t i, int32_t *sum)
{
    const struct check *check = &world->check;
    const struct world_node *at = &world->nodes[i];
    uint64_t rumors = 0;
    struct node_stats stats;
    node_stats(at->node, world_now_ns(world), &stats);
    for (uint32_t k = 0; k < check->published_count; k++) {
        const struct published *published = &check->published[k];
        const uint32_t known = known_of(at, published->id, published->incarnation);
        if (known > published->first_seq && known < published->next_seq)
            return false;
        if (known < published->next_seq)
            continue;
        rumors += published->next_seq - published->first_seq;
        for (uint32_t c = 0; c < published->update.count; c++) {
            uint32_t units;
            memcpy(&units, &sum[published->update.index[c]], sizeof units);
            const int level = published->update.level[c];
            units += published->update.amount * (uint32_t)level;
            memcpy(&sum[published->update.index[c]], &units, sizeof units);
        }
    }
    return rumors == stats.version;
}

/* Returns the first weights (b0) of node i's swarm; NULL = not recorded yet. */
static const int32_t *first_weights_of(const struct world *world, uint32_t i)
{
    const struct check *check = &world->check;
    const uint8_t *model_hash = node_model_hash(world->nodes[i].node);
    for (uint32_t k = 0; k < check->starts_count; k++)
        if (memcmp(check->starts[k].model_hash, model_hash, sizeof check->starts->model_hash) == 0)
            return check->starts[k].units;
    return NULL;
}

static void note_first_weights(struct world *world, uint32_t i)
{
    struct check *check = &world->check;
    const struct world_node *at = &world->nodes[i];
    if (first_weights_of(world, i))
        return;
    check->starts = memory_more(check->starts, check->starts_count + 1, sizeof *check->starts);
    struct first_weights *start = &check->starts[check->starts_count++];
    memcpy(start->model_hash, node_model_hash(at->node), sizeof start->model_hash);
    start->units = memory_new(sim_learner_parameters(&at->sim_learner), sizeof *start->units);
    sim_learner_read_units(&at->sim_learner, start->units);
}

/* Returns false if node i's base is not b0 plus the rumors in its version. If their sum is unknown,
 * returns true. */
static bool is_sum(const struct world *world, uint32_t i)
{
    const struct sim_learner *sim_learner = &world->nodes[i].sim_learner;
    const size_t bytes = sim_learner_parameters(sim_learner) * sizeof(int32_t);
    int32_t *sum = memory_new(bytes, 1), *units = memory_new(bytes, 1);
    memcpy(sum, first_weights_of(world, i), bytes);
    sim_learner_read_units(sim_learner, units);
    const bool is_sum = !sum_of_rumors(world, i, sum) || memcmp(sum, units, bytes) == 0;
    free(sum);
    free(units);
    return is_sum;
}

/* Returns true if the learner has the checkpoint's base and weights. Compares only the last part of
 * the weights: the checkpoint saved the other parts before the learner's last steps. */
static bool is_restored(const struct sim_learner *sim_learner, const struct saved *saved)
{
    const size_t parameters = sim_learner_parameters(sim_learner),
                 bytes = parameters * sizeof(float);
    struct learner_state state;
    void *memory = memory_new(learner_state_bytes(parameters, sim_learner_moments(sim_learner)), 1);
    learner_state_init(&state, memory, parameters, sim_learner_moments(sim_learner));
    sim_learner_save(sim_learner, &state);
    const bool same =
        memcmp(state.base, saved->state.base, bytes) == 0 &&
        memcmp(state.weights + saved->last_part, saved->state.weights + saved->last_part,
               (parameters - saved->last_part) * sizeof(float)) == 0;
    free(memory);
    return same;
}

void check_started(struct world *world, uint32_t i)
{
    struct check *check = &world->check;
    const struct world_node *at = &world->nodes[i];
    const struct saved *saved = sim_disk_newest(&at->sim_disk);
    if (!check->enabled)
        return;
    note_first_weights(world, i);
    if (saved && !is_restored(&at->sim_learner, saved))
        check_fail(check, "9: node %u starts with another state than it saved", i);
    if (!is_sum(world, i))
        check_fail(check, "9: node %u starts with a base that is not the sum of its rumors", i);
}

void check_end(struct world *world)
{
    struct check *check = &world->check;
    int32_t *first = NULL, *units = NULL;
    size_t bytes = 0;
    for (uint32_t i = 0; i < world->nodes_count && check->enabled; i++) {
        struct world_node *at = &world->nodes[i];
        if (!at->node)
            continue;
        bytes = sim_learner_parameters(&at->sim_learner) * sizeof *units;
        if (!first) {
            first = memory_new(bytes, 1);
            units = memory_new(bytes, 1);
            sim_learner_read_units(&at->sim_learner, first);
            if (!is_sum(world, i))
                check_fail(check, "1: the base of node %u is not b0 and the sum of its rumors", i);
        }
        sim_learner_read_units(&at->sim_learner, units);
        if (memcmp(first, units, bytes) != 0)
            check_fail(check, "3: node %u has the version of the others, and another base", i);
    }
    free(first);
    free(units);
}
