/* The publication budget: bytes per second that this node's links carry (congestion.h) and that the
 * other members can receive.
 *
 *   headroom of a link = 0.7 of its rate, minus its other traffic; at least 0.1 of its rate. Blocks
 *                        do not count as other traffic, because they give way to rumors
 *   rate_estimate      = the least headroom of the links in good standing
 *   backoff              falls by three tenths a second while too many rumors queue on a third of
 *                        the links in good standing, or at least half of the training members
 *                        lag. Otherwise it rises by a tenth a second
 *   budget             = rate_estimate · backoff
 *
 * An untried rate_estimate may be too high. It may jump to the rate at which all members could
 * publish together. Above that rate it doubles at most once a second, if a publication used the
 * budget and no rumor has been missing on this node for long. A node that makes many steps between
 * two publications does not wait for that second: its estimate doubles as soon as its last
 * publication has arrived, while no link has seen a backlog.
 *
 * A link with less than a quarter of the median headroom is not in good standing. It gets what it
 * can carry, and logs and blocks bring it up to date at its own pace. So a slow member holds back
 * no other member. For the same reason, the lag of a few members does not lower the budget. Tests:
 * tests/world/test_budget.c.
 */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "node/rate/rate_private.h"

/* Part of a link's rate that a node plans to use; the remainder absorbs bursts. */
#define UTILISATION 0.7
/* Part of a link's rate that own rumors get at least, whatever other traffic it has. */
#define ROOM_LEAST 0.1
/* Part of the median headroom that a link in good standing has at least. */
#define STANDING 0.25
/* The budget falls while too many rumors queue on at least this part of the links in good standing.
 */
#define CROWDED (1.0 / 3)
/* Least lag, in seconds, above which a member counts as lagging (lag_most_s). */
#define LAG_S 2.0
/* While this node lags for longer than this part of lag_most_s, rate_estimate does not grow. */
#define LAG_GROWING   0.5
#define LEARNING_MAX  64  /* maximum training members whose lag budget_lagging checks */
#define MOST          0.5 /* part of the training members that must lag before the budget falls */
#define BACKOFF_LEAST 0.02
#define BACKOFF_FALLS 0.7 /* factor on the backoff per second while an overload is seen */
#define BACKOFF_RISES 1.1 /* factor on the backoff per second while no overload is seen */
#define INGRESS_FADE  0.97
#define GROWTH        2 /* largest growth factor of rate_estimate per second */
/* Part of an estimated rate that a link surely carries: doubling may overshoot twofold. */
#define SEEN  0.5
#define TRIED 0.5 /* part of the budget that a publication must use to test rate_estimate */
/* Unacknowledged bytes, summed over all members, up to which budget_probe may double a budget. */
#define UNDER_WAY (2 * ACK_BYTES)
#define CAP_USED  0.9 /* part of uplink_max for the sum of own rumors and `other` traffic */

/* Updates the neighbour's moving averages. span_s: seconds since the last call. left: upper limit
 * of own_bytes afterwards. */
static void count_traffic(const struct peer *peer, struct rate_neighbour *neighbour, double span_s,
                          double left)
{
    CHECK(span_s > 0);
    const struct congestion *link = &neighbour->link;
    CHECK(link->sent >= neighbour->sent_seen && link->received >= neighbour->received_seen);
    CHECK(peer->blocks_sealed >= neighbour->blocks_seen);
    const uint64_t all = link->sent - neighbour->sent_seen;
    const uint64_t blocks = peer->blocks_sealed - neighbour->blocks_seen;
    const uint64_t sent = all > blocks ? all - blocks : 0;
    const uint64_t own = u64_min(sent, neighbour->own_bytes);
    const double incoming = (double)(link->received - neighbour->received_seen);
    /* The average covers about a second, so a handshake just before budget_review barely counts. */
    const double kept = exp2(-span_s);
    neighbour->other = kept * neighbour->other + (1 - kept) * (double)(sent - own) / span_s;
    neighbour->incoming = 0.5 * neighbour->incoming + 0.5 * incoming / span_s;
    neighbour->sent_seen = link->sent;
    neighbour->blocks_seen = peer->blocks_sealed;
    neighbour->received_seen = link->received;
    neighbour->own_bytes = (uint64_t)fmin((double)(neighbour->own_bytes - own), left);
}

