#include "node/timers.h"

#include "node/broadcast/broadcast.h"
#include "node/broadcast/identity_clash.h"
#include "node/broadcast/progress.h"
#include "node/discovery/discovery.h"
#include "node/finish.h"
#include "node/first_weights.h"
#include "node/governance/expulsion.h"
#include "node/governance/own_labels.h"
#include "node/governance/quarantine.h"
#include "node/join.h"
#include "node/leave.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/failure_detector.h"
#include "node/membership/membership.h"
#include "node/orders/admitted.h"
#include "node/orders/key_rotation.h"
#include "node/orders/orders.h"
#include "node/orders/proofs.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer.h"

/* Time between two checks of conversations and members (check_all). */
#define CHECK_NS  (SECOND_NS / 4)
#define GOSSIP_NS SECOND_NS /* longest time between two rounds of gossip (round_ns) */
/* A timer that comes later than its due time by more than this shows that the process was
 * suspended. */
#define LATE_NS SECOND_NS

struct timers {
    uint64_t gossip_ns; /* due time of the next round of gossip */
    uint64_t check_ns;  /* due time of the next check_all */
};

size_t timers_arena_bytes(void)
{
    return sizeof(struct timers) + 64;
}

struct timers *timers_new(struct arena *arena, struct node *node)
{
    struct timers *timers = arena_alloc(arena, 1, sizeof *timers);
    timers->gossip_ns = node->now_ns + rng_below(&node->rng, (uint32_t)SECOND_NS);
    timers->check_ns = node->now_ns;
    return timers;
}

/* Returns the time between two rounds of gossip. In a small swarm it is shorter once this node's
 * training has ended, because other members wait for its records. */
static uint64_t round_ns(const struct node *node)
{
    const uint64_t period_ns = member_gossip_period_ns(node);
    CHECK(period_ns > 0);
    return leaving_stage(node) == STAGE_RUNNING || period_ns > GOSSIP_NS ? GOSSIP_NS : period_ns;
}

static uint64_t gossip_due_ns(const struct node *node)
{
    const uint64_t hurry_ns = leave_hurry_ns(node);
    return hurry_ns ? hurry_ns : node->timers->gossip_ns;
}

static void gossip(struct node *node)
{
    CHECK(leaving_stage(node) != STAGE_LEFT);
    node->timers->gossip_ns = node->now_ns + round_ns(node);
    leave_on_gossip(node);
    publish_schedule_measure(node);
    budget_review(node, broadcast_eager(node), broadcast_together(node),
                  broadcast_lag_ns(node, node->now_ns));
    publish_schedule_renew(node);
    member_gossip_review(node);
    membership_review(node);
    progress_review(node);
    first_weights_show(node);
    member_gossip_renew(node);
    member_gossip_flush(node);
    join_ask_to_confirm(node);
    digest_votes_consider(node);
    lost_rumors_consider(node);
    anti_entropy_round(node);
    orders_show_one(node);
    key_rotation_ask_one(node);
    proofs_show_one(node);
    quarantine_review(node);
    own_labels_review(node);
    admitted_say_one(node);
    member_gossip_end_round(node);
}

static void check_peer(struct node *node, const struct peer *peer)
{
    CHECK(peer->state != PEER_FREE);
    pacer_consider_ack(node, peer);
    const uint64_t patience_ns = failure_detector_patience_ns(node, peer->id);
    if (connection_check(node, peer, patience_ns))
        return;
    failure_detector_on_given_up(node, peer->id);
    connection_hang_up(node, peer, BYE_SILENT, "the peer was silent for too long");
}

/* After the process was suspended for late_ns, extends the time limits of peers and members by that
 * time, because their messages have not been read yet (Lifeguard: Dadgar, Phillips, Currey 2018).
 */
static void forgive(struct node *node, uint64_t late_ns)
{
    CHECK(late_ns > LATE_NS);
    connection_forgive(node, late_ns);
    failure_detector_forgive(node, late_ns);
}

static void check_all(struct node *node)
{
    node->timers->check_ns = node->now_ns + CHECK_NS;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        if (connection_at(node, i)->state != PEER_FREE)
            check_peer(node, connection_at(node, i));
    member_gossip_flush(node);
    repair_review(node);
    rolling_snapshot_consider(node);
    fetch_consider(node);
    dialer_shuffle(node);
    dialer_make_room(node);
    if (fetch_take_announcement(node))
        anti_entropy_show_all(node);
    join_consider(node);
    expulsion_consider(node);
    identity_clash_consider(node);
    key_rotation_consider(node);
}

void node_on_time(struct node *node, uint64_t now_ns)
{
    const uint64_t due_ns = node_wake_ns(node);
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    pacer_on_time(node);
    if (now_ns > due_ns + LATE_NS)
        forgive(node, now_ns - due_ns);
    if (now_ns >= gossip_due_ns(node) && leaving_stage(node) != STAGE_LEFT)
        gossip(node);
    if (now_ns >= node->timers->check_ns)
        check_all(node);
    publish_schedule_consider(node);
    if (leaving_stage(node) != STAGE_RUNNING) {
        finish_consider(node);
        leave_consider(node);
    }
    CHECK(node_wake_ns(node) > node->now_ns);
}

uint64_t node_wake_ns(const struct node *node)
{
    const uint64_t gossip_ns = gossip_due_ns(node), check_ns = node->timers->check_ns;
    const bool gossips = gossip_ns < check_ns && leaving_stage(node) != STAGE_LEFT;
    const uint64_t wake_ns = gossips ? gossip_ns : check_ns;
    return u64_min(wake_ns, pacer_wake_ns(node));
}
