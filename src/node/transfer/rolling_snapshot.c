/* A base of patches: for who cannot hear as much as the swarm tells.
 *
 *   lags for long, while few do ──► all are told to push nothing
 *   ──► block after block, in rounds, each put in place as it comes ──► trains on, tells as before
 *   what is told has become little ──► a base is taken over as a whole (catchup.c)
 *
 * A base that is whole needs every rumor since its first block. Over a line that carries fewer it
 * would never become whole; so here no rumor of others is heard at all, and each block is as new as
 * when its donor read it, whatever its neighbours are. To train on, that is as good: what this node
 * tells is the difference to whatever base it has. Only it is the base of no version, so it is
 * shown, given and saved to nobody.
 *
 * One donor at a time, asked for little at once, so that what comes has not waited for long.
 */
#include "node/inside.h"

#define LAG_NS      (10 * SECOND_NS)
#define GIVING_NS   (10 * SECOND_NS) /* who has given something lately is counted on */
#define USUAL_BYTES 4096.0           /* of a rumor, if none has been heard */
#define ENOUGH      0.5              /* of what comes in may be rumors: the rest is for blocks */
#define FEW         0.25             /* of the others lag, too */
#define PERIODS     2                /* in which each member renews its record */

/* Has somebody been there for long enough to hear from? */
static bool has_company(const struct node *node)
{
    const struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        if (node->now_ns - peer->since_ns > LAG_NS)
            return true;
    return false;
}

/* Do most neighbours have half of what we lack, by what they showed last? What members say of
 * themselves comes late where it matters: when all lag, so do their records. */
static bool others_hear(const struct node *node)
{
    const uint64_t own = node->versions.rumors, most = node_most_shown(node, false);
    uint32_t neighbours = 0, hearing = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        neighbours++;
        hearing += most > own && peer->knows >= own + (most - own) / 2;
    }
    return 2 * hearing > neighbours;
}

/* Who lags while few others do is slow itself; were all to give up their bases, there would be
 * none. Where two train, one tells no more than the other can hear (budget.c). */
static bool is_too_slow(const struct node *node)
{
    return members_training(&node->members, node->now_ns) > 2 && has_company(node) &&
           node_lags(node) && node_lag_ns(node, node->now_ns) > LAG_NS &&
           budget_lagging(node, false) <= FEW && others_hear(node) &&
           !rumor_log_is_waiting(&node->log) && !node->transfer.is_asked &&
           (!node->served_ns || node->now_ns - node->served_ns > GIVING_NS);
}

static void begin_round(struct node *node)
{
    node->transfer.rolled_ns = node->transfer.began_ns;
    node->transfer.rumors_before = node_most_shown(node, false);
    fetch_begin(node, 0);
    node->transfer.is_rolling = true;
}

static void begin(struct node *node)
{
    const uint64_t lag_ns = node_lag_ns(node, node->now_ns);
    struct peer *peer;
    node->transfer.began_ns = node->now_ns - lag_ns; /* so old is what there is */
    node->transfer.wants_whole = false;
    begin_round(node);
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++)
        broadcast_hold_back(node, peer);
    (void)notes_add(&node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_WARNING,
                    "hears less than the swarm tells, and is %.0f s behind: it is brought up to "
                    "date block by block from now on, trains on and tells as before",
                    (double)lag_ns * 1e-9);
}

/* Would this line carry what the swarm tells, as it was during the last round? */
static bool could_hear(const struct node *node)
{
    const struct transfer *transfer = &node->transfer;
    const struct node_stats *stats = &node->stats;
    const uint64_t shown = node_most_shown(node, false);
    const double seconds = (double)(node->now_ns - transfer->began_ns) * 1e-9;
    const double rumors =
        shown > transfer->rumors_before ? (double)(shown - transfer->rumors_before) : 0;
    const double each = stats->rumors_received > 0
                            ? (double)stats->rumor_bytes_received / (double)stats->rumors_received
                            : USUAL_BYTES;
    return shown > 0 && rumors * each <= ENOUGH * stats->ingress * seconds;
}

static void end_round(struct node *node)
{
    node_join(node, "holds what the swarm knew lately");
    node->transfer.wants_whole = could_hear(node);
    node->transfer.keep_weights = false; /* what was learned apart is in the residual now */
    begin_round(node);
}

/* From whom blocks come: one neighbour, as long as it has any. */
static void choose_donor(struct node *node)
{
    struct transfer *transfer = &node->transfer;
    const struct peer *peer = &node->peers[(uint32_t)transfer->from_conn];
    if (peer->conn == transfer->from_conn && peer->state == PEER_OPEN && fetch_may_ask(node, peer))
        return;
    struct peer *other = node_random_neighbour(node);
    transfer->from_conn = other ? other->conn : 0;
}

/* Records of members take the trees of rumors: here they must be asked for. */
static void ask_for_members(struct node *node)
{
    struct peer *donor = &node->peers[(uint32_t)node->transfer.from_conn];
    if (donor->conn == node->transfer.from_conn && donor->state == PEER_OPEN &&
        node->now_ns - node->listed_ns >= PERIODS * member_gossip_period_ns(node) &&
        node_say(node, donor, &(struct message){.kind = MEMBER_QUERY}))
        node->listed_ns = node->now_ns;
}

void rolling_snapshot_consider(struct node *node)
{
    const struct transfer *transfer = &node->transfer;
    if (!transfer->is_rolling && node->stage == STAGE_RUNNING && is_too_slow(node))
        begin(node);
    if (!transfer->is_rolling)
        return;
    if (transfer->blocks_written == node->blocks)
        end_round(node);
    choose_donor(node);
    ask_for_members(node);
}
