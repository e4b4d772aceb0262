#include "node/connection/door.h"

static bool is_caller(const struct peer *peer)
{
    return peer->state == PEER_GREETED || peer->state == PEER_PROVED;
}

static bool is_same_net(const struct peer *peer, const struct address *from)
{
    return address_network(&peer->address) == address_network(from);
}

/* Callers now, of all addresses or of this neighbourhood. */
static uint32_t callers(const struct node *node, const struct address *from)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        count += is_caller(peer) && (!from || is_same_net(peer, from));
    }
    return count;
}

/* It has not shown the swarm key, or has not gone on for long. */
static bool may_lose_its_place(const struct node *node, const struct peer *peer)
{
    return peer->state == PEER_GREETED ||
           (peer->state == PEER_PROVED && node->now_ns - peer->since_ns > GREETING_NS);
}

/* Who has waited longest, in the most crowded neighbourhood or in this one; NULL: all may stay. */
static const struct peer *who_goes(const struct node *node, const struct address *only)
{
    const struct peer *chosen = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        if (!may_lose_its_place(node, peer) || (only && !is_same_net(peer, only)))
            continue;
        const uint32_t crowd = callers(node, &peer->address);
        if (crowd < most || (crowd == most && chosen->born_ns <= peer->born_ns))
            continue;
        most = crowd;
        chosen = peer;
    }
    return chosen;
}

/* A place in `only`, or anywhere. */
static bool make_way(struct node *node, const struct address *only)
{
    const struct peer *peer = who_goes(node, only);
    if (peer)
        connection_hang_up(node, peer, BYE_SILENT,
                           "it had not shown the swarm key when another came who needed its place");
    return peer != NULL;
}

/* Half of all places are for those who have proved who they are. */
static uint32_t places(const struct node *node)
{
    const uint32_t half = node->options.limits.peers_max / 2,
                   most = node->options.limits.half_open_max;
    return half < 1 ? 1 : half < most ? half : most;
}

bool door_opens(struct node *node, const struct address *from)
{
    if (callers(node, from) >= node->options.limits.half_open_per_net_max)
        return make_way(node, from);
    return callers(node, NULL) < places(node) || make_way(node, NULL);
}
