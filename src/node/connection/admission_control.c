#include "node/connection/admission_control.h"

static bool is_caller(const struct peer *peer)
{
    return peer->state == PEER_GREETED || peer->state == PEER_PROVED;
}

/* Peers that have dialled this node and are in the handshake (callers), with the networks of
 * their addresses. Each address is parsed once, so a flood of callers costs little. */
struct callers {
    const struct peer *peers[NODE_PEERS_MAX];
    uint64_t networks[NODE_PEERS_MAX];
    uint32_t count;
};

static void look(const struct node *node, struct callers *callers)
{
    callers->count = 0;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        if (!is_caller(peer))
            continue;
        callers->networks[callers->count] = address_network(&peer->address);
        callers->peers[callers->count++] = peer;
    }
}

static uint32_t crowd_of(const struct callers *callers, uint64_t network)
{
    uint32_t crowd = 0;
    for (uint32_t i = 0; i < callers->count; i++)
        crowd += callers->networks[i] == network;
    return crowd;
}

/* Returns true if the caller may lose its slot: it has not shown the swarm key, or the rest of its
 * handshake takes longer than GREETING_NS. */
static bool may_lose_its_place(const struct node *node, const struct peer *peer)
{
    return peer->state == PEER_GREETED ||
           (peer->state == PEER_PROVED && node->now_ns - peer->since_ns > GREETING_NS);
}

/* Returns the caller that must give its slot to a new one: the caller that has waited longest in
 * the most crowded network of addresses, or in the network *only unless `only` is NULL. Returns
 * NULL if all keep their slots. */
static const struct peer *who_goes(const struct node *node, const struct callers *callers,
                                   const uint64_t *only)
{
    const struct peer *chosen = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < callers->count; i++) {
        const struct peer *peer = callers->peers[i];
        if (!may_lose_its_place(node, peer) || (only && callers->networks[i] != *only))
            continue;
        const uint32_t crowd = crowd_of(callers, callers->networks[i]);
        if (crowd < most || (crowd == most && chosen->born_ns <= peer->born_ns))
            continue;
        most = crowd;
        chosen = peer;
    }
    return chosen;
}

static bool make_way(struct node *node, const struct callers *callers, const uint64_t *only)
{
    const struct peer *peer = who_goes(node, callers, only);
    if (peer)
        connection_hang_up(node, peer, BYE_SILENT,
                           "it had not proved the swarm key when another caller needed the slot");
    return peer != NULL;
}

/* Returns the maximum number of callers: at most half of the slots, since authenticated peers need
 * the rest. */
static uint32_t places(const struct node *node)
{
    const uint32_t half = node->options.limits.peers_max / 2,
                   most = node->options.limits.half_open_max;
    return half < 1 ? 1 : u32_min(half, most);
}

bool admission_control_admits(struct node *node, const struct address *from)
{
    struct callers callers;
    const uint64_t network = address_network(from);
    look(node, &callers);
    if (crowd_of(&callers, network) >= node->options.limits.half_open_per_net_max)
        return make_way(node, &callers, &network);
    return callers.count < places(node) || make_way(node, &callers, NULL);
}
