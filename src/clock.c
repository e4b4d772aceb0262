/* What a node does because time has passed: gossip, look after its conversations, notice deaths. */
#include <math.h>

#include "inside.h"

#define CHECK_NS        (SECOND_NS / 4)
#define GOSSIP_NS       SECOND_NS
#define LEAVE_GOSSIP_NS (SECOND_NS / 5)
#define PING_NS         (2 * SECOND_NS)
#define RATE_MIN        1e-6 /* who has stopped: 0 would mean that the rate is not known yet */

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

static void note_deaths(struct node *node)
{
    for (uint32_t i = 1; i < node->members.count; i++) {
        struct member *member = &node->members.members[i];
        if (!member->known_live || member_is_live(&node->members, member, node->now_ns))
            continue;
        member->known_live = false;
        struct note *note = notes_add(&node->notes, node->now_ns, NOTE_MEMBER_DEAD, LEVEL_WARNING,
                                      "has been silent for too long: taken for dead");
        identity_text(note->who, member->record.id);
        if (member->record.address.host[0])
            (void)address_text(&member->record.address, note->where);
    }
}

/* While running: one random neighbour a second. While leaving: everyone, more often. */
static void gossip(struct node *node)
{
    const bool running = node->stage == STAGE_RUNNING;
    node->gossip_ns = node->now_ns + (running ? GOSSIP_NS : LEAVE_GOSSIP_NS);
    measure_rate(node);
    node_refresh_record(node);
    note_deaths(node);
    const uint32_t open = node_neighbours(node);
    uint32_t chosen = open ? rng_below(&node->rng, open) : 0;
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        struct peer *peer = &node->peers[i];
        if (peer->state != PEER_OPEN || (running && chosen-- != 0))
            continue;
        talk_members(node, peer);
        talk_version(node, peer);
    }
}

static void check_peer(struct node *node, struct peer *peer)
{
    const uint64_t now_ns = node->now_ns;
    if (peer->state < PEER_OPEN && now_ns - peer->born_ns > node->options.handshake_ns)
        node_hang_up(node, peer, BYE_SILENT, "it did not finish the handshake in time");
    if (peer->state != PEER_OPEN)
        return;
    if (now_ns - peer->heard_ns > node->options.silence_ns)
        node_hang_up(node, peer, BYE_SILENT, "nothing was heard for too long");
    else if (session_worn_out(&peer->session) || now_ns > peer->renew_ns)
        node_hang_up(node, peer, BYE_RENEW, "new keys");
    else if (now_ns - peer->pinged_ns > PING_NS &&
             peer_say(peer, &(struct message){.kind = PING, .token = now_ns}))
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