/* Links that carry rumors, one entry per link. Rates are in bytes per second. */
struct rooms {
    double room[NODE_PEERS_MAX];     /* headroom of the link: its rate left for own rumors */
    double rate[NODE_PEERS_MAX];     /* line_rate of the link */
    bool is_crowded[NODE_PEERS_MAX]; /* pacer_is_crowded */
    uint32_t count;
};

/* Summary over the links in good standing. */
struct standing {
    double room;      /* least headroom, bytes per second */
    double rate;      /* least line_rate, bytes per second */
    uint32_t links;   /* links in good standing */
    uint32_t crowded; /* links in good standing with too many queued rumors */
};

static struct standing standing_of(const struct rooms *rooms)
{
    CHECK(rooms->count > 0 && rooms->count <= NODE_PEERS_MAX);
    double sorted[NODE_PEERS_MAX];
    memcpy(sorted, rooms->room, rooms->count * sizeof *sorted);
    const double enough = STANDING * double_median_high(sorted, rooms->count);
    struct standing standing = {.room = INFINITY, .rate = INFINITY};
    for (uint32_t i = 0; i < rooms->count; i++) {
        if (rooms->room[i] < enough)
            continue;
        standing.room = fmin(standing.room, rooms->room[i]);
        standing.rate = fmin(standing.rate, rooms->rate[i]);
        standing.links++;
        standing.crowded += rooms->is_crowded[i];
    }
    CHECK(standing.links > 0 && standing.room > 0);
    return standing;
}

static void count_all_traffic(struct node *node, double span_s)
{
    struct budget *budget = &node->rate->budget;
    const struct peer *peer;
    double incoming = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        struct rate_neighbour *neighbour = &node->rate->neighbours[i];
        count_traffic(peer, neighbour, span_s, publish_left(node));
        incoming += neighbour->incoming;
    }
    budget->ingress = fmax(incoming, INGRESS_FADE * budget->ingress);
}

/* Returns the bytes per second that this node's links allow it to publish. Sets *is_crowded to true
 * if rumors queue on many links: the first sign that several members share a full link. */
static double link_budget(struct node *node, const struct slots *eager,
                          const struct slots *together, bool *is_crowded)
{
    struct budget *budget = &node->rate->budget;
    struct rooms rooms = {.count = 0};
    double uplink = 0, others = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const struct rate_neighbour *neighbour = &node->rate->neighbours[i];
        const double rate = line_rate(node, peer);
        uplink += rate;
        others += neighbour->other;
        /* `eager` would lack neighbours whose queue is full for a moment. */
        if (!slots_has(together, i))
            continue;
        rooms.is_crowded[rooms.count] = pacer_is_crowded(node, peer);
        rooms.rate[rooms.count] = rate;
        rooms.room[rooms.count++] = fmax(UTILISATION * rate - neighbour->other, ROOM_LEAST * rate);
    }
    const double cap = (double)node->options.uplink_max;
    budget->uplink = cap > 0 ? fmin(uplink, cap) : uplink;
    if (rooms.count == 0)
        return budget->rate_estimate;
    const struct standing standing = standing_of(&rooms);
    budget->slowest = standing.rate;
    *is_crowded = standing.crowded >= CROWDED * standing.links;
    const double copies = fmax(slots_count(eager), 1);
    const double left = fmax(CAP_USED * cap - others, ROOM_LEAST * cap) / copies;
    return cap > 0 ? fmin(standing.room, left) : standing.room;
}

/* Returns the lag in seconds above which a member counts as lagging. */
static double lag_most_s(const struct node *node)
{
    return fmax(LAG_S, publish_span_s(node));
}

double budget_lagging(const struct node *node, bool with_us)
{
    const struct members *members = membership_members(node);
    const double most_ms = 1000 * lag_most_s(node);
    uint32_t lagging = 0, learning = 0;
    for (uint32_t i = with_us ? 0 : 1; i < members->count && learning < LEARNING_MAX; i++) {
        const struct member *member = &members->members[i];
        const bool learns = member->known_live && member->record.trains;
        learning += learns;
        lagging += learns && member->record.lag_ms > most_ms;
    }
    return learning > 0 ? (double)lagging / learning : 0;
}

void budget_on_own(struct node *node, const struct peer *peer, size_t bytes)
{
    rate_neighbour(node, peer)->own_bytes += bytes;
}

void budget_on_published(struct node *node, uint64_t bytes)
{
    struct budget *budget = &node->rate->budget;
    budget->is_tried |= (double)bytes >= TRIED * budget->due_bytes;
}

