/* Repair: requests rumors that did not arrive by themselves.
 *
 * A VERSION shows that a neighbour has more rumors of an origin than we. If these rumors do not
 * arrive soon, or arrive more slowly than the origin publishes, we send the neighbour WANT with the
 * first missing number. A WANT also grafts the tree (Plumtree): that neighbour pushes from now on,
 * and our previous parent stops, so the tree grows around a slow or broken branch. No neighbour
 * becomes parent of more than its share of the origins at a time, since one link cannot carry all
 * rumors. Otherwise all origins would be late, and would move to the next neighbour together.
 */
#include <string.h>

#include "node/broadcast/barred.h"
#include "node/broadcast/broadcast_private.h"

/* Least wait before a missing rumor is requested; the round trip if that is longer. */
#define AFTER_NS  (SECOND_NS / 2)
#define LATEST_NS (5 * SECOND_NS) /* longest wait before a missing rumor is requested */
/* Least time between two requests for the same rumors. repair_review also waits for a round trip;
 * repair_slice does not. */
#define AGAIN_NS (2 * SECOND_NS)
/* If rumors are missing for this long and the gap does not shrink, the parent is replaced. */
#define SLOW_NS (3 * SECOND_NS)
/* A new parent that has not delivered the missing rumors counts as new for this time. */
#define COMING_NS (10 * SECOND_NS)
/* A rumor counts as gone after this many GONE answers, or after fewer answers if they are more than
 * half of the number of neighbours. */
#define GONE_ENOUGH 4
/* Maximum unknown origins whose rumors are requested after one slice. */
#define UNKNOWN_AT_ONCE 64

static void set_missing(struct node *node, struct origin *origin, bool missing)
{
    struct repair *repair = &node->broadcast->repair;
    CHECK(missing || !origin->gap.missing || repair->missing > 0);
    repair->missing += missing ? !origin->gap.missing : -(uint32_t)origin->gap.missing;
    origin->gap.missing = missing;
}

static void look_again(struct node *node, struct origin *origin)
{
    struct gap *gap = &origin->gap;
    gap->missing_at = origin->next;
    gap->missing_gap = gap->missing_to - origin->next;
    gap->missing_since_ns = node->now_ns;
}

void repair_note_missing(struct node *node, struct origin *origin, uint32_t to,
                         const struct peer *from)
{
    struct gap *gap = &origin->gap;
    const bool is_first = !gap->missing;
    if (is_first) {
        set_missing(node, origin, true);
        gap->missing_to = to;
        look_again(node, origin);
    }
    gap->missing_to = u32_max(gap->missing_to, to);
    /* Prefers a neighbour other than the one that was asked last. Our parent may never have been
     * asked: it also becomes our parent by sending a record. */
    if (is_first || from->conn != gap->asked_conn || !connection_open_peer(node, gap->missing_from))
        gap->missing_from = from->conn;
    gap->shown_ns = node->now_ns;
    if (gap->behind_ns == 0) {
        gap->behind_ns = node->now_ns;
        gap->behind_to = to;
        node->broadcast->repair.behind++;
    }
}

void repair_on_known(struct node *node, struct origin *origin)
{
    struct gap *gap = &origin->gap;
    CHECK(!gap->behind_ns || node->broadcast->repair.behind > 0);
    gap->gone = 0;
    if (gap->missing && origin->next >= gap->missing_to)
        set_missing(node, origin, false);
    if (gap->behind_ns && origin->next >= gap->behind_to) {
        /* since behind_ns, neighbours may have shown further rumors of this origin that are missing
         */
        gap->behind_ns = origin->next < gap->missing_to ? node->now_ns : 0;
        gap->behind_to = gap->missing_to;
        node->broadcast->repair.behind -= gap->behind_ns == 0;
    }
}

void repair_forget(struct node *node)
{
    struct versions *versions = &node->broadcast->versions;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++) {
        struct gap *gap = &versions->origins[origin_index].gap;
        gap->missing = false;
        gap->behind_ns = 0;
        gap->asked_ns = gap->changed_ns = 0;
    }
    node->broadcast->repair.missing = node->broadcast->repair.behind = 0;
}

void repair_forget_origin(struct node *node, struct origin *origin)
{
    struct repair *repair = &node->broadcast->repair;
    CHECK(!origin->gap.behind_ns || repair->behind > 0);
    set_missing(node, origin, false);
    repair->behind -= origin->gap.behind_ns > 0;
    origin->gap = (struct gap){0};
}

/* Requests the origin's rumors from number `seq` on. A node in BASE_ROLLING takes no rumors. */
static bool want(struct node *node, const struct peer *peer, uint64_t tag, uint32_t seq)
{
    return base_state(node) != BASE_ROLLING &&
           connection_say(node, peer, &(struct message){.kind = WANT, .tag = tag, .seq = seq});
}

