/* The pacer: decides when bytes are sent to a neighbour, within the limits of its link
 * (congestion.h) and the user's settings. Bytes queue here, where the next message can still be
 * chosen, instead of in the network. */
#include <math.h>

#include "node/rate/rate_private.h"

#define CAP_DEPTH_S   0.02 /* seconds of uplink_max that may be saved up for later */
#define SEGMENT_BYTES 1448 /* minimum size of a write while at least that many bytes are queued */
/* While a peer's queue is longer, no rumor is added to it; seconds of the link's rate. */
#define FULL_S 0.5
/* A link with a longer queue is overloaded; seconds of the link's rate. */
#define CROWDED_S 0.3
/* While a peer's queues are longer, no block is added to them; seconds of the link's rate. */
#define BUSY_S      0.2
#define WAITS_LEAST 8192 /* bytes that may be queued for any link, however slow */

/* Returns the bytes that uplink_max allows to send now; INFINITY = no limit. */
static double cap_allows(struct node *node)
{
    const double cap = (double)node->options.uplink_max;
    if (cap <= 0)
        return INFINITY;
    token_bucket_fill(&node->rate->pacer.uplink, node->now_ns, cap,
                      fmax(cap * CAP_DEPTH_S, 2 * SEGMENT_BYTES));
    return node->rate->pacer.uplink.credit;
}

static uint64_t cap_wake_ns(const struct node *node, double wanted)
{
    const double missing = wanted - node->rate->pacer.uplink.credit;
    CHECK(node->options.uplink_max > 0 && missing > 0);
    return node->now_ns + 1 + (uint64_t)(missing * 1e9 / (double)node->options.uplink_max);
}

/* Makes the pacer serve the peer again at wake_ns. Returns 0: no bytes may be sent now. */
static size_t wait_until(struct node *node, const struct peer *peer, uint64_t wake_ns)
{
    CHECK(wake_ns > node->now_ns);
    slots_put(&node->rate->pacer.held_up, connection_slot(node, peer), true);
    struct pacer *pacer = &node->rate->pacer;
    pacer->wake_ns = u64_min(wake_ns, pacer->wake_ns);
    return 0;
}

static size_t allows(struct node *node, const struct peer *peer, bool is_open, double rate_max)
{
    struct congestion *link = &rate_neighbour(node, peer)->link;
    CHECK(rate_max > 0);
    const size_t waiting = peer_waiting_bytes(peer, is_open);
    if (waiting == 0)
        return 0;
    const double cap = cap_allows(node);
    const double wanted = fmin((double)waiting, SEGMENT_BYTES);
    if (cap < wanted)
        return wait_until(node, peer, cap_wake_ns(node, wanted));
    const size_t most = congestion_allows(link, node->now_ns, waiting, rate_max);
    if (most == 0)
        return wait_until(node, peer, congestion_wake_ns(link, node->now_ns, waiting, rate_max));
    if (most == waiting && (double)most <= cap)
        /* No limit: all messages fit, and encryption makes them longer than `waiting`. */
        return SIZE_MAX;
    return (double)most < cap ? most : (size_t)cap;
}

/* Sets *action to a SEND of the bytes that may go to this peer now; false = there are none. */
static bool next_send(struct node *node, const struct peer *peer, struct action *action)
{
    struct congestion *link = &rate_neighbour(node, peer)->link;
    size_t most = SIZE_MAX;
    bool is_open = true;
    if (peer_can_say(peer)) { /* handshakes and goodbyes are not paced */
        const double rate_max = line_rate_max(node, peer);
        link->is_bulk = queue_bytes(&peer->blocks) > 0;
        is_open = congestion_is_open(link, node->now_ns, rate_max);
        most = allows(node, peer, is_open, rate_max);
    }
    if (!connection_next_send(node, peer, most, is_open, &action->bytes, &action->count))
        return false;
    CHECK(action->count > 0 && action->count <= most);
    action->kind = ACTION_SEND;
    action->conn = peer->conn;
    congestion_on_sent(link, node->now_ns, action->count);
    node->rate->pacer.uplink.credit -= (double)action->count;
    node->rate->pacer.turn++;
    return true;
}

