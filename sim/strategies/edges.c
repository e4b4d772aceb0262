#include "strategies/edges.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Returns the index of the running node with this id, or `nodes` if no running node has it. */
static uint32_t node_of(const struct world *world, uint32_t nodes,
                        const uint8_t id[static ID_BYTES])
{
    uint32_t i = 0;
    while (i < nodes && (!world->nodes[i].node ||
                         memcmp(world->nodes[i].options.identity->id, id, ID_BYTES) != 0))
        i++;
    return i;
}

/* Returns the used fraction of a connection's capacity; NAN = the capacity is unknown. */
static double use_of(double sent_bytes, double carried_bytes)
{
    return carried_bytes > 0 ? fmin(sent_bytes / carried_bytes, 1) : (double)NAN;
}

static void add_edges_of(const struct world *world, struct outcome *outcome, uint32_t i)
{
    const struct node *node = world->nodes[i].node;
    for (uint32_t k = 0; node && k < node_links(node); k++) {
        struct node_link link;
        node_link(node, k, &link);
        const uint32_t other = node_of(world, outcome->scenario->nodes_count, link.id);
        const double open_s = (double)(world_now_ns(world) - link.since_ns) * 1e-9;
        if (!link.open || other <= i || other == outcome->scenario->nodes_count)
            continue;
        outcome->edges[outcome->edges_count++] =
            (struct edge){.from = i,
                          .to = other,
                          .rate_bytes_per_s = link.rate > 0 ? link.rate : (double)NAN,
                          .use = use_of((double)link.sent_bytes, open_s * link.rate),
                          .trip_s = link.rtt_ns ? (double)link.rtt_ns * 1e-9 : (double)NAN};
    }
}

void edges_find(const struct world *world, struct outcome *outcome)
{
    const size_t nodes = outcome->scenario->nodes_count;
    if (nodes > EDGES_NODES_MAX)
        return;
    outcome->edges = memory_new(nodes * NODE_PEERS_MAX, sizeof *outcome->edges);
    for (uint32_t i = 0; i < nodes; i++)
        add_edges_of(world, outcome, i);
}