/* Returns a rate_estimate that needs no test: if all members publish at this rate, a link with this
 * `room` can receive their sum. 0 = not known. */
static double equal_part(const struct node *node, double room)
{
    const uint32_t live = membership_live(node);
    const bool is_known = node->rate->budget.slowest > LINK_RATE_FIRST;
    return is_known && live > 1 ? SEEN * room / (live - 1) : 0;
}

/* Returns true if rate_estimate may grow: a publication used the budget, and no rumor has been
 * missing here for long. Missing rumors are the first sign that all nodes together publish more
 * than links carry. */
static bool may_grow(const struct node *node, uint64_t lag_ns)
{
    return node->rate->budget.is_tried && (double)lag_ns * 1e-9 <= LAG_GROWING * lag_most_s(node);
}

/* Returns the factor by which rate_estimate grows now; if it grows, starts its next test. */
static double let_grow(const struct node *node, uint64_t lag_ns)
{
    struct budget *budget = &node->rate->budget;
    CHECK(node->now_ns >= budget->grew_ns);
    if (!may_grow(node, lag_ns))
        return 1;
    const double span_s = (double)(node->now_ns - budget->grew_ns) * 1e-9;
    budget->grew_ns = node->now_ns;
    budget->is_tried = false;
    return pow(GROWTH, fmin(span_s, 1));
}

static void set_budget(struct node *node)
{
    struct budget *budget = &node->rate->budget;
    const uint64_t fixed = node->options.bytes_per_s;
    budget->bytes_per_s = fixed ? (double)fixed : budget->rate_estimate * budget->backoff;
    CHECK(budget->bytes_per_s > 0 && isfinite(budget->bytes_per_s));
}

void budget_review(struct node *node, struct slots eager, struct slots together, uint64_t lag_ns)
{
    struct budget *budget = &node->rate->budget;
    const double span_s = (double)(node->now_ns - budget->reviewed_ns) * 1e-9;
    if (span_s <= 0)
        return;
    budget->reviewed_ns = node->now_ns;
    const double tried = let_grow(node, lag_ns) * budget->rate_estimate;
    bool is_crowded = false;
    count_all_traffic(node, span_s);
    const double room = link_budget(node, &eager, &together, &is_crowded);
    const double found = fmin(room, fmax(tried, equal_part(node, room)));
    const double factor =
        is_crowded || budget_lagging(node, true) >= MOST ? BACKOFF_FALLS : BACKOFF_RISES;
    budget->backoff = fmin(fmax(budget->backoff * pow(factor, fmin(span_s, 2)), BACKOFF_LEAST), 1);
    budget->rate_estimate =
        found < budget->rate_estimate ? 0.5 * (budget->rate_estimate + found) : found;
    set_budget(node);
}

/* Returns true if there are eager neighbours, no rumors or other ordinary messages are queued for
 * them, and their links are idle (congestion_is_idle). All other members may probe at once over one
 * neighbour's link. So each link may have at most UNDER_WAY / (live - 1) unacknowledged bytes. */
static bool is_delivered(const struct node *node, const struct slots *eager)
{
    const struct peer *peer;
    const uint32_t live = membership_live(node);
    const uint64_t most = UNDER_WAY / (live > 1 ? live - 1 : 1);
    bool is_any = false;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        if (!slots_has(eager, i))
            continue;
        if (queue_bytes(&peer->queue) > 0 ||
            !congestion_is_idle(&rate_neighbour(node, peer)->link, most))
            return false;
        is_any = true;
    }
    return is_any;
}

void budget_probe(struct node *node, struct slots eager, struct slots together, uint64_t lag_ns)
{
    struct budget *budget = &node->rate->budget;
    if (!may_grow(node, lag_ns) || !is_delivered(node, &eager))
        return;
    budget->is_tried = false;
    budget->grew_ns = node->now_ns;
    bool is_crowded = false;
    const double room = link_budget(node, &eager, &together, &is_crowded);
    budget->rate_estimate = fmax(budget->rate_estimate, fmin(GROWTH * budget->rate_estimate, room));
    set_budget(node);
}

double budget_uplink(const struct node *node)
{
    return node->rate->budget.uplink;
}

double budget_ingress(const struct node *node)
{
    return node->rate->budget.ingress;
}

double budget_slowest(const struct node *node)
{
    return node->rate->budget.slowest;
}
