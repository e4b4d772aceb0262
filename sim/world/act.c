/* Performs the actions of a node: dials and bytes go to the wire, orders to its learner. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "wire/move.h"
#include "world/poisoner.h"
#include "world/world_private.h"

#define SAVE_NS_MAX SECOND_NS /* most time for a checkpoint, besides waits for steps */
#define PARTS_MAX   8         /* most parts of one checkpoint */
/* After the first part of a checkpoint, one part in this many is refused, as if by a slow disk. The
 * refusal ends the checkpoint. */
#define PARTS_LOST 64
/* One READ in this many that arrive during a step waits for its end, as if behind another order. */
#define READS_LATE      8
#define PASSES_A_STEP   3      /* forward passes that take the time of a step */
#define PREDICTS_A_STEP 4      /* number of inference requests that take the time of one step */
#define ACTIONS_MAX     100000 /* more actions of a node at one moment would be an endless loop */

/* An order that arrived during a local step and waits for its end. Most READs do not wait. */
struct waiting_order {
    struct waiting_order *next;
    uint32_t bases; /* number of bases that the node had begun to fetch when it gave the order */
    struct action order[]; /* the order with the data that it points to */
};

static struct waiting_order *waiting_order_new(const struct action *order, uint32_t bases)
{
    struct waiting_order *waiting = memory_new(sizeof *waiting + order_bytes(order), 1);
    waiting->next = NULL;
    waiting->bases = bases;
    (void)order_copy(waiting->order, order);
    return waiting;
}

void world_drop_orders(struct world_node *at)
{
    while (at->orders) {
        struct waiting_order *waiting = at->orders;
        at->orders = waiting->next;
        free(waiting);
    }
    at->orders_end = &at->orders;
}

static uint64_t draw_number(const struct world *world, uint32_t i)
{
    return rng_mix(world->seed ^ world_now_ns(world) ^ i);
}

/* Informs the node of the end of its checkpoint. Completes the checkpoint if it is whole and
 * node_on_saved accepts it, otherwise abandons it. */
static void end_save(struct world *world, uint32_t i, bool is_whole)
{
    struct world_node *at = &world->nodes[i];
    const uint64_t now_ns = world_now_ns(world);
    uint8_t *history = memory_new(node_history_max(&at->options), 1);
    size_t bytes;
    const bool is_of_use = node_on_saved(at->node, now_ns, history, &bytes);
    if (is_whole && is_of_use) {
        sim_disk_end(&at->sim_disk, &at->sim_learner, history, bytes, node_model_hash(at->node),
                     now_ns + draw_number(world, i) % (SAVE_NS_MAX / PARTS_MAX));
        return;
    }
    sim_disk_abandon(&at->sim_disk);
    free(history);
}

/* Handles a checkpoint part that the learner has copied: ends the checkpoint, or schedules the next
 * part. entries: size of the part; 0 = the learner refused it. */
static void on_part(struct world *world, uint32_t i, uint32_t entries)
{
    struct world_node *at = &world->nodes[i];
    const bool is_whole = sim_disk_written(&at->sim_disk) == at->options.parameters;
    sim_disk_write(&at->sim_disk);
    if (entries == 0 || is_whole)
        end_save(world, i, entries > 0);
    else
        event_queue_put(&world->event_queue,
                        world_now_ns(world) + draw_number(world, i) % (SAVE_NS_MAX / PARTS_MAX),
                        WORLD_SAVE, i, at->incarnation, 0);
}

/* Checks invariants (check.h) before the learner performs an order. */
static void look_before(struct world *world, uint32_t i, const struct action *order, uint32_t bases)
{
    if (order->kind == ACTION_APPLY)
        check_applied(world, i, order, bases);
    if (order->kind == ACTION_WRITE)
        check_block_written(world, i, order, bases);
}

static void answer_node(struct world *world, uint32_t i, const struct action *order,
                        const struct answer *answer)
{
    struct world_node *at = &world->nodes[i];
    const uint64_t now_ns = world_now_ns(world);
    struct node_origin before, after;
    node_own(at->node, &before);
    executor_answer(at->node, now_ns, answer);
    node_own(at->node, &after);
    at->applied += order->kind == ACTION_APPLY;
    at->moved_on += order->kind == ACTION_APPLY && order->beta > 0;
    if (order->kind != ACTION_PUBLISH)
        return;
    at->ended |= order->last;
    at->published_ns = now_ns;
    if (answer->update->count > 0)
        check_published(world, i, before.next, &after, answer->update);
}

