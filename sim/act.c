/* What a node asks for is done: calls and bytes go to the wires, hearing and telling to its mind.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "world_inside.h"

#define ACTIONS_MAX 100000 /* at one moment: a node that asks for more never ends */

/* A mind hears and tells between its steps; what comes during one waits. */
struct command {
    struct command *next;
    bool hear;
    struct update update; /* hear: a copy */
    struct tell tell;
    bool last;
};

static struct command *command_new(const struct action *action)
{
    struct command *command = calloc(1, sizeof *command);
    CHECK(command);
    command->tell = action->tell;
    command->last = action->last;
    command->hear = action->kind == ACTION_APPLY;
    if (!command->hear)
        return command;
    const struct update *update = action->update;
    command->update = *update;
    command->update.index = malloc((update->count + 1) * sizeof *update->index);
    command->update.level = malloc(update->count + 1);
    CHECK(command->update.index && command->update.level);
    memcpy(command->update.index, update->index, update->count * sizeof *update->index);
    memcpy(command->update.level, update->level, update->count);
    return command;
}

static void command_free(struct command *command)
{
    free(command->update.index);
    free(command->update.level);
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

static void hear(struct world *world, uint32_t i, const struct update *update)
{
    struct world_node *at = &world->nodes[i];
    check_heard(world, i, update);
    mind_hear(&at->mind, update);
    at->heard++;
    node_on_applied(at->node, world_now_ns(world), update->count);
}

static uint32_t own_next(const struct world_node *at)
{
    struct node_stats stats;
    node_stats(at->node, 0, &stats);
    return (uint32_t)stats.rumors_told;
}

static void tell(struct world *world, uint32_t i, const struct tell *how, bool last)
{
    struct world_node *at = &world->nodes[i];
    const struct update *update = mind_tell(&at->mind, how);
    const uint32_t first = own_next(at);
    at->ended |= last;
    at->told_ns = world_now_ns(world);
    node_on_told(at->node, world_now_ns(world), update);
    if (update->count > 0)
        check_told(world, i, first, own_next(at), update);
}

static void step_begins(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    at->stepping = true;
    mind_step(&at->mind);
    agenda_put(&world->agenda, world_now_ns(world) + at->step_ns, WORLD_STEP, i, at->life, 0);
}

void world_on_step(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    at->stepping = false;
    at->steps++;
    node_on_step(at->node, world_now_ns(world), 1, at->step_samples);
    while (at->commands) {
        struct command *command = at->commands;
        at->commands = command->next;
        if (!at->commands)
            at->commands_end = &at->commands;
        if (command->hear)
            hear(world, i, &command->update);
        else
            tell(world, i, &command->tell, command->last);
        command_free(command);
    }
    if (!at->ended)
        step_begins(world, i);
    world_pump(world, i);
}

static void train(struct world *world, uint32_t i)
{
    struct world_node *at = &world->nodes[i];
    at->training = true;
    at->began_ns = world_now_ns(world);
    if (at->step_ns > 0 && !at->ended)
        step_begins(world, i);
}

static void command(struct world *world, uint32_t i, const struct action *action)
{
    struct world_node *at = &world->nodes[i];
    if (at->stepping) {
        *at->commands_end = command_new(action);
        at->commands_end = &(*at->commands_end)->next;
    } else if (action->kind == ACTION_APPLY) {
        hear(world, i, action->update);
    } else {
        tell(world, i, &action->tell, action->last);
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
    static const char *const names[] = {"dial",  "send", "hangup", "apply",
                                        "train", "tell", "note",   "finished"};
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
        train(world, i);
        break;
    case ACTION_APPLY:
    case ACTION_TELL:
        command(world, i, action);
        break;
    case ACTION_NOTE:
        note(world, i, &action->note);
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
    agenda_put(&world->agenda, wake_ns, WORLD_WAKE, i, at->life, 0);
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
    sleep_until(world, i);
    check_event(world, i);
}
