#include "faults/health.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* MEMBER_NS: time after a fault's end for which the fault explains that a member was declared dead,
 * because a record expires after four record periods. NEIGHBOUR_NS: such a time for a lost
 * neighbour. */
#define MEMBER_NS    (60 * SECOND_NS)
#define NEIGHBOUR_NS (NODE_PATIENCE_MAX_NS + 5 * SECOND_NS)

#define SILENT "is no longer a neighbour: the peer was silent for too long"

static uint64_t mark_of_text(const char *text)
{
    return u64_set_of(text, strlen(text));
}

void health_init(struct health *health, const struct world *world,
                 const struct fault_injector *injector, uint32_t nodes)
{
    *health = (struct health){.world = world, .injector = injector, .nodes = nodes};
    health->warnings = memory_new(nodes, sizeof *health->warnings);
    for (uint32_t i = 0; i < nodes; i++) {
        char text[ID_TEXT_BYTES];
        identity_text(text, world->nodes[i].identity.id);
        *u64_set_put(&health->ids, mark_of_text(text)) = i + 1;
    }
}

void health_free(struct health *health)
{
    u64_set_free(&health->ids);
    free(health->warnings);
}

/* Returns the index of the node whose id has this text form; WIRE_NOBODY = no node has it. */
static uint32_t node_called(const struct health *health, const char *text)
{
    const uint64_t *number = u64_set_get(&health->ids, mark_of_text(text));
    return number ? (uint32_t)*number - 1 : WIRE_NOBODY;
}

static void mark_neighbours(const struct health *health, uint32_t i, uint8_t *is_neighbour)
{
    const struct node *node = health->world->nodes[i].node;
    for (uint32_t k = 0; node && k < node_links(node); k++) {
        struct node_link link;
        char text[ID_TEXT_BYTES];
        node_link(node, k, &link);
        identity_text(text, link.id);
        const uint32_t other = link.open ? node_called(health, text) : WIRE_NOBODY;
        if (other != WIRE_NOBODY)
            is_neighbour[other] = 1;
    }
}

/* Sets reached[k] for all nodes k that node i reaches over connections. todo: scratch [nodes]. */
static void reach(const uint8_t *is_neighbour, uint32_t nodes, uint32_t i, bool *reached,
                  uint32_t *todo)
{
    uint32_t count = 0;
    reached[i] = true;
    todo[count++] = i;
    while (count > 0) {
        const size_t at = todo[--count];
        for (uint32_t k = 0; k < nodes; k++) {
            if (reached[k] || !is_neighbour[at * nodes + k] ||
                !is_neighbour[k * (size_t)nodes + at])
                continue;
            reached[k] = true;
            todo[count++] = k;
        }
    }
}

uint32_t health_components(const struct health *health)
{
    const uint32_t nodes = health->nodes;
    uint8_t *is_neighbour = memory_new(nodes, nodes);
    bool *reached = memory_new(nodes, sizeof *reached);
    uint32_t *todo = memory_new(nodes, sizeof *todo);
    uint32_t components = 0;
    for (uint32_t i = 0; i < nodes; i++)
        mark_neighbours(health, i, is_neighbour + (size_t)i * nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        if (reached[i] || !world_is_running(health->world, i))
            continue;
        reach(is_neighbour, nodes, i, reached, todo);
        components++;
    }
    free(is_neighbour);
    free(reached);
    free(todo);
    return components;
}

bool health_has_joined(const struct health *health, uint32_t i)
{
    const struct world_node *at = &health->world->nodes[i];
    return at->node && !node_is_catching_up(at->node) && node_phase(at->node) >= NODE_RUNNING &&
           (at->training || !at->options.trains);
}

static void note_warning(struct health *health, uint32_t i, const struct note *note)
{
    const uint32_t other = note->who[0] ? node_called(health, note->who) : WIRE_NOBODY;
    CHECK(NOTE_KINDS <= 64);
    if (note->level >= LEVEL_WARNING && other != WIRE_NOBODY && other != i)
        health->warnings[other] |= 1ull << note->kind;
}

void health_on_note(struct health *health, uint32_t i, const struct note *note)
{
    note_warning(health, i, note);
    const uint64_t now_ns = world_now_ns(health->world);
    const bool is_silent = note->kind == NOTE_NEIGHBOUR_LOST && strcmp(note->text, SILENT) == 0;
    if (i >= health->nodes || !(is_silent || note->kind == NOTE_MEMBER_DEAD))
        return;
    const uint32_t other = node_called(health, note->who);
    const uint64_t ago_ns = is_silent ? NEIGHBOUR_NS : MEMBER_NS;
    const uint64_t since_ns = now_ns > ago_ns ? now_ns - ago_ns : 0;
    if (other == WIRE_NOBODY || fault_injector_explains(health->injector, i, other, since_ns))
        return;
    if (health->removed++ > 0)
        return;
    health->removed_node = other;
    health->removed_by = i;
    health->removed_ns = now_ns;
}