/* Performs an order for a poisoner, which alters its own publications and records the updates of
 * other nodes. At a publication it also overwrites the weights. A running checkpoint does not
 * record this, so it is abandoned. */
static struct answer perform_poisoned(struct world_node *at, const struct executor *executor,
                                      const struct action *order, uint64_t now_ns)
{
    struct action changed = *order;
    struct node_stats stats;
    changed.beta = 0; /* no outer momentum: a poisoner exaggerates only its own progress */
    if (order->kind == ACTION_PUBLISH) {
        poisoner_prepare(at->poisoner, &at->sim_learner, &changed.terms);
        node_stats(at->node, now_ns, &stats);
        changed.terms.share /= stats.own_part; /* it does not shorten long publications */
    }
    if (order->kind == ACTION_APPLY && !order->own && !order->takes_out)
        poisoner_note(at->poisoner, sim_learner_parameters(&at->sim_learner), order->update,
                      order->tag);
    const struct answer answer = executor_perform(executor, &changed);
    if (order->kind != ACTION_PUBLISH)
        return answer;
    poisoner_finish(at->poisoner, &at->sim_learner);
    if (executor->snapshot)
        snapshot_break(executor->snapshot);
    return answer;
}

static void perform(struct world *world, uint32_t i, const struct action *order, uint32_t bases)
{
    struct world_node *at = &world->nodes[i];
    int32_t *units = order->kind == ACTION_READ ? memory_new(order->entries, sizeof *units) : NULL;
    static float numbers[NODE_PREDICT_MAX];
    struct executor executor = sim_learner_executor(&at->sim_learner, units);
    executor.numbers = numbers;
    executor.snapshot = at->sim_disk.queue;
    look_before(world, i, order, bases);
    if (order->kind == ACTION_PUBLISH)
        at->terms = order->terms;
    struct answer answer = at->poisoner
                               ? perform_poisoned(at, &executor, order, world_now_ns(world))
                               : executor_perform(&executor, order);
    if (order->kind == ACTION_PREDICT)
        answer.took_ns = at->step_ns / PREDICTS_A_STEP;
    if (order->kind == ACTION_PUBLISH && order->terms.compares_labels)
        answer.took_ns = (uint64_t)(answer.label_fit.samples * at->sample_ns / PASSES_A_STEP);
    if (order->kind == ACTION_SAVE)
        on_part(world, i, answer.entries);
    else
        answer_node(world, i, order, &answer);
    sim_disk_write(&at->sim_disk);
    free(units);
}

static void step_begins(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    at->stepping = true;
    sim_learner_step(&at->sim_learner);
    world_watch_step(world, i);
    event_queue_put(&world->event_queue, world_now_ns(world) + at->step_ns, WORLD_STEP, i,
                    at->incarnation, 0);
}

void world_size_step(struct world_node *at)
{
    const uint32_t batch = sim_learner_batch(&at->sim_learner);
    if (at->batch_size.step_ns == 0 || batch == 0)
        return;
    at->step_samples = batch;
    at->step_ns = (uint64_t)(batch * at->sample_ns);
    at->step_ns_most = u64_max(at->step_ns_most, at->step_ns);
}

static void batch_size_step(struct world_node *at)
{
    const uint32_t batch = batch_size_on_step(&at->batch_size, at->step_samples, at->step_ns);
    if (batch == at->step_samples)
        return;
    sim_learner_set_batch(&at->sim_learner, batch);
    world_size_step(at);
}

static uint64_t samples_said(const struct world_node *at)
{
    return at->claims > 0 ? (uint64_t)(at->claims * (double)at->step_samples) : at->step_samples;
}

void world_on_step(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    const uint32_t incarnation = at->incarnation;
    const bool has_more = node_is_learner_full(at->node);
    at->stepping = false;
    at->steps++;
    world->learned += at->step_samples;
    node_on_step(at->node, world_now_ns(world), 1, samples_said(at));
    batch_size_step(at);
    while (at->orders) {
        struct waiting_order *waiting = at->orders;
        at->orders = waiting->next;
        if (!at->orders)
            at->orders_end = &at->orders;
        perform(world, i, waiting->order, waiting->bases);
        free(waiting);
    }
    if (has_more)
        world_pump(world, i);
    if (!at->node || at->incarnation != incarnation)
        return; /* world_pump has stopped or restarted the node */
    if (!at->ended)
        step_begins(world, i);
    world_pump(world, i);
}

