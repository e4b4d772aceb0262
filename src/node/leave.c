/* How a node leaves.
 *
 *   RUNNING ── node_leave ──► LEAVING ── last telling out ──► SETTLED ── all agree ──► LEFT
 *                                └────────────── grace time over ─────────────────────►
 *
 * A settled node trains no more but passes on what it hears. It leaves when every neighbour has all
 * its rumors, and every member that is leaving too has settled and holds the same base: so a whole
 * swarm that is told to stop ends with one model, and a single node that is told to stop goes only
 * when what it told last is known to others. (The last telling is as large as any; what it leaves
 * out stays in the weights of the checkpoint. Where nobody else is there, it is told all the same,
 * in publications until little is left: the base that stays is what was learned.) Where each
 * talks to each the first is certain, since what a neighbour says comes in its order; in a larger
 * swarm the news that somebody leaves too may take longer than the others linger. Nobody waits
 * longer than the grace time.
 */
#include "node/inside.h"

/* Others may be told to leave a little later than we. */
#define LINGER_EACH_NS (SECOND_NS / 8)
#define LINGER_MIN_NS  SECOND_NS
#define LINGER_MAX_NS  (3 * SECOND_NS)

#define ALONE_MOST 32 /* publications: a fiftieth or so is left then, and there is no end to it */

#define FRESH_NS (3 * SECOND_NS) /* who leaves with us says so not much later than it promised */
#define MS_NS    (SECOND_NS / 1000)

void leave_settle(struct node *node)
{
    node->publish = PUBLISH_OVER;
    if (node->stage != STAGE_LEAVING || node_is_catching_up(node))
        return; /* the grace time was over first; others are to wait until our base is whole */
    node->stage = STAGE_SETTLED;
    node->gossip_ns = node->now_ns + 1; /* very soon, but not in this call */
}

/* The last telling is out, and this is how many entries it told. */
void leave_on_published(struct node *node, uint32_t entries)
{
    const bool may_go_on = node->stage == STAGE_LEAVING && node->live == 1 && entries > 0;
    if (!may_go_on || ++node->published_alone == ALONE_MOST)
        leave_settle(node);
}

void node_leave(struct node *node, uint64_t now_ns)
{
    if (node->stage != STAGE_RUNNING)
        return;
    node->now_ns = node->leave_ns = now_ns;
    node->stage = STAGE_LEAVING;
    node->gossip_ns = now_ns; /* say so at once */
    (void)notes_add(&node->notes, now_ns, NOTE_LEAVING, LEVEL_INFO,
                    "leaving: training ends, what was learned is told");
    if (!node->options.trains)
        leave_settle(node);
    publish_schedule_consider(node);
}

bool node_is_leaving(const struct node *node)
{
    return node->stage != STAGE_RUNNING;
}

/* Have all neighbours shown that they have all our rumors? Whose base is not whole shows nothing:
 * it is not waited for where another has them. */
static bool neighbours_have_ours(const struct node *node)
{
    uint32_t have = 0, lack = 0;
    const struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        const bool has = peer->own_next >= node->own->next;
        if (!has && peer->knows > 0)
            return false;
        have += has;
        lack += !has;
    }
    return have > 0 || lack == 0;
}

/* Do others have all our rumors? Once all neighbours of a moment had, they have; having no
 * neighbour is an answer only where no other member is alive: otherwise a connection has just
 * broken, and is being made again. */
static bool ours_are_known(struct node *node)
{
    if (!neighbours_have_ours(node))
        return false;
    if (node->stage == STAGE_SETTLED && node_neighbours(node) > 0)
        node->ours_known = true; /* nothing is told any more */
    return node->ours_known || node->live == 1;
}

/* News of who leaves takes longer in a larger swarm. */
static uint64_t linger_ns(const struct node *node)
{
    const uint64_t linger_ns = node->live * LINGER_EACH_NS;
    return linger_ns < LINGER_MIN_NS   ? LINGER_MIN_NS
           : linger_ns < LINGER_MAX_NS ? linger_ns
                                       : LINGER_MAX_NS;
}

/* What a neighbour says comes in its order. So once it has answered a PING sent after we began to
 * leave and lingered, all has come that it said before, and that it leaves too. */
static bool neighbours_have_answered(struct node *node)
{
    const uint64_t after_ns = node->leave_ns + linger_ns(node);
    bool all = true;
    struct peer *peer;
    for (uint32_t i = 0; (peer = node_neighbour(node, &i)); i++) {
        if (peer->pinged_ns < after_ns &&
            node_say(node, peer, &(struct message){.kind = PING, .token = node->now_ns}))
            peer->pinged_ns = node->now_ns;
        all = all && peer->answered_ns >= after_ns;
    }
    return all;
}

/* Do all who are leaving too hold the base that we hold? */
static bool leavers_agree(const struct node *node)
{
    for (uint32_t i = 1; i < node->members.count; i++) {
        const struct member *member = &node->members.members[i];
        const enum stage stage = member->record.stage;
        if (stage == STAGE_RUNNING || stage == STAGE_LEFT ||
            node->now_ns - member->advanced_ns > FRESH_NS + member->record.renew_ms * 2 * MS_NS)
            continue;
        if (stage == STAGE_LEAVING || member->record.digest != node->versions.digest)
            return false;
    }
    return true;
}

static bool all_applied(const struct node *node)
{
    return node->log.waiting_bytes == 0 && node->applying_rumors == 0 && !node_is_catching_up(node);
}

static void leave_now(struct node *node, bool complete)
{
    const char *text = !complete ? "left the swarm when the grace time was over: not every "
                                   "neighbour is known to have all that was told here"
                       : node_neighbours(node) > 0
                           ? "left the swarm; the neighbours have all that was told here"
                           : "left the swarm; no other member of it is alive";
    node->stage = STAGE_LEFT;
    member_gossip_renew(node);
    member_gossip_flush(node);
    (void)notes_add(&node->notes, node->now_ns, NOTE_LEFT, complete ? LEVEL_INFO : LEVEL_WARNING,
                    "%s", text);
    for (uint32_t i = 0; i < node->options.peers_max; i++) {
        struct peer *peer = &node->peers[i];
        if (peer->state != PEER_FREE)
            node_hang_up(node, peer, BYE_LEAVING, "we leave the swarm");
    }
}

void leave_consider(struct node *node)
{
    const uint64_t since_ns = node->now_ns - node->leave_ns;
    if (node->publish == PUBLISH_OVER)
        leave_settle(node);
    if (node->stage == STAGE_SETTLED && since_ns >= linger_ns(node) && all_applied(node) &&
        neighbours_have_answered(node) && ours_are_known(node) && leavers_agree(node))
        leave_now(node, true);
    else if (node->stage != STAGE_LEFT && since_ns >= node->options.grace_ns)
        leave_now(node, false);
    if (node->stage != STAGE_LEFT)
        return;
    node->finished = true;
    for (uint32_t i = 0; i < node->options.peers_max; i++)
        node->finished &= node->peers[i].state == PEER_FREE;
}
