/* What a node does because time has passed: gossip, look after its conversations, notice deaths. */
#include <math.h>

#include "inside.h"

#define CHECK_NS  (SECOND_NS / 4)
#define GOSSIP_NS SECOND_NS
#define PING_NS   (2 * SECOND_NS)  /* of silence */
#define RTT_NS    (30 * SECOND_NS) /* the round trip is measured so often at least */
#define RATE_MIN  1e-6 /* who has stopped: 0 would mean that the rate is not known yet */

static void measure_rate(struct node *node)
{
    const uint64_t span_ns = node->now_ns - node->rate_ns;
    if (span_ns < SECOND_NS)
        return;
    const double rate =
        (double)(node->stats.samples - node->rate_samples) / ((double)span_ns * 1e-9);
    double *smooth = &node->stats.samples_per_second;
    *smooth = *smooth > 0 ? fmax(0.7 * *smooth + 0.3 * rate, RATE_MIN) : rate;
    node->rate_ns = node->now_ns;
    node->rate_samples = node->stats.samples;
}

/* While leaving others wait for us: hurry, as far as the size of the swarm lets us. */
static uint64_t round_ns(const struct node *node)
{
    const uint64_t period_ns = news_period_ns(node);
    return node->stage == STAGE_RUNNING || period_ns > GOSSIP_NS ? GOSSIP_NS : period_ns;
}

static void gossip(struct node *node)
{
    node->gossip_ns = node->now_ns + round_ns(node);
    measure_rate(node);
    news_review(node);
    news_renew(node);
    news_flush(node);
    compare_round(node);
    node->seen_digest = node->versions.digest;
}

static void check_peer(struct node *node, struct peer *peer)
{
    const uint64_t now_ns = node->now_ns;
    if (peer->state == PEER_CLOSING) /* perhaps long enough */
        slots_put(&node->ready, node_slot(node, peer), true);
    if (peer->state < PEER_OPEN && now_ns - peer->born_ns > node->options.handshake_ns)
        node_hang_up(node, peer, BYE_SILENT, "it did not finish the handshake in time");
    if (peer->state != PEER_OPEN)
        return;
    if (now_ns - peer->heard_ns > node->options.silence_ns)
        node_hang_up(node, peer, BYE_SILENT, "nothing was heard for too long");
    else if (session_worn_out(&peer->session) || now_ns > peer->renew_ns)
        node_hang_up(node, peer, BYE_RENEW, "new keys");
    else if (now_ns - peer->pinged_ns > PING_NS &&
             (now_ns - peer->heard_ns > PING_NS || now_ns - peer->pinged_ns > RTT_NS) &&
             node_say(node, peer, &(struct message){.kind = PING, .token = now_ns}))
        peer->pinged_ns = now_ns;
}

/* Nobody to learn from? Whoever had a neighbour knows that there is a swarm, and waits longer. */
static void consider_joining(struct node *node)
{
    if (node_neighbours(node) > 0)
        node->company_ns = node->now_ns;
    if (node->joined)
        return;
    if (node->company_ns == 0 && node->now_ns - node->born_ns >= NODE_JOIN_WAIT_NS)
        node_join(node, "nobody has answered: going on alone, and calling on");
    else if (node->company_ns && node->now_ns - node->company_ns >= NODE_LOST_WAIT_NS)
        node_join(node, "no neighbour is left: going on alone with what was heard, and calling on");
}

void node_on_time(struct node *node, uint64_t now_ns)
{
    node->now_ns = now_ns;
    if (now_ns >= node->gossip_ns && node->stage != STAGE_LEFT)
        gossip(node);
    if (now_ns >= node->check_ns) {
        node->check_ns = now_ns + CHECK_NS;
        for (uint32_t i = 0; i < node->options.peers_max; i++)
            if (node->peers[i].state != PEER_FREE)
                check_peer(node, &node->peers[i]);
        news_flush(node);
        spread_ask(node);
        consider_joining(node);
    }
    node_consider_telling(node);
    if (node->stage != STAGE_RUNNING)
        leave_consider(node);
}

uint64_t node_wake_ns(const struct node *node)
{
    return node->gossip_ns < node->check_ns && node->stage != STAGE_LEFT ? node->gossip_ns
                                                                         : node->check_ns;
}
