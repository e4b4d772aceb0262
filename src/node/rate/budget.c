/* How much a node may tell: what its links can take, as they are measured (link.h), and what the
 * others can hear.
 *
 *   room of a link = 0.7 of its rate, less what it carries beside our own rumors
 *   budget         = the least room of the links in good standing, times ease; from very little
 *                    on, it doubles each second at most, if what might be told was told: what has
 *                    not been tried may be too much
 *   ease           falls by three tenths a second while rumors wait for a third of our neighbours,
 *                  or most members lag; rises by a tenth while not
 *
 * A link that has less than a quarter of the room of the middle one is not in good standing: it is
 * told what it can take, lacks the rest, and is brought up to date from logs and by blocks at its
 * own pace. So one slow member holds nobody back. For the same reason the lag that counts is that
 * of the middle member.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node/inside.h"

#define UTILISATION  0.7
#define ROOM_LEAST   0.1       /* of its rate: our own progress is never crowded out altogether */
#define STANDING     0.25      /* of the middle link's room */
#define CROWDED      (1.0 / 3) /* so many of the links */
#define LAG_MS       2000
#define LEARNING_MAX 64
#define MOST         0.5
#define EASE_LEAST   0.02
#define EASE_FALLS   0.7 /* per second */
#define EASE_RISES   1.1
#define INGRESS_FADE 0.97
#define GROWTH       2   /* per second, at most ... */
#define TRIED        0.5 /* ... if so much of it is made use of */
#define CAP_USED     0.9 /* of what the user allows to be sent: the rest is for what is asked for */

double budget_rate_max(const struct node *node, const struct peer *peer)
{
    const double asked = node_rapport(node, peer)->most;
    const double own = (double)node->options.neighbour_max;
    return fmin(asked > 0 ? asked : INFINITY, own > 0 ? own : INFINITY);
}

double budget_link_rate(const struct node *node, const struct peer *peer)
{
    const double cap = (double)node->options.uplink_max;
    const double part = cap > 0 ? cap / fmax(node_neighbours(node), 1) : INFINITY;
    return fmin(fmin(peer->link.rate, part), budget_rate_max(node, peer));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What passed since the last look: to us, and to it beside our own rumors. */
static void count_traffic(struct node *node, struct peer *peer, double span_s)
{
    struct rapport *rapport = node_rapport(node, peer);
    const struct link *link = &peer->link;
    const double other =
        (double)(link->sent - rapport->sent_seen) - (double)rapport->rumor_bytes_published;
    rapport->other = 0.5 * rapport->other + 0.5 * fmax(other, 0) / span_s;
    rapport->incoming =
        0.5 * rapport->incoming + 0.5 * (double)(link->received - rapport->received_seen) / span_s;
    rapport->sent_seen = link->sent;
    rapport->received_seen = link->received;
    rapport->rumor_bytes_published = 0;
}

/* Links that rumors take: how much room each has, what it carries, and whether rumors wait. */
struct rooms {
    double room[NODE_PEERS_MAX], rate[NODE_PEERS_MAX];
    bool is_crowded[NODE_PEERS_MAX];
    uint32_t count;
};

/* What those in good standing come to. */
struct standing {
    double room; /* the least */
    double rate; /* the least */
    uint32_t links, crowded;
};

static struct standing standing_of(const struct rooms *rooms)
{
    double sorted[NODE_PEERS_MAX];
    memcpy(sorted, rooms->room, rooms->count * sizeof *sorted);
    qsort(sorted, rooms->count, sizeof *sorted, compare);
    const double enough = STANDING * sorted[rooms->count / 2];
    struct standing standing = {.room = INFINITY, .rate = INFINITY};
    for (uint32_t i = 0; i < rooms->count; i++) {
        if (rooms->room[i] < enough)
            continue;
        standing.room = fmin(standing.room, rooms->room[i]);
        standing.rate = fmin(standing.rate, rooms->rate[i]);
        standing.links++;
        standing.crowded += rooms->is_crowded[i];
    }
    return standing;
}

/* Bytes per second that may be told, as far as our links go; and whether rumors wait for many of
 * our neighbours: of lines that several links share, that is the first sign that they are full. */
static double link_budget(struct node *node, double span_s, bool *is_crowded)
{
    const uint32_t own = versions_place(&node->versions, node->own);
    struct rooms rooms = {.count = 0};
    double uplink = 0, incoming = 0, others = 0;
    uint32_t copies = 0;
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        count_traffic(node, peer, span_s);
        const double rate = budget_link_rate(node, peer), other = node->rapports[i].other;
        uplink += rate;
        others += other;
        incoming += node->rapports[i].incoming;
        copies += !bit_get(peer->lazy, own);
        if (!node_is_together(node, peer)) /* ... though too much may wait for it just now */
            continue;
        rooms.is_crowded[rooms.count] = pacer_is_crowded(node, peer);
        rooms.rate[rooms.count] = rate;
        rooms.room[rooms.count++] = fmax(UTILISATION * rate - other, ROOM_LEAST * rate);
    }
    const double cap = (double)node->options.uplink_max;
    node->stats.uplink = cap > 0 ? fmin(uplink, cap) : uplink;
    node->stats.ingress = fmax(incoming, INGRESS_FADE * node->stats.ingress);
    if (rooms.count == 0)
        return node->found;
    const struct standing standing = standing_of(&rooms);
    node->slowest = standing.rate;
    *is_crowded = standing.crowded >= CROWDED * standing.links;
    const double left = fmax(CAP_USED * cap - others, ROOM_LEAST * cap) / fmax(copies, 1);
    return cap > 0 ? fmin(standing.room, left) : standing.room;
}

