/* Rolling snapshots: for a node whose link is too thin for the swarm's rumors.
 *
 *   lags for long, while few others do ──► asks all neighbours to push nothing
 *     ──► fetches block after block, in rounds, and writes each on arrival; trains and publishes on
 *     ──► takes over a complete base (fetch.c) when the swarm publishes little
 *
 * A complete base needs every rumor since its first block, which a thin link cannot carry. So the
 * node takes no rumors of other nodes, and each block is as recent as the donor's base, whatever
 * the age of the adjacent blocks. Such a base is good enough to train on: this node publishes its
 * progress relative to the base that it has. But the base matches no version, so it is neither
 * shown, served nor saved.
 *
 * The node uses one donor at a time and requests little at once, so that blocks are recent. Tests:
 * tests/world/test_rolling_snapshot.c.
 */
#include "node/broadcast/retract.h"
#include "node/discovery/discovery.h"
#include "node/membership/shares.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer_private.h"

#define LAG_NS      (10 * SECOND_NS)
#define USUAL_BYTES 4096.0 /* assumed bytes of a rumor, as long as none has arrived */
/* Part of the received bytes that rumors may take; the other part is for blocks. */
#define ENOUGH 0.5
#define FEW    0.25 /* at most this part of the other training members may lag */

static bool has_company(const struct node *node)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (node->now_ns - peer->since_ns > LAG_NS)
            return true;
    return false;
}

/* Returns true if the versions of most neighbours show at least half of the rumors that this node
 * lacks. Member records would show them too late: when all nodes lag, records also arrive late. */
static bool others_keep_up(const struct node *node)
{
    const uint64_t own = broadcast_versions(node)->rumors;
    const uint64_t most = broadcast_most_shown(node, false);
    uint32_t neighbours = 0, keeping_up = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        neighbours++;
        keeping_up += most > own && broadcast_knows(node, peer) >= own + (most - own) / 2;
    }
    return 2 * keeping_up > neighbours;
}

/* Returns true if this node lags because its link is too slow. False if many members lag: if all of
 * them gave up their bases, no base would be left. False with two training nodes: each publishes at
 * most as much as the other can receive (rate/budget.c). */
static bool is_too_slow(const struct node *node)
{
    return shares_training(membership_members(node), node->now_ns) > 2 && has_company(node) &&
           broadcast_lags(node) && broadcast_lag_ns(node, node->now_ns) > LAG_NS &&
           budget_lagging(node, false) <= FEW && others_keep_up(node) &&
           !rumor_log_is_waiting(broadcast_log(node)) && !retract_is_under_way(node) &&
           !fetch_is_asking(node) && !serve_has_served_lately(node);
}

/* Starts a round in which each block of the base is fetched once. fresh_ns: the base contains
 * all rumors published before this time. */
static void begin_round(struct node *node, uint64_t fresh_ns)
{
    node->transfer->rolling.rumors_before = broadcast_most_shown(node, false);
    broadcast_set_fresh(node, fresh_ns);
    fetch_begin(node, BASE_ROLLING, 0);
}

static void begin(struct node *node)
{
    const uint64_t lag_ns = broadcast_lag_ns(node, node->now_ns);
    const struct peer *peer;
    CHECK(base_state(node) != BASE_ROLLING && lag_ns <= node->now_ns);
    node->transfer->rolling.wants_whole = false;
    begin_round(node, node->now_ns - lag_ns);
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        broadcast_hold_back(node, peer);
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_WARNING,
                    "this node receives less than the swarm publishes and lags by %.0f s; from now "
                    "on it fetches the base block by block, and continues to train and publish",
                    (double)lag_ns * 1e-9);
}

/* Returns true if half of this node's ingress rate would have carried all rumors that the swarm
 * published during the present round. */
static bool could_keep_up(const struct node *node)
{
    struct node_stats stats = {0};
    broadcast_stats(node, &stats);
    const uint64_t shown = broadcast_most_shown(node, false);
    const uint64_t before = node->transfer->rolling.rumors_before;
    const double seconds = (double)(node->now_ns - node->transfer->fetch.began_ns) * 1e-9;
    const double rumors = shown > before ? (double)(shown - before) : 0;
    const double each = stats.rumors_received > 0
                            ? (double)stats.rumor_bytes_received / (double)stats.rumors_received
                            : USUAL_BYTES;
    return shown > 0 && rumors * each <= ENOUGH * budget_ingress(node) * seconds;
}

static void end_round(struct node *node)
{
    CHECK(base_state(node) == BASE_ROLLING);
    joining_join(node, "this node has a recent base of the swarm");
    node->transfer->rolling.wants_whole = could_keep_up(node);
    /* After this round the residual contains all own progress, so later rounds need not keep the
     * weights. */
    node->transfer->fetch.keep_weights = false;
    begin_round(node, node->transfer->fetch.began_ns);
}

/* Keeps the donor while blocks may be requested from it. Otherwise chooses a random neighbour. */
static void choose_donor(struct node *node)
{
    struct rolling_snapshot *rolling = &node->transfer->rolling;
    const struct peer *peer = connection_open_peer(node, rolling->donor);
    if (peer && fetch_may_ask(node, peer))
        return;
    const struct peer *other = connection_random(node);
    rolling->donor = other ? other->conn : 0;
}

/* Requests the member list. A node that takes no rumors is in no broadcast tree, and new member
 * records follow the trees. */
static void ask_for_members(struct node *node)
{
    const struct peer *donor = connection_open_peer(node, node->transfer->rolling.donor);
    if (donor)
        member_gossip_ask_for_list(node, donor);
}

void rolling_snapshot_consider(struct node *node)
{
    if (base_state(node) != BASE_ROLLING && leaving_stage(node) == STAGE_RUNNING &&
        is_too_slow(node))
        begin(node);
    if (base_state(node) != BASE_ROLLING)
        return;
    CHECK(node->transfer->fetch.blocks_written <= node->transfer->blocks);
    if (node->transfer->fetch.blocks_written == node->transfer->blocks)
        end_round(node);
    choose_donor(node);
    ask_for_members(node);
}
