#include "node/discovery/discovery.h"

#include <string.h>

#include "node/discovery/discovery_private.h"

static uint32_t candidates_max(const struct node_options *options)
{
    return options->limits.members_max + NODE_SEEDS_MAX;
}

size_t discovery_arena_bytes(const struct node_options *options)
{
    const size_t per_peer =
        sizeof(struct discovery_neighbour) + bit_words(options->limits.members_max) * 8 + 64;
    return sizeof(struct discovery) + options->limits.peers_max * per_peer +
           candidates_max(options) * (sizeof(struct candidate) + sizeof(uint32_t)) + 4 * 64;
}

struct discovery *discovery_new(struct arena *arena, const struct node *node)
{
    const struct node_options *options = &node->options;
    const uint32_t max = candidates_max(options);
    CHECK(max >= options->seeds_count);
    struct discovery *discovery = arena_alloc(arena, 1, sizeof *discovery);
    discovery->dialer = (struct dialer){
        .candidates = arena_alloc(arena, max, sizeof(struct candidate)),
        .hashes = arena_alloc(arena, max, sizeof(uint32_t)),
        .max = max,
    };
    discovery->neighbours =
        arena_alloc(arena, options->limits.peers_max, sizeof *discovery->neighbours);
    for (uint32_t i = 0; i < options->limits.peers_max; i++)
        discovery->neighbours[i].updates =
            arena_alloc(arena, bit_words(options->limits.members_max), sizeof(uint64_t));
    return discovery;
}

void discovery_on_end(struct node *node, const struct peer *peer)
{
    struct discovery_neighbour *neighbour =
        &node->discovery->neighbours[connection_slot(node, peer)];
    memset(neighbour->updates, 0, bit_words(node->options.limits.members_max) * sizeof(uint64_t));
    *neighbour = (struct discovery_neighbour){.updates = neighbour->updates};
}
