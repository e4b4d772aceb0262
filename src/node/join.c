#include "node/join.h"

#include <stdio.h>

#include "node/admission.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/retract.h"
#include "node/leave.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/orders/orders.h"
#include "node/transfer/transfer.h"

/* Until a node is this old, it believes only the versions of members that have joined. */
#define MEET_NS (2 * SECOND_NS)

/* Why no peer has become a neighbour, by join.certainty. */
static const char *const WHY_ALONE[] = {
    [NOTE_GUESSED] = "no peer has answered",
    [NOTE_UNREAD] = ("peers close the connection without an answer: compare this node's swarm key "
                     "with theirs (copy the newest)"),
    [NOTE_TOLD] = "peers have answered, but none accepts this node",
    [NOTE_LASTING] = "peers have answered, but none accepts this node",
};

struct join {
    uint64_t company_ns; /* time of the last neighbour, or other sign of a swarm; 0 = never */
    bool is_turned_away; /* a dialled member does not admit this node */
    /* The most certain reason why a dialled peer did not become a neighbour. */
    enum note_certainty certainty;
    bool must_restart; /* a RESTART action is due */
};

size_t join_arena_bytes(void)
{
    return sizeof(struct join) + 64;
}

struct join *join_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct join));
}

void join_on_company(struct node *node)
{
    node->join->company_ns = node->now_ns;
    if (joining_state(node) == JOINING_CALLING)
        joining_move(node, JOINING_HEARING);
}

void join_on_turned_away(struct node *node)
{
    node->join->is_turned_away = true;
}

void join_on_closed(struct node *node, const struct peer *peer)
{
    const enum note_certainty certainty = connection_certainty(peer);
    if (peer->dialled && certainty > node->join->certainty)
        node->join->certainty = certainty;
}

void join_ask_to_confirm(struct node *node)
{
    if (joining_has_joined(node) || !base_is_whole(node))
        return;
    const struct peer *chosen = NULL, *peer;
    uint32_t joined = 0;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++)
        if (membership_has_joined(node, peer->id) && rng_below(&node->rng, ++joined) == 0)
            chosen = peer;
    const uint64_t known = broadcast_versions(node)->rumors;
    if (chosen && known + broadcast_active_origins(node) >= broadcast_most_shown(node, false) &&
        !fetch_is_asking(node))
        anti_entropy_ask_for_all(node, chosen);
}

/* To join, this node may have fewer rumors than the neighbour that has shown the most: one rumor
 * per origin may be in transit. A neighbour that has not joined counts only if this node is MEET_NS
 * old, or NODE_JOIN_WAIT_NS if that neighbour knows no rumor. */
void join_on_knowledge(struct node *node, const struct peer *from, uint64_t missing)
{
    const uint64_t few = broadcast_active_origins(node);
    CHECK(node->now_ns >= node->born_ns);
    if (joining_has_joined(node) || !base_is_whole(node) || retract_needs_base(node) ||
        orders_expelling_self(node))
        return; /* the node must first have a complete base without rumors to take out */
    const uint64_t alone_ns = broadcast_knows(node, from) > 0 ? MEET_NS : NODE_JOIN_WAIT_NS;
    const bool is_trusted =
        membership_has_joined(node, from->id) || node->now_ns - node->born_ns >= alone_ns;
    if (is_trusted && missing <= few &&
        broadcast_versions(node)->rumors + few >= broadcast_most_shown(node, false))
        joining_join(node, "has all rumors of the swarm");
}

static void restart(struct node *node)
{
    CHECK(!base_is_whole(node));
    node->join->must_restart = true;
    node->join->company_ns = node->now_ns;
    /* another restart is due only if the base lacks blocks for NODE_LOST_WAIT_NS more */
    fetch_restart_wait(node);
    (void)notes_add(
        &node->notes, node->now_ns, NOTE_CATCHING_UP, LEVEL_WARNING,
        "no reachable member has the rest of the base; this node starts again from its own "
        "checkpoint, or from its initial weights");
}

/* Returns true if orders admit members but not this node, and it has no neighbour although it is
 * NODE_JOIN_WAIT_NS old. */
static bool is_refused(const struct node *node)
{
    return orders_admit(node) && node->now_ns - node->born_ns >= NODE_JOIN_WAIT_NS &&
           connection_neighbours(node) == 0 &&
           node_admission(node, node->options.identity->id) == ADMISSION_NONE;
}

bool join_leave_unheard(struct node *node)
{
    const struct join *join = node->join;
    CHECK(join->company_ns <= node->now_ns);
    if (join->company_ns > 0 || join->is_turned_away)
        return false;
    leave_on_turned_away(node, WHY_ALONE[join->certainty]);
    return true;
}

static void join_alone(struct node *node)
{
    char text[160];
    (void)snprintf(text, sizeof text, "%s; this node trains alone and keeps dialling",
                   WHY_ALONE[node->join->certainty]);
    joining_join(node, text);
}

/* Returns true if the last neighbour or other sign of a swarm is NODE_LOST_WAIT_NS old. For a
 * joiner that knows no member that may return, NODE_JOIN_WAIT_NS is enough. Returns false if there
 * never was such a sign. */
static bool is_lost(const struct node *node)
{
    const bool waits_long = joining_has_joined(node) || membership_may_return(node);
    return node->join->company_ns > 0 && node->now_ns - node->join->company_ns >=
                                             (waits_long ? NODE_LOST_WAIT_NS : NODE_JOIN_WAIT_NS);
}

void join_consider(struct node *node)
{
    struct join *join = node->join;
    if (connection_neighbours(node) > 0)
        join_on_company(node);
    CHECK(join->company_ns <= node->now_ns);
    const bool is_stuck =
        !base_is_whole(node) && node->now_ns - fetch_wrote_ns(node) >= NODE_LOST_WAIT_NS;
    if (!base_is_whole(node) && (is_lost(node) || is_stuck) && leaving_stage(node) == STAGE_RUNNING)
        restart(node);
    if (joining_has_joined(node) || !base_is_whole(node) || orders_expelling_self(node))
        return;
    const bool is_alone =
        join->company_ns == 0 && node->now_ns - node->born_ns >= NODE_JOIN_WAIT_NS;
    if (is_refused(node) && join_leave_unheard(node))
        return;
    if ((is_alone && join->is_turned_away) || is_refused(node))
        leave_on_turned_away(node, NULL);
    else if (is_alone)
        join_alone(node);
    else if (is_lost(node))
        joining_join(node, "the last neighbour is lost; this node trains alone on the received "
                           "rumors and keeps dialling");
}

bool join_next_restart(struct node *node, struct action *action)
{
    if (!node->join->must_restart)
        return false;
    node->join->must_restart = false;
    action->kind = ACTION_RESTART;
    return true;
}
