/* What a node does because time has passed: gossip, look after its conversations, notice deaths. */
#include <math.h>

#include "node/inside.h"

#define CHECK_NS  (SECOND_NS / 4)
#define GOSSIP_NS SECOND_NS
#define PINGS     3                /* in the time after which silence is an end */
#define LATE_NS   SECOND_NS        /* who is called so late has stood still itself */
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
    const uint64_t period_ns = member_gossip_period_ns(node);
    return node->stage == STAGE_RUNNING || period_ns > GOSSIP_NS ? GOSSIP_NS : period_ns;
}

static void gossip(struct node *node)
{
    node->gossip_ns = node->now_ns + round_ns(node);
    measure_rate(node);
    budget_review(node);
    publish_schedule_renew(node);
    member_gossip_review(node);
    member_gossip_renew(node);
    member_gossip_flush(node);
    anti_entropy_round(node);
    node->seen_digest = node->versions.digest;
}

/* A neighbour that was given up, and had only been slow, is given more time from then on. */
static uint64_t patience_ns(const struct node *node, const struct peer *peer)
{
    const struct member *member = members_find(&node->members, peer->id);
    const uint64_t least_ns = node->options.silence_ns;
    return member && member->patience_ns > least_ns ? member->patience_ns : least_ns;
}

static void give_up(struct node *node, struct peer *peer)
{
    struct member *member = members_find(&node->members, peer->id);
    if (member)
        member->given_up_ns = node->now_ns;
    node_hang_up(node, peer, BYE_SILENT, "nothing was heard for too long");
}

static void check_peer(struct node *node, struct peer *peer)
{
    const uint64_t now_ns = node->now_ns, ping_ns = node->options.silence_ns / PINGS;
    pacer_consider_ack(node, peer);
    if (peer->state == PEER_CLOSING || peer_waiting_bytes(peer, true) > 0) /* perhaps long enough */
        slots_put(&node->ready, node_slot(node, peer), true);
    if (peer->state < PEER_OPEN && now_ns - peer->born_ns > node->options.handshake_ns)
        node_hang_up(node, peer, BYE_SILENT, "it did not finish the handshake in time");
    if (peer->state != PEER_OPEN)
        return;
    if (now_ns - peer->heard_ns > patience_ns(node, peer))
        give_up(node, peer);
    else if (session_worn_out(&peer->session) || now_ns > peer->renew_ns)
        node_hang_up(node, peer, BYE_RENEW, "new keys");
    else if (now_ns - peer->pinged_ns > ping_ns &&
             (now_ns - peer->heard_ns > ping_ns || now_ns - peer->pinged_ns > RTT_NS) &&
             node_say(node, peer, &(struct message){.kind = PING, .token = now_ns}))
        peer->pinged_ns = now_ns;
}

static void restart(struct node *node)
{
    node->must_restart = true;
    node->company_ns = node->transfer.wrote_ns = node->now_ns; /* once */
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_WARNING,
                    "nobody is left who has the rest of the base: starting again with what was "
                    "saved here");
}

/* Nobody to learn from? Whoever had a neighbour knows that there is a swarm, and waits longer. */
static void consider_joining(struct node *node)
{
    if (node_neighbours(node) > 0)
        node->company_ns = node->now_ns;
    const bool is_lost = node->company_ns && node->now_ns - node->company_ns >= NODE_LOST_WAIT_NS;
    const bool is_stuck =
        node_is_catching_up(node) && node->now_ns - node->transfer.wrote_ns >= NODE_LOST_WAIT_NS;
    if (node_is_catching_up(node) && (is_lost || is_stuck) && node->stage == STAGE_RUNNING)
        restart(node);
    if (node->joined || node_is_catching_up(node))
        return;
    if (node->company_ns == 0 && node->now_ns - node->born_ns >= NODE_JOIN_WAIT_NS)
        node_join(node, "nobody has answered: going on alone, and calling on");
    else if (is_lost)
        node_join(node, "no neighbour is left: going on alone with what was heard, and calling on");
}

static uint64_t later(const struct node *node, uint64_t at_ns, uint64_t by_ns)
{
    return at_ns + by_ns < node->now_ns ? at_ns + by_ns : node->now_ns;
}

/* We have stood still: what others said meanwhile is still to be heard, and nobody is to be blamed
 * for what we did not do (Dadgar, Phillips, Currey 2018: Lifeguard). */
static void forgive(struct node *node, uint64_t late_ns)
{
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        struct peer *peer = &node->peers[i];
        peer->heard_ns = later(node, peer->heard_ns, late_ns);
        peer->born_ns = later(node, peer->born_ns, late_ns);
    }
    for (uint32_t i = 0; i < node->members.count; i++) {
        struct member *member = &node->members.members[i];
        member->advanced_ns = later(node, member->advanced_ns, late_ns);
    }
}

void node_on_time(struct node *node, uint64_t now_ns)
{
    const uint64_t due_ns = node_wake_ns(node);
    node->now_ns = now_ns;
    pacer_on_time(node);
    if (now_ns > due_ns + LATE_NS)
        forgive(node, now_ns - due_ns);
    if (now_ns >= node->gossip_ns && node->stage != STAGE_LEFT)
        gossip(node);
    if (now_ns >= node->check_ns) {
        node->check_ns = now_ns + CHECK_NS;
        for (uint32_t i = 0; i < node->options.peers_max; i++)
            if (node->peers[i].state != PEER_FREE)
                check_peer(node, &node->peers[i]);
        member_gossip_flush(node);
        repair_review(node);
        rolling_snapshot_consider(node);
        fetch_consider(node);
        dialer_shuffle(node);
        if (node->transfer.is_news)
            anti_entropy_show_all(node);
        node->transfer.is_news = false;
        consider_joining(node);
    }
    publish_schedule_consider(node);
    if (node->stage != STAGE_RUNNING)
        leave_consider(node);
}

uint64_t node_wake_ns(const struct node *node)
{
    const bool gossips = node->gossip_ns < node->check_ns && node->stage != STAGE_LEFT;
    const uint64_t wake_ns = gossips ? node->gossip_ns : node->check_ns;
    return wake_ns < node->pacer_wake_ns ? wake_ns : node->pacer_wake_ns;
}
