#include "node/leave.h"

#include "node/admission.h"
#include "node/broadcast/broadcast.h"
#include "node/broadcast/withheld.h"
#include "node/discovery/discovery.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/orders/orders.h"
#include "node/rate/rate.h"

/* A settled node waits before it leaves: another node may have begun to leave a little later.
 * The wait is this time for each live member, between LINGER_MIN_NS and LINGER_MAX_NS. */
#define LINGER_EACH_NS (SECOND_NS / 8)
#define LINGER_MIN_NS  SECOND_NS
#define LINGER_MAX_NS  (3 * SECOND_NS)

#define LAST_MOST 32 /* maximum publications after training ended, of a node that leaves */
/* Maximum publications after training ended, of a node that finishes: 205 s of publications
 * (FINISH_PAUSE_NS in rate/). Half: a small budget leaves more unpublished. Double: a caller with
 * the usual limit of 600 s may stop waiting before the last publication. */
#define FINISH_MOST 1024
/* A finishing node's last publications end when tau falls below this part of leave.tau. */
#define LAST_PART (1.0F / 50)
/* They also end when tau falls to the rounding error of a float32 weight of 16. Otherwise a node
 * would publish forever the differences between weights and base that only rounding causes. */
#define LAST_TAU (16 * QUANTUM)
/* A leaving node compares its base with another leaver's until that leaver's last record or rumor
 * is older than this plus two renewal periods. */
#define FRESH_NS (3 * SECOND_NS)

struct leave {
    uint64_t began_ns;
    uint64_t hurry_ns;       /* due time of an early round of gossip; 0 = none */
    uint32_t published_last; /* publications since training ended that another one has followed */
    float tau;               /* tau of the first publication after training ended */
    /* Since this node settled, all its neighbours have once had all its rumors. */
    bool ours_known;
    bool is_turned_away; /* no member is known to admit this node */
    bool is_expelled;
    bool is_finished;      /* all conversations have ended */
    bool is_finished_said; /* the FINISHED action was returned to the owner */
};

size_t leave_arena_bytes(void)
{
    return sizeof(struct leave) + 64;
}

struct leave *leave_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct leave));
}

static void settle(struct node *node)
{
    CHECK(leaving_stage(node) != STAGE_RUNNING);
    if (publishing_state(node) != PUBLISHING_OVER)
        publishing_move(node, PUBLISHING_OVER);
    if (leaving_stage(node) != STAGE_LEAVING || !base_is_whole(node))
        /* Without a complete base, this node has no digest with which other members can agree. */
        return;
    leaving_move(node, STAGE_SETTLED);
    /* later than now: node_on_time returns with no event due at its own time */
    node->leave->hurry_ns = node->now_ns + 1;
}

void leave_on_published(struct node *node, const struct update *update)
{
    struct leave *leave = node->leave;
    const uint32_t most = leaving_stays(node) ? FINISH_MOST : LAST_MOST;
    CHECK(leave->published_last < FINISH_MOST);
    if (leave->tau == 0)
        leave->tau = update->tau;
    const bool is_alone = membership_live(node) == 1;
    const bool has_more = update->needs_more || (leaving_stays(node) && update->tau > LAST_TAU &&
                                                 update->tau > LAST_PART * leave->tau);
    const bool goes_on = ((is_alone || has_more) && update->count > 0) ||
                         (leaving_stays(node) && publish_schedule_holds_statistics(node));
    const bool may_go_on = leaving_stage(node) == STAGE_LEAVING && goes_on;
    if (!may_go_on || ++leave->published_last >= most)
        settle(node);
}

void leave_end_training(struct node *node)
{
    leaving_move(node, STAGE_LEAVING);
    /* An early round of gossip tells neighbours at once that training has ended. */
    node->leave->hurry_ns = node->now_ns;
    /* The rest of progress that was published long ago no longer fits the base. */
    if (!node->options.trains || publish_schedule_end_is_published(node))
        settle(node);
    publish_schedule_consider(node);
}

