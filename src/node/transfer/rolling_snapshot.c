/* A rolling snapshot: for a node that cannot take in as much as the swarm publishes.
 *
 *   lags for long, while few do ──► all are asked to push nothing
 *   ──► block after block, in rounds, each put in place as it comes ──► trains on, publishes as
 * before what is published has become little ──► a base is taken over as a whole (fetch.c)
 *
 * A base that is whole needs every rumor since its first block. Over a line that carries fewer it
 * would never become whole; so here no rumor of others is taken at all, and each block is as new as
 * when its donor read it, whatever its neighbours are. To train on, that is as good: what this node
 * publishes is the difference to whatever base it has. Only it is the base of no version, so it is
 * shown, served and saved to nobody.
 *
 * One donor at a time, asked for little at once, so that what comes has not waited for long.
 * Held by tests/world/test_rolling_snapshot.c.
 */
#include "node/broadcast/retract.h"
#include "node/discovery/discovery.h"
#include "node/membership/shares.h"
#include "node/rate/rate.h"
#include "node/transfer/transfer_private.h"

#define LAG_NS      (10 * SECOND_NS)
#define USUAL_BYTES 4096.0 /* of a rumor, if none has come */
#define ENOUGH      0.5    /* of what comes in may be rumors: the rest is for blocks */
#define FEW         0.25   /* of the others lag, too */

/* Has a neighbour been there for long enough to send something? */
static bool has_company(const struct node *node)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (node->now_ns - peer->since_ns > LAG_NS)
            return true;
    return false;
}

/* Do most neighbours have half of what we lack, by what they showed last? What members say of
 * themselves comes late where it matters: when all lag, so do their records. */
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

/* A node that lags while few others do is slow itself; were all to give up their bases, there would
 * be none. Where two train, one publishes no more than the other can take in (rate/budget.c). */
static bool is_too_slow(const struct node *node)
{
    return shares_training(membership_members(node), node->now_ns) > 2 && has_company(node) &&
           broadcast_lags(node) && broadcast_lag_ns(node, node->now_ns) > LAG_NS &&
           budget_lagging(node, false) <= FEW && others_keep_up(node) &&
           !rumor_log_is_waiting(broadcast_log(node)) && !retract_is_under_way(node) &&
           !fetch_is_asking(node) && !serve_has_served_lately(node);
}

/* fresh_ns: as of when the blocks of the last round were read, at the earliest. */
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
                    "hears less than the swarm publishes, and is %.0f s behind: it is brought up "
                    "to date block by block from now on, trains on and publishes as before",
                    (double)lag_ns * 1e-9);
}

/* Would this line carry what the swarm publishes, as it was during the last round? */
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
    joining_join(node, "holds what the swarm knew lately");
    node->transfer->rolling.wants_whole = could_keep_up(node);
    node->transfer->fetch.keep_weights = false; /* what was learned apart is in the residual now */
    begin_round(node, node->transfer->fetch.began_ns);
}

/* From whom blocks come: one neighbour, as long as it has any. */
static void choose_donor(struct node *node)
{
    struct rolling_snapshot *rolling = &node->transfer->rolling;
    const struct peer *peer = connection_open_peer(node, rolling->donor);
    if (peer && fetch_may_ask(node, peer))
        return;
    const struct peer *other = connection_random(node);
    rolling->donor = other ? other->conn : 0;
}

/* Records of members take the trees of rumors: here they must be asked for. */
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
