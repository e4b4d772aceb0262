/* When a neighbour is applied bytes: as its link lets us (link.h), and as the user does. What
 * waits, waits here, where the next message is still to be chosen, and not in queues on the way. */
#include <math.h>

#include "node/inside.h"

#define CAP_DEPTH_S   0.02
#define SEGMENT_BYTES 1448
#define FULL_S        0.5
#define BUSY_S        0.2
#define CROWDED_S     0.3
#define WAITS_LEAST   8192

/* Of all that is sent, at most uplink_max. */
static double cap_allows(struct node *node)
{
    const double cap = (double)node->options.uplink_max;
    if (cap <= 0)
        return INFINITY;
    bucket_fill(&node->uplink, node->now_ns, cap, fmax(cap * CAP_DEPTH_S, 2 * SEGMENT_BYTES));
    return node->uplink.credit;
}

static uint64_t cap_wake_ns(const struct node *node, double wanted)
{
    const double missing = wanted - node->uplink.credit;
    return node->now_ns + 1 + (uint64_t)(missing * 1e9 / (double)node->options.uplink_max);
}

static size_t wait_until(struct node *node, const struct peer *peer, uint64_t wake_ns)
{
    slots_put(&node->held_up, node_slot(node, peer), true);
    node->pacer_wake_ns = wake_ns < node->pacer_wake_ns ? wake_ns : node->pacer_wake_ns;
    return 0;
}

static size_t allows(struct node *node, struct peer *peer, bool is_open, double rate_max)
{
    const size_t waiting = peer_waiting_bytes(peer, is_open);
    if (waiting == 0)
        return 0;
    const double cap = cap_allows(node);
    const double wanted = fmin((double)waiting, SEGMENT_BYTES);
    if (cap < wanted)
        return wait_until(node, peer, cap_wake_ns(node, wanted));
    const size_t most = link_allows(&peer->link, node->now_ns, waiting, rate_max);
    if (most == 0)
        return wait_until(node, peer, link_wake_ns(&peer->link, node->now_ns, waiting, rate_max));
    if (most == waiting && (double)most <= cap)
        return SIZE_MAX; /* all of it, and what sealing adds */
    return (double)most < cap ? most : (size_t)cap;
}

bool pacer_next_send(struct node *node, struct peer *peer, const uint8_t **bytes, size_t *count)
{
    size_t most = SIZE_MAX;
    bool is_open = true;
    if (peer_can_say(peer)) { /* not greetings, nor goodbyes */
        const double rate_max = budget_rate_max(node, peer);
        peer->link.is_bulk = queue_bytes(&peer->blocks) > 0;
        is_open = link_is_open(&peer->link, node->now_ns, rate_max);
        most = allows(node, peer, is_open, rate_max);
    }
    if (!peer_next_send(peer, node->now_ns, most, is_open, bytes, count))
        return false;
    node->uplink.credit -= (double)*count;
    node->turn++;
    return true;
}

/* Those who waited may try again. */
void pacer_on_time(struct node *node)
{
    if (node->now_ns < node->pacer_wake_ns)
        return;
    node->pacer_wake_ns = UINT64_MAX;
    for (uint32_t i = 0; (i = slots_next(&node->held_up, i)) < SLOTS_MAX;) {
        slots_put(&node->held_up, i, false);
        slots_put(&node->ready, i, true);
    }
}

/* Receipts. */

void pacer_say_ack(struct node *node, struct peer *peer)
{
    struct link *link = &peer->link;
    const struct message receipt = {.kind = ACK,
                                    .received = link->received,
                                    .clock = (link->received_ns - link->born_ns) / 1000,
                                    .held = (node->now_ns - link->received_ns) / 1000,
                                    .most = budget_downlink_part(node, peer)};
    if (node_say(node, peer, &receipt))
        link_acked(link, node->now_ns);
}

void pacer_consider_ack(struct node *node, struct peer *peer)
{
    if (peer->state == PEER_OPEN && link_owes_ack(&peer->link, node->now_ns))
        pacer_say_ack(node, peer);
}

void pacer_on_ack(struct node *node, struct peer *peer, const struct message *receipt)
{
    if (!link_on_ack(&peer->link, node->now_ns, receipt->received, receipt->clock, receipt->held)) {
        node_hang_up(node, peer, BYE_BROKEN, "sent a receipt for what was not sent");
        return;
    }
    node_rapport(node, peer)->most = (double)receipt->most;
    slots_put(&node->ready, node_slot(node, peer), true);
}

static bool takes_longer(const struct node *node, const struct peer *peer, size_t bytes,
                         double span_s)
{
    const double most = fmax(span_s * budget_link_rate(node, peer), WAITS_LEAST);
    return (double)bytes > fmin(most, (double)peer->queue.max / 2);
}

/* No more rumors are to wait for a neighbour than it can be sent soon ... */
bool pacer_is_full(const struct node *node, const struct peer *peer)
{
    return takes_longer(node, peer, queue_bytes(&peer->queue), FULL_S);
}

/* ... which is to be seldom. */
bool pacer_is_crowded(const struct node *node, const struct peer *peer)
{
    return takes_longer(node, peer, queue_bytes(&peer->queue), CROWDED_S);
}

/* ... and no more blocks if there is enough to do for now. */
bool pacer_is_busy(const struct node *node, const struct peer *peer)
{
    return takes_longer(node, peer, peer_queued_bytes(peer), BUSY_S);
}