void node_leave(struct node *node, uint64_t now_ns)
{
    CHECK(now_ns >= node->now_ns);
    if (leaving_is_asked(node) || leaving_stage(node) == STAGE_LEFT)
        return;
    node->now_ns = node->leave->began_ns = now_ns;
    leaving_ask(node);
    node->leave->hurry_ns = now_ns;
    (void)notes_add(&node->notes, now_ns, NOTE_LEAVING, LEVEL_INFO,
                    !node->options.trains ? "leaving: this node only relays"
                    : leaving_stage(node) == STAGE_RUNNING && publish_schedule_goes_on(node)
                        ? "leaving: training ends, and this node publishes its last progress"
                        : "leaving: training had already ended");
    if (leaving_stage(node) == STAGE_RUNNING)
        leave_end_training(node);
}

bool node_is_leaving(const struct node *node)
{
    return leaving_stage(node) != STAGE_RUNNING;
}

uint64_t leave_hurry_ns(const struct node *node)
{
    return node->leave->hurry_ns;
}

void leave_on_gossip(struct node *node)
{
    node->leave->hurry_ns = 0;
}

/* Returns true if all neighbours have shown that they have our rumors. A neighbour without a
 * complete base cannot show this. Such a neighbour is ignored if another one has our rumors. */
static bool neighbours_have_ours(const struct node *node)
{
    uint32_t have = 0, lack = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        const bool has = broadcast_has_ours(node, peer);
        if (!has && broadcast_knows(node, peer) > 0)
            return false;
        have += has;
        lack += !has;
    }
    return have > 0 || lack == 0;
}

/* Returns true if the record of every other live member shows the digest of our base. Such members
 * hold all our rumors, even if the member that connected us to them has left. */
static bool others_hold_our_base(const struct node *node)
{
    const struct members *members = membership_members(node);
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (member_is_live(members, member, node->now_ns) &&
            member->record.digest != broadcast_versions(node)->digest)
            return false;
    }
    return true;
}

/* Returns true if no neighbour lacks our rumors, and either all neighbours of this settled node
 * have once had them, or all live members hold our base. A node without neighbours needs one of
 * these two signs, because its connections may only be broken. */
static bool ours_are_known(struct node *node)
{
    if (!neighbours_have_ours(node))
        return false;
    if (leaving_stage(node) == STAGE_SETTLED && connection_neighbours(node) > 0)
        node->leave->ours_known = true;
    return node->leave->ours_known || others_hold_our_base(node);
}

uint64_t leave_linger_ns(const struct node *node)
{
    const uint64_t linger_ns = membership_live(node) * LINGER_EACH_NS;
    return linger_ns < LINGER_MIN_NS ? LINGER_MIN_NS : u64_min(linger_ns, LINGER_MAX_NS);
}

/* Returns true if all neighbours have answered a PING that was sent after a wait of
 * leave_linger_ns, and sends missing PINGs. Messages of a neighbour arrive in order, so news that
 * it leaves would have arrived before the answer. */
static bool neighbours_have_answered(struct node *node)
{
    CHECK(leaving_stage(node) == STAGE_SETTLED);
    const uint64_t after_ns = node->leave->began_ns + leave_linger_ns(node);
    bool all = true;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = connection_neighbour(node, &i)); i++) {
        if (peer->pinged_ns < after_ns)
            connection_ping(node, peer);
        all = all && peer->answered_ns >= after_ns;
    }
    return all;
}

/* Returns true if another live member still trains. */
static bool others_train(const struct node *node)
{
    const struct members *members = membership_members(node);
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (member_learns(member) && member_is_live(members, member, node->now_ns))
            return true;
    }
    return false;
}

/* Returns true if all leaving members have settled with this node's base. Ignores a member whose
 * last record or rumor is too old (FRESH_NS). Also ignores a finished member (settled, but not
 * training) while another member trains, because the bases of running members change all the time.
 */
static bool leavers_agree(const struct node *node)
{
    const struct members *members = membership_members(node);
    const bool is_trained = others_train(node);
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        const enum stage stage = member->record.stage;
        if (stage == STAGE_RUNNING || stage == STAGE_LEFT ||
            (is_trained && stage == STAGE_SETTLED && !member->record.trains) ||
            node->now_ns - member->advanced_ns > FRESH_NS + member->record.renew_ms * 2 * MS_NS)
            continue;
        if (stage == STAGE_LEAVING || member->record.digest != broadcast_versions(node)->digest)
            return false;
    }
    return true;
}

