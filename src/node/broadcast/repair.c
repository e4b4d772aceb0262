/* What did not come by itself is asked for.
 *
 * VERSION shows that a neighbour has more of an origin than we do. If that does not come soon, or
 * comes more slowly than the origin tells, it is asked for: WANT says from which rumor on. Asking
 * also grafts: who is asked pushes from now on, and who pushed so far is to stop, so the tree
 * (spread.c) grows around a thin or broken branch. No neighbour takes the place of others for more
 * than its share of the origins at a time: the link of one does not carry what all say, and what it
 * brings late would be asked of the next one, all at once again.
 */
#include "node/inside.h"

#define AFTER_NS    (SECOND_NS / 2) /* or a round trip, on a longer way ... */
#define LATEST_NS   (5 * SECOND_NS) /* ... but no later */
#define AGAIN_NS    (2 * SECOND_NS)
#define SLOW_NS     (3 * SECOND_NS)
#define COMING_NS   (10 * SECOND_NS)
#define GONE_ENOUGH 4 /* neighbours that no longer have it, if most are not fewer */

static void set_missing(struct node *node, struct origin *origin, bool missing)
{
    node->missing += missing ? !origin->missing : -(uint32_t)origin->missing;
    origin->missing = missing;
}

static void look_again(struct node *node, struct origin *origin)
{
    origin->missing_at = origin->next;
    origin->missing_gap = origin->missing_to - origin->next;
    origin->missing_since_ns = node->now_ns;
}

void repair_note_missing(struct node *node, struct origin *origin, uint32_t to,
                         const struct peer *from)
{
    const bool is_first = !origin->missing;
    if (is_first) {
        set_missing(node, origin, true);
        origin->missing_to = to;
        look_again(node, origin);
    }
    if (to > origin->missing_to)
        origin->missing_to = to;
    if (is_first || from->conn != origin->parent_conn ||
        !node_open_peer(node, origin->missing_from))
        origin->missing_from = from->conn; /* rather somebody else than who feeds us already */
    origin->shown_ns = node->now_ns;
    if (origin->behind_ns == 0) {
        origin->behind_ns = node->now_ns;
        origin->behind_to = to;
        node->behind++;
    }
}

void repair_on_known(struct node *node, struct origin *origin)
{
    origin->gone = 0;
    if (origin->missing && origin->next >= origin->missing_to)
        set_missing(node, origin, false);
    if (origin->behind_ns && origin->next >= origin->behind_to) { /* and what was shown since? */
        origin->behind_ns = origin->next < origin->missing_to ? node->now_ns : 0;
        origin->behind_to = origin->missing_to;
        node->behind -= origin->behind_ns == 0;
    }
}

/* A base of patches has no use for rumors. */
static bool want(struct node *node, struct peer *peer, uint64_t tag, uint32_t seq)
{
    return !node->transfer.is_rolling &&
           node_say(node, peer, &(struct message){.kind = WANT, .tag = tag, .seq = seq});
}

/* Ask this neighbour for all that comes next from this origin: now, and as soon as it has it. */
bool repair_ask(struct node *node, struct peer *peer, struct origin *origin)
{
    if (!want(node, peer, origin->tag, origin->next))
        return false;
    bit_set(peer->pruned, versions_place(&node->versions, origin), false);
    return true;
}

/* An origin not known yet: ask one neighbour for all of it, not each that shows it. */
void repair_ask_first(struct node *node, struct peer *peer, uint64_t tag)
{
    for (uint32_t i = 0; i < ASKED_MAX; i++) {
        const struct asked *asked = &node->asked[i];
        if (asked->tag == tag && asked->at_ns && node->now_ns - asked->at_ns < AGAIN_NS)
            return;
    }
    if (!want(node, peer, tag, 0))
        return;
    node->asked_ns = node->now_ns;
    node->asked[node->asked_next++ % ASKED_MAX] = (struct asked){.tag = tag, .at_ns = node->now_ns};
}

/* Who took over a base has nothing in its log of what is in it, so the next is asked. If most no
 * longer have a rumor, or some of very many, it is to be had in a base only. */
void repair_on_gone(struct node *node, struct peer *from, uint64_t tag, uint64_t seq)
{
    struct origin *origin = versions_find(&node->versions, tag);
    if (!node_is_together(node, from) || (origin && seq < origin->next))
        return;
    if (!origin || ++origin->gone >= GONE_ENOUGH || origin->gone * 2 > node_neighbours(node)) {
        node_rapport(node, from)->ahead = true;
        return;
    }
    struct peer *other = node_random_neighbour(node);
    if (other != from)
        (void)repair_ask(node, other, origin);
    origin->changed_ns = 0; /* it is not to bring it any more */
}