bool repair_ask(struct node *node, const struct peer *peer, uint32_t origin_index)
{
    CHECK(origin_index < node->broadcast->versions.count);
    struct origin *origin = &node->broadcast->versions.origins[origin_index];
    if (!want(node, peer, origin->tag, origin->next))
        return false;
    origin->gap.asked_ns = node->now_ns;
    origin->gap.asked_conn = peer->conn;
    bit_set(broadcast_neighbour(node, peer)->pruned, origin_index, false);
    return true;
}

/* Requests the rumors of an unknown origin, unless they were requested in the last AGAIN_NS. */
static void ask_first(struct node *node, const struct peer *peer, uint64_t tag)
{
    struct repair *repair = &node->broadcast->repair;
    for (uint32_t i = 0; i < ASKED_MAX; i++) {
        const struct asked *asked = &repair->asked[i];
        if (asked->tag == tag && asked->at_ns && node->now_ns - asked->at_ns < AGAIN_NS)
            return;
    }
    if (!want(node, peer, tag, 0))
        return;
    repair->asked_ns = node->now_ns;
    repair->asked[repair->asked_next++ % ASKED_MAX] =
        (struct asked){.tag = tag, .at_ns = node->now_ns};
}

/* Forgets the gap of this origin if it is known only from this neighbour, whose version no longer
 * shows the missing rumors: it has taken over a base without them. */
static void forget_dropped(struct node *node, struct origin *origin, const struct peer *from)
{
    if (origin->gap.behind_ns && origin->gap.missing_from == from->conn)
        repair_forget_origin(node, origin);
}

static void forget_all_dropped(struct node *node, const struct peer *from)
{
    struct versions *versions = &node->broadcast->versions;
    for (uint32_t i = 0; i < versions->count && node->broadcast->repair.behind > 0; i++)
        forget_dropped(node, &versions->origins[i], from);
}

void repair_slice(struct node *node, const struct peer *from, const struct message *version)
{
    const size_t entries = version->bulk.count / VERSION_ENTRY_BYTES;
    uint32_t unknown = 0;
    CHECK(from->state == PEER_OPEN);
    if (version->hash == node->broadcast->versions.hash)
        forget_all_dropped(node, from);
    for (size_t i = 0; i < entries; i++) {
        const struct version_entry entry = version_entry_at(version->bulk.at, i);
        struct origin *origin = versions_find(&node->broadcast->versions, entry.tag);
        const uint32_t next = origin ? barred_shown(node, from, origin, entry.next) : entry.next;
        if (origin && origin != node->broadcast->own && next > origin->next)
            repair_note_missing(node, origin, next, from);
        else if (origin)
            forget_dropped(node, origin, from);
        else if (!barred_is_stranger(node, from, entry.tag) && unknown++ < UNKNOWN_AT_ONCE)
            ask_first(node, from, entry.tag);
    }
}

/* Returns the neighbour to ask after this one has answered GONE for the origin: first the origin
 * itself, whose log has its own rumors, then the neighbours in turn. NULL if there is no other. */
static const struct peer *next_to_ask(const struct node *node, const struct peer *from,
                                      const struct origin *origin)
{
    const struct peer *itself =
        origin->gap.gone == 1 ? connection_by_id(node, origin->id, from) : NULL;
    const struct peer *peer, *first = NULL;
    if (itself && broadcast_is_together(node, itself))
        return itself;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        if (peer == from || !broadcast_is_together(node, peer))
            continue;
        if (i > connection_slot(node, from))
            return peer;
        first = first ? first : peer;
    }
    return first;
}

/* The log of a node that took over a base lacks that base's rumors, so this node asks another
 * neighbour. After GONE_ENOUGH answers, or more answers than half of the number of neighbours, the
 * rumor counts as being only in bases. For an unknown origin, one answer is enough. */
bool repair_on_gone(struct node *node, const struct peer *from, uint64_t tag, uint64_t seq)
{
    struct origin *origin = versions_find(&node->broadcast->versions, tag);
    if (!broadcast_is_together(node, from) ||
        (origin && (seq < origin->next || seq >= origin->keep)))
        return false;
    if (!origin || ++origin->gap.gone >= GONE_ENOUGH ||
        origin->gap.gone * 2 > connection_neighbours(node))
        return true;
    const struct peer *other = next_to_ask(node, from, origin);
    if (other)
        (void)repair_ask(node, other, broadcast_index(node, origin));
    origin->gap.changed_ns = 0; /* the present parent no longer counts as new (is_to_come) */
    return false;
}

void repair_on_lost(struct node *node, uint64_t conn)
{
    uint32_t left = broadcast_latest_origins(node);
    const struct versions *versions = &node->broadcast->versions;
    for (const struct origin *origin = versions_older(versions, NULL); origin && left > 0;
         origin = versions_older(versions, origin), left--) {
        const struct peer *peer = origin->parent_conn == conn ? connection_random(node) : NULL;
        if (peer)
            (void)repair_ask(node, peer, broadcast_index(node, origin));
    }
}

/* Makes this neighbour our parent in the origin's tree. Returns false if no request could be sent.
 * No cycle arises: a neighbour that has more rumors than we does not get them through us. */
