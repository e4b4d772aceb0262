/* The broadcast tree of each origin (Plumtree: Leitão, Pereira, Rodrigues 2007, who have one tree
 * for all).
 *
 * A rumor is pushed to every neighbour that is eager for its origin. A node that gets one twice
 * prunes the second sender (or, if the second is the origin itself, the first): that link becomes
 * lazy, and what is left of the eager ones is a tree. Records of members
 * (discovery/member_gossip.c) take the same trees. A WANT makes a link eager again (repair.c).
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

/* A node that takes over a base receives what others publish from its donor, and passes nothing on
 * until it is asked: on a thin link there is no room for what either side has anyway. A node whose
 * base is ROLLING takes no rumors from anybody. */
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

/* This neighbour was the first with what this origin says now: it is our parent in the tree. What a
 * pruned one sends was under way already: if it counted, the other would be pruned next, and nobody
 * were left. */
void broadcast_on_first(struct node *node, const struct peer *from, uint32_t place)
{
    CHECK(place < node->broadcast->versions.count);
    if (!bit_get(broadcast_neighbour(node, from)->pruned, place))
        node->broadcast->versions.origins[place].parent_conn = from->conn;
}

/* Two send us what this origin says: one must stop, as long as both are there. The origin itself is
 * never sent away for being slower once than a node that passes it on. */
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
