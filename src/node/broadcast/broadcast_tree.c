/* The broadcast tree of each origin (Plumtree: Leitão, Pereira, Rodrigues 2007; there, one tree
 * serves all origins).
 *
 * A rumor is pushed to every neighbour that is eager for its origin. A node that receives a rumor
 * twice prunes the second sender, or the first if the second is the origin itself. The pruned link
 * becomes lazy, and the remaining eager links form a tree. Member records
 * (discovery/member_gossip.c) follow the same trees. A WANT makes a link eager again (repair.c).
 */
#include <string.h>

#include "node/broadcast/broadcast_private.h"

void tree_prune(struct node *node, const struct peer *peer, const struct origin *origin)
{
    CHECK(peer->state == PEER_OPEN);
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const uint32_t origin_index = broadcast_index(node, origin);
    if (!bit_get(neighbour->pruned, origin_index) &&
        connection_say(node, peer, &(struct message){.kind = PRUNE, .tag = origin->tag}))
        bit_set(neighbour->pruned, origin_index, true);
}

bool broadcast_is_lazy(const struct node *node, const struct peer *peer, uint32_t origin_index)
{
    CHECK(origin_index < node->broadcast->versions.count);
    return bit_get(broadcast_neighbour(node, peer)->lazy, origin_index);
}

bool broadcast_is_pruned(const struct node *node, const struct peer *peer, uint32_t origin_index)
{
    CHECK(origin_index < node->broadcast->versions.count);
    return bit_get(broadcast_neighbour(node, peer)->pruned, origin_index);
}

void broadcast_on_prune(struct node *node, const struct peer *from, uint64_t tag)
{
    const struct origin *origin = versions_find(&node->broadcast->versions, tag);
    if (!origin)
        return;
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, from);
    const uint32_t origin_index = broadcast_index(node, origin);
    bit_set(neighbour->lazy, origin_index, true);
    push_backlog_forget(neighbour, origin_index);
}

/* While a node takes over a base, its slow link should carry no rumors that the base contains. So
 * the node gets new rumors only from its donor and from the rumors' origins, and relays none. A
 * node in BASE_ROLLING takes rumors from no neighbour. */
void broadcast_hold_back(struct node *node, const struct peer *peer)
{
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const struct members *members = membership_members(node);
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (!member->known_live || member->origin_index == ORIGIN_NONE)
            continue;
        if (base_state(node) == BASE_ROLLING || memcmp(peer->id, member->record.id, ID_BYTES) != 0)
            tree_prune(node, peer, &node->broadcast->versions.origins[member->origin_index]);
        bit_set(neighbour->lazy, member->origin_index, true);
        push_backlog_forget(neighbour, member->origin_index);
    }
}

void broadcast_lean_on(struct node *node, const struct peer *donor)
{
    CHECK(donor->state == PEER_OPEN);
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (peer != donor)
            broadcast_hold_back(node, peer);
    struct versions *versions = &node->broadcast->versions;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        versions->origins[origin_index].parent_conn = donor->conn;
}

/* Makes this neighbour our parent in the origin's tree: it delivered a rumor first. Ignores a
 * pruned neighbour: its rumor was already in transit, and the real parent would be pruned next. */
void broadcast_on_first(struct node *node, const struct peer *from, uint32_t origin_index)
{
    CHECK(origin_index < node->broadcast->versions.count);
    if (!bit_get(broadcast_neighbour(node, from)->pruned, origin_index))
        node->broadcast->versions.origins[origin_index].parent_conn = from->conn;
}

/* Handles a rumor that arrived again: prunes `from` if our parent is another connected neighbour.
 * If `from` is the origin itself, prunes the parent instead, and `from` becomes parent. */
void broadcast_on_twice(struct node *node, const struct peer *from, uint32_t origin_index)
{
    CHECK(origin_index < node->broadcast->versions.count);
    struct origin *origin = &node->broadcast->versions.origins[origin_index];
    const struct peer *other = connection_open_peer(node, origin->parent_conn);
    if (!peer_is_origin(from, origin)) {
        if (other && other != from)
            tree_prune(node, from, origin);
        return;
    }
    origin->parent_conn = from->conn;
    if (other && !peer_is_origin(other, origin))
        tree_prune(node, other, origin);
}