static bool change_parent(struct node *node, const struct peer *peer, struct origin *origin)
{
    CHECK(peer->state == PEER_OPEN);
    const struct peer *before = connection_open_peer(node, origin->parent_conn);
    if (!repair_ask(node, peer, broadcast_index(node, origin)))
        return false;
    if (before && before != peer && !peer_is_origin(before, origin))
        tree_prune(node, before, origin);
    if (origin->parent_conn != peer->conn) {
        origin->gap.changed_ns = node->now_ns;
        origin->gap.changed_to = origin->gap.missing_to;
    }
    origin->parent_conn = peer->conn;
    return true;
}

/* Returns true if the rumors that were requested last may still be in the neighbour's queue. */
static bool is_awaited(const struct node *node, const struct origin *origin)
{
    CHECK(origin->gap.asked_ns <= node->now_ns);
    const struct peer *asked = connection_open_peer(node, origin->gap.asked_conn);
    return asked && origin->gap.asked_ns > 0 &&
           node->now_ns - origin->gap.asked_ns < AGAIN_NS + asked->rtt_ns;
}

/* Returns the wait before a missing rumor that this peer shows is requested. It is longer for a
 * distant peer: another distant neighbour may already have sent the rumor to us. */
static uint64_t after_ns(const struct peer *peer)
{
    return u64_min(u64_max(peer->rtt_ns, AFTER_NS), LATEST_NS);
}

/* Returns true if no rumor of the origin has arrived since the last check. Also returns true if
 * rumors have been missing for SLOW_NS, their number has not fallen since the last check, and a
 * neighbour other than our parent has them. */
static bool is_too_slow(const struct node *node, const struct origin *origin)
{
    const struct gap *gap = &origin->gap;
    return origin->next == gap->missing_at ||
           (gap->missing_from != origin->parent_conn && node->now_ns - gap->behind_ns > SLOW_NS &&
            gap->missing_to - origin->next >= gap->missing_gap);
}

/* Returns true if the origin's new parent, chosen less than COMING_NS ago, has not yet delivered
 * the rumors that were missing then. */
static bool is_to_come(const struct node *node, const struct origin *origin)
{
    const struct gap *gap = &origin->gap;
    return origin->next < gap->changed_to && gap->changed_ns > 0 &&
           node->now_ns - gap->changed_ns < COMING_NS;
}

/* Counts, by slot, the origins for which the neighbour is a new parent (is_to_come). */
static void count_to_come(const struct node *node, uint32_t to_come[static NODE_PEERS_MAX])
{
    const struct versions *versions = &node->broadcast->versions;
    for (uint32_t i = 0; i < versions->count; i++) {
        const struct origin *origin = &versions->origins[i];
        const struct peer *peer = connection_open_peer(node, origin->parent_conn);
        if (peer && is_to_come(node, origin))
            to_come[connection_slot(node, peer)]++;
    }
}

static bool has_its_share(const struct node *node, uint32_t to_come)
{
    return to_come > 0 && (to_come + 1) * connection_neighbours(node) > membership_live(node);
}

/* Makes this peer the parent in the origin's tree if rumors arrive too slowly. Returns false if the
 * peer already has its share of origins: then the gap is checked again at the next review. */
static bool close_gap(struct node *node, const struct peer *peer, struct origin *origin,
                      uint32_t to_come[static NODE_PEERS_MAX])
{
    CHECK(origin->gap.missing);
    if (!is_too_slow(node, origin))
        return true;
    const bool is_parent = origin->parent_conn == peer->conn;
    uint32_t *of = &to_come[connection_slot(node, peer)];
    if (!is_parent && has_its_share(node, *of))
        return false;
    *of += !is_parent;
    if (change_parent(node, peer, origin) && broadcast_lags(node))
        node->broadcast->repair.asked_ns = node->now_ns;
    set_missing(node, origin, false); /* the next VERSION shows rumors that are still missing */
    return true;
}

/* Starts at a different origin each time, so that no origin is always served first. */
void repair_review(struct node *node)
{
    struct repair *repair = &node->broadcast->repair;
    struct versions *versions = &node->broadcast->versions;
    uint32_t to_come[NODE_PEERS_MAX] = {0};
    CHECK(repair->missing <= versions->count && repair->behind <= versions->count);
    if (repair->missing > 0)
        count_to_come(node, to_come);
    const uint32_t count = versions->count, first = repair->turn++;
    for (uint32_t i = 0; i < count && repair->missing > 0; i++) {
        struct origin *origin = &versions->origins[(first + i) % count];
        const struct gap *gap = &origin->gap;
        const struct peer *peer =
            gap->missing ? connection_open_peer(node, gap->missing_from) : NULL;
        if (gap->missing && !peer)
            set_missing(node, origin, false); /* a VERSION will show who else has the rumors */
        if (!peer || node->now_ns - gap->missing_since_ns < after_ns(peer) ||
            is_awaited(node, origin))
            continue;
        if (close_gap(node, peer, origin, to_come))
            look_again(node, origin);
    }
}