/* Who brought us what these origins say is gone: somebody else must. */
void repair_on_lost(struct node *node, uint64_t conn)
{
    uint32_t left = node_latest(node);
    for (struct origin *origin = versions_older(&node->versions, NULL); origin && left > 0;
         origin = versions_older(&node->versions, origin), left--) {
        struct peer *peer = origin->parent_conn == conn ? node_random_neighbour(node) : NULL;
        if (peer)
            (void)repair_ask(node, peer, origin);
    }
}

/* Who is ahead of us is not fed by us: it may take the place of who has fed us too late. */
static bool change_to(struct node *node, struct peer *peer, struct origin *origin)
{
    struct peer *before = node_open_peer(node, origin->parent_conn);
    if (!repair_ask(node, peer, origin))
        return false;
    if (before && before != peer && !peer_is_origin(before, origin))
        broadcast_prune(node, before, origin);
    if (origin->parent_conn != peer->conn) {
        origin->changed_ns = node->now_ns;
        origin->changed_to = origin->missing_to;
    }
    origin->parent_conn = peer->conn;
    origin->asked_ns = node->now_ns;
    return true;
}

/* It may have much to send us before that. */
static bool is_awaited(const struct node *node, const struct origin *origin)
{
    const struct peer *asked = node_open_peer(node, origin->parent_conn);
    return asked && origin->asked_ns > 0 &&
           node->now_ns - origin->asked_ns < AGAIN_NS + asked->rtt_ns;
}

/* What a neighbour far away has heard may be on its way to us from another as far away. */
static uint64_t after_ns(const struct peer *peer)
{
    const uint64_t after_ns = peer->rtt_ns > AFTER_NS ? peer->rtt_ns : AFTER_NS;
    return after_ns < LATEST_NS ? after_ns : LATEST_NS;
}

/* Nothing has come since the last look; or for long less than was said meanwhile, and another has
 * more. */
static bool is_too_slow(const struct node *node, const struct origin *origin)
{
    return origin->next == origin->missing_at ||
           (origin->missing_from != origin->parent_conn &&
            node->now_ns - origin->behind_ns > SLOW_NS &&
            origin->missing_to - origin->next >= origin->missing_gap);
}

/* Who feeds us was asked lately for what has not come yet. What never comes binds nobody for ever.
 */
static bool is_to_come(const struct node *node, const struct origin *origin)
{
    return origin->next < origin->changed_to && origin->changed_ns > 0 &&
           node->now_ns - origin->changed_ns < COMING_NS;
}

/* How many origins each neighbour, by slot, is still to bring. */
static void count_to_come(const struct node *node, uint32_t to_come[static NODE_PEERS_MAX])
{
    for (uint32_t i = 0; i < node->versions.count; i++) {
        const struct origin *origin = &node->versions.origins[i];
        const struct peer *peer = node_open_peer(node, origin->parent_conn);
        if (peer && is_to_come(node, origin))
            to_come[node_slot(node, peer)]++;
    }
}

static bool has_its_share(const struct node *node, uint32_t to_come)
{
    return to_come > 0 && (to_come + 1) * node_neighbours(node) > node->live;
}

/* One origin after the other, each time from another one on: no place comes first for ever. */
void repair_review(struct node *node)
{
    uint32_t to_come[NODE_PEERS_MAX] = {0};
    if (node->missing > 0)
        count_to_come(node, to_come);
    const uint32_t count = node->versions.count, first = node->repair_turn++;
    for (uint32_t i = 0; i < count && node->missing > 0; i++) {
        struct origin *origin = &node->versions.origins[(first + i) % count];
        struct peer *peer = origin->missing ? node_open_peer(node, origin->missing_from) : NULL;
        if (origin->missing && !peer)
            set_missing(node, origin, false); /* the next VERSION says who else has it */
        if (!peer || node->now_ns - origin->missing_since_ns < after_ns(peer) ||
            is_awaited(node, origin))
            continue;
        if (is_too_slow(node, origin)) {
            const bool is_asked = origin->parent_conn == peer->conn;
            uint32_t *of = &to_come[node_slot(node, peer)];
            if (!is_asked && has_its_share(node, *of))
                continue; /* another may show it, or this one have less to bring */
            *of += !is_asked;
            if (change_to(node, peer, origin) && node_lags(node))
                node->asked_ns = node->now_ns;
            set_missing(node, origin, false); /* if it does not help, the next VERSION says so */
        }
        look_again(node, origin);
    }
}