/* What part of those who learn lags, with us among them or not. */
double budget_lagging(const struct node *node, bool with_us)
{
    uint32_t lagging = 0, learning = 0; /* of a large swarm, some are enough to know */
    for (uint32_t i = with_us ? 0 : 1; i < node->members.count && learning < LEARNING_MAX; i++) {
        const struct member *member = &node->members.members[i];
        const bool learns = member->known_live && member->record.trains;
        learning += learns;
        lagging += learns && member->record.lag_ms > LAG_MS;
    }
    return learning > 0 ? (double)lagging / learning : 0;
}

void budget_on_published(struct node *node, uint64_t bytes)
{
    node->is_tried |= (double)bytes >= TRIED * node->due_bytes;
}

static double let_grow(struct node *node)
{
    if (!node->is_tried)
        return 1;
    const double span_s = (double)(node->now_ns - node->grew_ns) * 1e-9;
    node->grew_ns = node->now_ns;
    node->is_tried = false;
    return pow(GROWTH, fmin(span_s, 1));
}

void budget_review(struct node *node)
{
    const double span_s = (double)(node->now_ns - node->reviewed_ns) * 1e-9;
    if (span_s <= 0)
        return;
    node->reviewed_ns = node->now_ns;
    const double most = let_grow(node) * node->found;
    bool is_crowded = false;
    const double found = fmin(link_budget(node, span_s, &is_crowded), most);
    const double factor =
        is_crowded || budget_lagging(node, true) >= MOST ? EASE_FALLS : EASE_RISES;
    node->ease = fmin(fmax(node->ease * pow(factor, fmin(span_s, 2)), EASE_LEAST), 1);
    node->found = found < node->found ? 0.5 * (node->found + found) : found;
    const uint64_t fixed = node->options.bytes_per_s;
    node->stats.budget = fixed ? (double)fixed : node->found * node->ease;
}

/* What this neighbour may send us: half by what it sends now, half the same for all. */
uint64_t budget_downlink_part(const struct node *node, const struct peer *peer)
{
    const double cap = (double)node->options.downlink_max;
    if (cap <= 0)
        return 0;
    double sum = 0;
    for (uint32_t i = 0; node_neighbour(node, &i); i++)
        sum += node->rapports[i].incoming;
    const uint32_t neighbours = node_neighbours(node);
    const double equal = 1.0 / (neighbours ? neighbours : 1);
    const double used = sum > 0 ? node_rapport(node, peer)->incoming / sum : equal;
    return (uint64_t)fmax(cap * 0.5 * (equal + used), 1);
}
