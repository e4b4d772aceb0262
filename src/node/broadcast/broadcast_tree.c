/* The broadcast tree of each origin (Plumtree: Leitão, Pereira, Rodrigues 2007, who have one tree
 * for all).
 *
 * A rumor is pushed to every neighbour that is eager for its origin. A node that receives a rumor
 * twice prunes the second sender, or the first if the second is the origin itself. The pruned link
 * becomes lazy, and the eager links that are left form a tree. Member records
 * (discovery/member_gossip.c) follow the same trees. A WANT makes a link eager again (repair.c).
 */
#include <string.h>

#include "node/broadcast/broadcast_private.h"

void tree_prune(struct node *node, const struct peer *peer, const struct origin *origin)
{
    CHECK(peer->state == PEER_OPEN);
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const uint32_t place = broadcast_place(node, origin);
    if (!bit_get(neighbour->pruned, place) &&
        connection_say(node, peer, &(struct message){.kind = PRUNE, .tag = origin->tag}))
        bit_set(neighbour->pruned, place, true);
}

bool broadcast_is_lazy(const struct node *node, const struct peer *peer, uint32_t place)
{
    CHECK(place < node->broadcast->versions.count);
    return bit_get(broadcast_neighbour(node, peer)->lazy, place);
}

bool broadcast_is_pruned(const struct node *node, const struct peer *peer, uint32_t place)
{
    CHECK(place < node->broadcast->versions.count);
    return bit_get(broadcast_neighbour(node, peer)->pruned, place);
}

void broadcast_on_prune(struct node *node, const struct peer *from, uint64_t tag)
{
    const struct origin *origin = versions_find(&node->broadcast->versions, tag);
    if (!origin)
        return;
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, from);
    const uint32_t place = broadcast_place(node, origin);
    bit_set(neighbour->lazy, place, true);
    push_backlog_forget(neighbour, place);
}

/* Stops pushing to this neighbour, and taking rumors from it, until it asks. A node that takes over
 * a base gets new rumors only from its donor, and relays none, since a thin link has no space for
 * rumors that the other side has. A ROLLING node takes rumors from no neighbour. */
void broadcast_hold_back(struct node *node, const struct peer *peer)
{
    struct broadcast_neighbour *neighbour = broadcast_neighbour(node, peer);
    const struct members *members = membership_members(node);
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (!member->known_live || member->place == PLACE_NONE)
            continue;
        if (base_state(node) == BASE_ROLLING || memcmp(peer->id, member->record.id, ID_BYTES) != 0)
            tree_prune(node, peer, &node->broadcast->versions.origins[member->place]);
        bit_set(neighbour->lazy, member->place, true);
        push_backlog_forget(neighbour, member->place);
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
    for (uint32_t place = 0; place < versions->count; place++)
        versions->origins[place].parent_conn = donor->conn;
}

/* Makes this neighbour our parent in the tree, because it delivered a rumor first. Pruned
 * neighbours do not count: their rumors were already in transit, and counting them would prune the
 * real parent next. */
void broadcast_on_first(struct node *node, const struct peer *from, uint32_t place)
{
    CHECK(place < node->broadcast->versions.count);
    if (!bit_get(broadcast_neighbour(node, from)->pruned, place))
        node->broadcast->versions.origins[place].parent_conn = from->conn;
}

/* Two neighbours deliver this origin's rumors: one must stop while both are connected. The origin
 * itself is not pruned for being slower once than a relay. */
void broadcast_on_twice(struct node *node, const struct peer *from, uint32_t place)
{
    CHECK(place < node->broadcast->versions.count);
    struct origin *origin = &node->broadcast->versions.origins[place];
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