/* Sets *action to the peer's next SEND or HANGUP. Returns false if the peer has none. */
static bool peer_action(struct node *node, const struct peer *peer, struct action *action)
{
    if (peer->state == PEER_FREE || peer->hangup_asked)
        return false;
    if (next_send(node, peer, action))
        return true;
    if (!connection_next_hangup(node, peer))
        return false;
    *action = (struct action){.kind = ACTION_HANGUP, .conn = peer->conn};
    return true;
}

bool pacer_next_action(struct node *node, struct action *action)
{
    uint32_t *turn = &node->rate->pacer.turn;
    while (connection_next_ready(node, 0) < SLOTS_MAX) {
        uint32_t i = connection_next_ready(node, *turn % SLOTS_MAX);
        i = i < SLOTS_MAX ? i : connection_next_ready(node, 0);
        *turn = i;
        if (peer_action(node, connection_at(node, i), action))
            return true;
        connection_set_ready(node, i, false);
    }
    return false;
}

void pacer_on_time(struct node *node)
{
    struct pacer *pacer = &node->rate->pacer;
    if (node->now_ns < pacer->wake_ns)
        return;
    pacer->wake_ns = UINT64_MAX;
    for (uint32_t i = 0; (i = slots_next(&pacer->held_up, i)) < SLOTS_MAX;) {
        slots_put(&pacer->held_up, i, false);
        connection_set_ready(node, i, true);
    }
}

uint64_t pacer_wake_ns(const struct node *node)
{
    return node->rate->pacer.wake_ns;
}

void pacer_say_ack(struct node *node, const struct peer *peer)
{
    struct congestion *link = &rate_neighbour(node, peer)->link;
    CHECK(link->born_ns <= link->received_ns && link->received_ns <= node->now_ns);
    const struct message ack = {.kind = ACK,
                                .received = link->received,
                                .clock = (link->received_ns - link->born_ns) / 1000,
                                .held = (node->now_ns - link->received_ns) / 1000,
                                .most = line_downlink_part(node, peer)};
    if (connection_say(node, peer, &ack))
        congestion_on_acked(link, node->now_ns);
}

void pacer_consider_ack(struct node *node, const struct peer *peer)
{
    if (peer->state == PEER_OPEN &&
        congestion_owes_ack(&rate_neighbour(node, peer)->link, node->now_ns))
        pacer_say_ack(node, peer);
}

void pacer_on_ack(struct node *node, const struct peer *peer, const struct message *ack)
{
    struct rate_neighbour *neighbour = rate_neighbour(node, peer);
    CHECK(peer->state == PEER_OPEN || peer->asks);
    if (!congestion_on_ack(&neighbour->link, node->now_ns, ack->received, ack->clock, ack->held)) {
        connection_hang_up(node, peer, BYE_BROKEN, "acknowledged what was not sent");
        return;
    }
    neighbour->allowed = (double)ack->most;
    connection_set_ready(node, connection_slot(node, peer), true);
}

/* Returns true if `bytes` exceed half of the peer's queue, or if they exceed WAITS_LEAST and
 * sending them to the peer takes longer than `span_s` seconds. */
static bool takes_longer(const struct node *node, const struct peer *peer, size_t bytes,
                         double span_s)
{
    const double most = fmax(span_s * line_rate(node, peer), WAITS_LEAST);
    return (double)bytes > fmin(most, (double)peer->queue.max / 2);
}

bool pacer_is_full(const struct node *node, const struct peer *peer)
{
    return takes_longer(node, peer, queue_bytes(&peer->queue), FULL_S);
}

bool pacer_is_crowded(const struct node *node, const struct peer *peer)
{
    const size_t waiting = queue_bytes(&peer->queue);
    return takes_longer(node, peer, waiting, CROWDED_S) && (double)waiting > publish_left(node);
}

bool pacer_is_busy(const struct node *node, const struct peer *peer)
{
    return takes_longer(node, peer, peer_queued_bytes(peer), BUSY_S);
}