static void train(struct world *world, uint32_t i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    const struct executor executor = sim_learner_executor(&at->sim_learner, NULL);
    at->training = true;
    at->began_ns = world_now_ns(world);
    (void)executor_perform(&executor, action);
    if (at->step_ns > 0 && !at->ended)
        step_begins(world, i);
}

static bool must_wait(const struct world *world, uint32_t i, const struct action *action)
{
    if (!world->nodes[i].stepping)
        return false;
    return action->kind != ACTION_READ ||
           rng_mix(world->seed ^ world_now_ns(world) ^ i ^ action->first) % READS_LATE == 0;
}

static void order(struct world *world, uint32_t i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    if (must_wait(world, i, action)) {
        *at->orders_end = waiting_order_new(action, node_bases(at->node));
        at->orders_end = &(*at->orders_end)->next;
    } else {
        perform(world, i, action, node_bases(at->node));
    }
}

static void save_part(struct world *world, uint32_t i)
{
    const struct sim_disk *disk = &world->nodes[i].sim_disk;
    order(world, i, &(struct action){.kind = ACTION_SAVE, .first = sim_disk_written(disk)});
}

void world_on_save(struct world *world, uint32_t i)
{
    if (draw_number(world, i) / PARTS_MAX % PARTS_LOST == 0)
        snapshot_break(world->nodes[i].sim_disk.queue);
    save_part(world, i);
    world_pump(world, i);
}

/* Returns the party with this address, or WIRE_NOBODY. */
static uint32_t party_at(const struct world *world, const struct address *address)
{
    unsigned high, low;
    if (sscanf(address->host, "10.%u.%u.1", &high, &low) != 2 || address->port != WORLD_PORT)
        return WIRE_NOBODY;
    const uint32_t i = high * 256 + low;
    return i < world->wire.parties_count ? i : WIRE_NOBODY;
}

/* Returns true if the note accuses a node of a false base, which only outsiders send. */
static bool is_slander(const struct world *world, const struct note *note)
{
    char who[ID_TEXT_BYTES];
    for (uint32_t i = 0; note->kind == NOTE_FALSE_BASE && i < world->nodes_count; i++) {
        identity_text(who, world->nodes[i].identity.id);
        if (strcmp(who, note->who) == 0)
            return true;
    }
    return false;
}

void world_note(struct world *world, uint32_t i, const struct note *note)
{
    struct world_node *at = &world->nodes[i];
    at->notes[note->kind]++;
    at->last[note->kind] = *note;
    if ((note->kind == NOTE_DIGEST || is_slander(world, note)) && !world->check.outsiders_lie)
        check_fail(&world->check, "3: node %u: %.150s", i, note->text);
    if (note->kind == NOTE_TRAINING && note->level >= LEVEL_WARNING && world->check.trains_well)
        check_fail(&world->check, "12: node %u: %.150s", i, note->text);
    if (world->on_note)
        world->on_note(world->user, i, note);
}

/* Writes the largest change of an entry and the norm of all changes, in units of the weights. */
static void trace_move(FILE *file, const struct update *update)
{
    const struct move move = move_of(update->amount, update->level, update->count);
    CHECK(move.top > 0);
    (void)fprintf(file, " %u entries, moved by %g, together %g", (unsigned)update->count,
                  (double)QUANTUM * update->amount * move.top,
                  (double)QUANTUM * update->amount * move.length);
}

