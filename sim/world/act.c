/* What a node asks for is done: calls and bytes go to the wires, hearing and telling to its mind.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "world/world_inside.h"

#define SAVE_NS_MAX SECOND_NS /* a checkpoint takes up to so long to be written */
#define ACTIONS_MAX 100000    /* at one moment: a node that asks for more never ends */

/* What a mind is asked for is done between its steps; what comes during one waits. */
struct command {
    struct command *next;
    struct action action;
    uint32_t bases;       /* that the node had taken over when it asked */
    struct update update; /* APPLY: a copy */
    int32_t *units;       /* WRITE: a copy */
};

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    CHECK(copy);
    memcpy(copy, from, bytes);
    return copy;
}

static struct command *command_new(const struct action *action, uint32_t bases)
{
    struct command *command = calloc(1, sizeof *command);
    CHECK(command);
    command->action = *action;
    command->bases = bases;
    if (action->kind == ACTION_WRITE) {
        command->units = copy_of(action->units, action->entries * sizeof *action->units);
        command->action.units = command->units;
    }
    if (action->kind == ACTION_APPLY) {
        const struct update *update = action->update;
        command->update = *update;
        command->update.index = copy_of(update->index, update->count * sizeof *update->index);
        command->update.level = copy_of(update->level, update->count);
        command->action.update = &command->update;
    }
    return command;
}

static void command_free(struct command *command)
{
    free(command->update.index);
    free(command->update.level);
    free(command->units);
    free(command);
}

void commands_drop(struct world_node *at)
{
    while (at->commands) {
        struct command *command = at->commands;
        at->commands = command->next;
        command_free(command);
    }
    at->commands_end = &at->commands;
}

static void hear(struct world *world, uint32_t i, const struct action *action, uint32_t bases)
{
    struct world_node *at = &world->nodes[i];
    check_heard(world, i, action, bases);
    if (action->own)
        sim_learner_apply_own(&at->sim_learner, action->update);
    else
        sim_learner_apply(&at->sim_learner, action->update);
    at->heard++;
    node_on_applied(at->node, world_now_ns(world), action->update->count);
}

static void terms(struct world *world, uint32_t i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    const struct update *update = sim_learner_publish(&at->sim_learner, &action->terms);
    struct node_origin before, after;
    node_own(at->node, &before);
    at->ended |= action->last;
    at->published_ns = world_now_ns(world);
    node_on_published(at->node, world_now_ns(world), update);
    node_own(at->node, &after);
    if (update->count > 0)
        check_told(world, i, before.next, &after, update);
}

static void read_part(struct world *world, uint32_t i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    int32_t *units = malloc(action->entries * sizeof *units);
    CHECK(units);
    sim_learner_read_block(&at->sim_learner, action->first, action->entries, units);
    node_on_read(at->node, world_now_ns(world), units);
    free(units);
}

static void write_part(struct world *world, uint32_t i, const struct action *action, uint32_t bases)
{
    struct world_node *at = &world->nodes[i];
    check_written(world, i, action, bases);
    sim_learner_write_block(&at->sim_learner, action->first, action->entries, action->units,
                            action->keep_weights);
    node_on_applied(at->node, world_now_ns(world), action->entries);
}

static void save(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    const uint64_t now_ns = world_now_ns(world);
    const uint64_t takes_ns = rng_mix(world->seed ^ now_ns ^ i) % SAVE_NS_MAX;
    sim_disk_save(&at->sim_disk, &at->sim_learner, at->node, &at->options, now_ns,
                  now_ns + takes_ns);
}

/* The mind does it now. */
static void do_command(struct world *world, uint32_t i, const struct action *action, uint32_t bases)
{
    switch (action->kind) {
    case ACTION_APPLY:
        hear(world, i, action, bases);
        break;
    case ACTION_PUBLISH:
        terms(world, i, action);
        break;
    case ACTION_READ:
        read_part(world, i, action);
        break;
    case ACTION_WRITE:
        write_part(world, i, action, bases);
        break;
    case ACTION_SAVE:
        save(world, i);
        break;
    default:
        CHECK(false);
    }
}

static void step_begins(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    at->stepping = true;
    sim_learner_step(&at->sim_learner);
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
    if (at->step_ns_most < at->step_ns)
        at->step_ns_most = at->step_ns;
}

/* How many samples the next step has follows from how long this one took, as in the daemon. */
static void batch_size_step(struct world_node *at)
{
    const uint32_t batch = batch_size_on_step(&at->batch_size, at->step_samples, at->step_ns);
    if (batch == at->step_samples)
        return;
    sim_learner_set_batch(&at->sim_learner, batch);
    world_size_step(at);
}

void world_on_step(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    at->stepping = false;
    at->steps++;
    node_on_step(at->node, world_now_ns(world), 1, at->step_samples);
    batch_size_step(at);
    while (at->commands) {
        struct command *command = at->commands;
        at->commands = command->next;
        if (!at->commands)
            at->commands_end = &at->commands;
        do_command(world, i, &command->action, command->bases);
        command_free(command);
    }
    if (!at->ended)
        step_begins(world, i);
    world_pump(world, i);
}

static void train(struct world *world, uint32_t i, uint64_t swarm_samples)
{
    struct world_node *at = &world->nodes[i];
    at->training = true;
    at->began_ns = world_now_ns(world);
    sim_learner_follow(&at->sim_learner, swarm_samples);
    if (at->step_ns > 0 && !at->ended)
        step_begins(world, i);
}

static void command(struct world *world, uint32_t i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    if (at->stepping) {
        *at->commands_end = command_new(action, node_bases(at->node));
        at->commands_end = &(*at->commands_end)->next;
    } else {
        do_command(world, i, action, node_bases(at->node));
    }
}

/* The party that listens at this address. */
static uint32_t party_at(const struct world *world, const struct address *address)
{
    unsigned high, low;
    if (sscanf(address->host, "10.%u.%u.1", &high, &low) != 2 || address->port != WORLD_PORT)
        return WIRE_NOBODY;
    const uint32_t i = high * 256 + low;
    return i < world->wire.parties_count ? i : WIRE_NOBODY;
}

static void note(struct world *world, uint32_t i, const struct note *note)
{
    struct world_node *at = &world->nodes[i];
    at->notes[note->kind]++;
    at->last[note->kind] = *note;
    if (note->kind == NOTE_DIGEST)
        check_fail(&world->check, "3: node %u: %.150s", i, note->text);
    if (world->on_note)
        world->on_note(world->user, i, note);
}

static void trace(struct world *world, uint32_t i, const struct action *action)
{
    static const char *const names[] = {"dial", "send",  "hangup", "apply", "train",   "tell",
                                        "read", "write", "save",   "note",  "restart", "finished"};
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
        train(world, i, action->swarm_samples);
        break;
    case ACTION_APPLY:
    case ACTION_PUBLISH:
    case ACTION_READ:
    case ACTION_WRITE:
    case ACTION_SAVE:
        command(world, i, action);
        break;
    case ACTION_NOTE:
        note(world, i, &action->note);
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
            check_fail(&world->check, "6: node %u asks for ever more", i);
            return;
        }
        trace(world, i, &action);
        act(world, i, &action);
        if (at->dies_in > 0 && --at->dies_in == 0) {
            world_kill(world, i, at->dies_silently);
            return;
        }
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