static void hang_up_all(struct node *node)
{
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++) {
        const struct peer *peer = connection_at(node, i);
        if (peer->state != PEER_FREE)
            connection_hang_up(node, peer, BYE_LEAVING, "this node leaves the swarm");
    }
}

static void leave_at_once(struct node *node)
{
    leaving_ask(node);
    if (leaving_stage(node) == STAGE_RUNNING)
        leaving_move(node, STAGE_LEAVING);
    leaving_move(node, STAGE_LEFT);
    node->leave->began_ns = node->now_ns;
    hang_up_all(node);
}

void leave_on_expelled(struct node *node)
{
    if (leaving_stage(node) == STAGE_LEFT)
        return;
    node->leave->is_expelled = true;
    leave_at_once(node);
}

void leave_on_turned_away(struct node *node, const char *unheard)
{
    char id[KEY_HEX_BYTES];
    CHECK(unheard || !joining_has_joined(node));
    if (leaving_stage(node) == STAGE_LEFT)
        return;
    key_hex(id, node->options.identity->id);
    if (unheard)
        (void)notes_add(&node->notes, node->now_ns, NOTE_ADMISSION, LEVEL_ERROR,
                        "this node is no member by the orders that it has, up to number %u, and no "
                        "member could send it later ones: %s; then start it again",
                        (unsigned)orders_count(node), unheard);
    else
        (void)notes_add(
            &node->notes, node->now_ns, NOTE_ADMISSION, LEVEL_ERROR,
            "no member admits this node; have its id listed or admitted (%s), and start it again",
            id);
    node->leave->is_turned_away = true;
    leave_at_once(node);
}

bool node_is_turned_away(const struct node *node)
{
    return node->leave->is_turned_away;
}

bool node_is_expelled(const struct node *node)
{
    return node->leave->is_expelled;
}

static void leave_now(struct node *node, bool complete)
{
    const char *text =
        !complete && withheld_has_any(node)
            ? "left the swarm at the end of node.grace_s, before a decision about "
              "withheld rumors; this node's base lacks them"
        : !complete ? "left the swarm at the end of node.grace_s; some neighbours may "
                      "lack this node's last rumors"
        : connection_neighbours(node) > 0
            ? "left the swarm; the neighbours have all rumors of this node"
        : membership_live(node) > 1 ? "left the swarm; the members have all rumors of this node"
                                    : "left the swarm; no other member is alive";
    leaving_move(node, STAGE_LEFT);
    member_gossip_renew(node);
    member_gossip_flush(node);
    (void)notes_add(&node->notes, node->now_ns, NOTE_LEFT, complete ? LEVEL_INFO : LEVEL_WARNING,
                    "%s", text);
    hang_up_all(node);
}

void leave_consider(struct node *node)
{
    CHECK(leaving_stage(node) != STAGE_RUNNING && node->now_ns >= node->leave->began_ns);
    const uint64_t since_ns = node->now_ns - node->leave->began_ns;
    if (publishing_state(node) == PUBLISHING_OVER)
        settle(node);
    if (leaving_stays(node))
        return;
    const bool is_done = broadcast_is_all_applied(node) && base_is_whole(node);
    if (leaving_stage(node) == STAGE_SETTLED && since_ns >= leave_linger_ns(node) && is_done &&
        neighbours_have_answered(node) && ours_are_known(node) && leavers_agree(node))
        leave_now(node, true);
    else if (leaving_stage(node) != STAGE_LEFT && since_ns >= node->options.grace_ns)
        leave_now(node, false);
    if (leaving_stage(node) != STAGE_LEFT)
        return;
    node->leave->is_finished = true;
    for (uint32_t i = 0; i < node->options.limits.peers_max; i++)
        node->leave->is_finished &= connection_at(node, i)->state == PEER_FREE;
}

bool leave_next_finished(struct node *node, struct action *action)
{
    if (!node->leave->is_finished || node->leave->is_finished_said)
        return false;
    CHECK(leaving_stage(node) == STAGE_LEFT);
    node->leave->is_finished_said = true;
    action->kind = ACTION_FINISHED;
    return true;
}