static void trace(struct world *world, uint32_t i, const struct action *action)
{
    static const char *const names[] = {[ACTION_DIAL] = "dial",
                                        [ACTION_SEND] = "send",
                                        [ACTION_HANGUP] = "hangup",
                                        [ACTION_APPLY] = "apply",
                                        [ACTION_TRIAL] = "trial",
                                        [ACTION_TRAIN] = "train",
                                        [ACTION_PUBLISH] = "publish",
                                        [ACTION_READ] = "read",
                                        [ACTION_WRITE] = "write",
                                        [ACTION_SAVE] = "save",
                                        [ACTION_PREDICT] = "predict",
                                        [ACTION_NOTE] = "note",
                                        [ACTION_RESTART] = "restart",
                                        [ACTION_FINISHED] = "finished",
                                        [ACTION_INCARNATION] = "incarnation"};
    const bool has_conn =
        action->kind == ACTION_DIAL || action->kind == ACTION_SEND || action->kind == ACTION_HANGUP;
    const uint64_t conn = has_conn ? action->conn : 0;
    const uint64_t seen[4] = {world_now_ns(world), i, action->kind, conn};
    world_trace(world, seen, sizeof seen);
    if (action->kind == ACTION_SEND)
        world_trace(world, action->bytes, action->count);
    if (!world->trace_file)
        return;
    (void)fprintf(world->trace_file, "%" PRIu64 ".%09" PRIu64 " %u %s",
                  world_now_ns(world) / SECOND_NS, world_now_ns(world) % SECOND_NS, i,
                  names[action->kind]);
    if (has_conn)
        (void)fprintf(world->trace_file, " %" PRIx64, conn);
    if (action->kind == ACTION_DIAL)
        (void)fprintf(world->trace_file, " %s", action->address.host);
    if (action->kind == ACTION_SEND)
        (void)fprintf(world->trace_file, " %zu bytes, trace %016" PRIx64, action->count,
                      world->trace);
    if (action->kind == ACTION_APPLY)
        trace_move(world->trace_file, action->update);
    if (action->kind == ACTION_NOTE)
        (void)fprintf(world->trace_file, " %s %s", action->note.who, action->note.text);
    (void)fputc('\n', world->trace_file);
}

static void act(struct world *world, uint32_t i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    switch (action->kind) {
    case ACTION_DIAL:
        at->dials++;
        at->dialled_ns = world_now_ns(world);
        wire_dial(&world->wire, i, action->conn, party_at(world, &action->address));
        break;
    case ACTION_SEND:
        wire_send(&world->wire, i, action->conn, action->bytes, action->count);
        break;
    case ACTION_HANGUP:
        wire_hang_up(&world->wire, i, action->conn);
        break;
    case ACTION_TRAIN:
        train(world, i, action);
        break;
    case ACTION_APPLY:
    case ACTION_TRIAL:
    case ACTION_PUBLISH:
    case ACTION_READ:
    case ACTION_WRITE:
    case ACTION_PREDICT:
        order(world, i, action);
        break;
    case ACTION_SAVE:
        sim_disk_begin(&at->sim_disk, &at->sim_learner,
                       1 + (uint32_t)(draw_number(world, i) % PARTS_MAX));
        save_part(world, i);
        break;
    case ACTION_NOTE:
        world_note(world, i, &action->note);
        break;
    case ACTION_INCARNATION:
        at->options.incarnation = u64_max(action->first, at->sim_disk.incarnation);
        at->sim_disk.incarnation = at->options.incarnation + NODE_INCARNATIONS;
        node_on_incarnation(at->node, world_now_ns(world), at->options.incarnation);
        break;
    case ACTION_RESTART:
        at->starts_again = true;
        break;
    case ACTION_FINISHED:
        at->finished = true;
        at->finished_ns = world_now_ns(world);
        break;
    }
}

static void sleep_until(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    const uint64_t wake_ns = node_wake_ns(at->node);
    if (wake_ns >= at->wake_ns)
        return;
    at->wake_ns = wake_ns;
    event_queue_put(&world->event_queue, wake_ns, WORLD_WAKE, i, at->incarnation, 0);
}

void world_pump(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    struct action action;
    for (int actions = 0; node_next(at->node, &action); actions++) {
        if (actions == ACTIONS_MAX) {
            check_fail(&world->check, "6: node %u never stops asking for actions", i);
            return;
        }
        trace(world, i, &action);
        act(world, i, &action);
        if (at->dies_in > 0 && --at->dies_in == 0) {
            world_kill(world, i, at->dies_silently);
            return;
        }
    }
    if (sim_disk_knows_model(&at->sim_disk, at->node, world_now_ns(world))) {
        sim_disk_keep_orders(&at->sim_disk, at->node);
        sim_disk_keep_proofs(&at->sim_disk, at->node);
        sim_disk_keep_votes(&at->sim_disk, at->node);
        sim_disk_keep_swarm_keys(&at->sim_disk, at->node);
    }
    if (at->finished) {
        wire_die(&world->wire, i, false);
        world_stop(world, i);
        return;
    }
    if (at->starts_again) {
        wire_die(&world->wire, i, false);
        world_stop(world, i);
        world_start(world, i);
        return;
    }
    sleep_until(world, i);
    check_event(world, i);
}
