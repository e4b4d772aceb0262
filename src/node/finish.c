#include "node/finish.h"

#include "node/broadcast/broadcast.h"
#include "node/broadcast/progress.h"
#include "node/leave.h"
#include "node/lifecycle/lifecycle.h"
#include "node/membership/membership.h"
#include "node/settle.h"

struct finish {
    /* Time since which all members have finished with this base; 0 = not all have. */
    uint64_t agreed_ns;
    uint64_t digest; /* digest of this node's base at the last call of finish_consider */
};

size_t finish_arena_bytes(void)
{
    return sizeof(struct finish) + 64;
}

struct finish *finish_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct finish));
}

bool node_finish(struct node *node, uint64_t now_ns)
{
    CHECK(now_ns >= node->now_ns);
    node->now_ns = now_ns;
    if (finishing_state(node) != FINISHING_NOT || leaving_stage(node) != STAGE_RUNNING)
        return true;
    if (!base_is_whole(node))
        return false;
    finishing_move(node, FINISHING_WAITS);
    (void)notes_add(&node->notes, now_ns, NOTE_FINISHED, LEVEL_INFO,
                    "finishing: training ends, and this node publishes its last progress");
    leave_end_training(node);
    return true;
}

static uint64_t base_digest(const struct node *node)
{
    return broadcast_versions(node)->digest;
}

static enum finish_wait wait_of(const struct node *node, const struct member *member)
{
    if (!member_is_live(membership_members(node), member, node->now_ns))
        return FINISH_HAS;
    switch (member->record.stage) {
    case STAGE_RUNNING:
        if (member->record.trains)
            return FINISH_TRAINS;
        /* The record of a relay states the swarm's samples; that of a joining member states 0. */
        return member->record.swarm_samples == 0 && progress_samples(node) > 0 ? FINISH_JOINS
                                                                               : FINISH_HAS;
    case STAGE_LEAVING:
        return FINISH_PUBLISHES;
    default:
        return member->record.digest == base_digest(node) ? FINISH_HAS : FINISH_DIFFERS;
    }
}

enum finish_wait node_finish_wait(const struct node *node, uint32_t i)
{
    CHECK(i < membership_members(node)->count);
    return i > 0 ? wait_of(node, membership_at(node, i)) : FINISH_HAS;
}

static bool all_have_finished(const struct node *node)
{
    bool all = leaving_stage(node) == STAGE_SETTLED && base_is_whole(node) &&
               broadcast_is_all_applied(node);
    for (uint32_t i = 1; all && i < membership_members(node)->count; i++)
        all = wait_of(node, membership_at(node, i)) == FINISH_HAS;
    return all;
}

/* Returns a member that has trained and finished with another base; NULL if there is none. It has
 * left or died before this node's last progress reached it. */
static const struct member *finished_apart(const struct node *node)
{
    CHECK(finishing_state(node) == FINISHING_DONE);
    for (uint32_t i = 1; i < membership_members(node)->count; i++) {
        const struct member *member = membership_at(node, i);
        const struct record *record = &member->record;
        const bool has_ended = record->stage == STAGE_SETTLED || record->stage == STAGE_LEFT;
        /* The last records of a member that leaves without node_finish say that it trains. */
        if (has_ended && !record->trains && record->samples > 0 &&
            record->digest != base_digest(node))
            return member;
    }
    return NULL;
}

static void note_done(struct node *node)
{
    const struct member *apart = finished_apart(node);
    if (!apart) {
        (void)notes_add(&node->notes, node->now_ns, NOTE_FINISHED, LEVEL_INFO,
                        "all members have finished with one model");
        return;
    }
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_FINISHED, LEVEL_WARNING,
                                  "finished, but this member had finished earlier with another "
                                  "model: use this node's model on both");
    identity_text(note->who, apart->record.id);
}

void finish_consider(struct node *node)
{
    struct finish *finish = node->finish;
    if (finishing_state(node) != FINISHING_WAITS)
        return;
    const bool agree = all_have_finished(node);
    if (!agree || finish->agreed_ns == 0 || finish->digest != base_digest(node))
        finish->agreed_ns = agree ? node->now_ns : 0;
    finish->digest = base_digest(node);
    if (!agree || node->now_ns - finish->agreed_ns < leave_linger_ns(node))
        return;
    finishing_move(node, FINISHING_DONE);
    note_done(node);
}

enum finish_state node_finish_state(const struct node *node)
{
    switch (finishing_state(node)) {
    case FINISHING_DONE:
        return FINISH_DONE;
    case FINISHING_WAITS:
        return leaving_stage(node) == STAGE_LEAVING ? FINISH_PUBLISHING : FINISH_WAITING;
    default:
        return FINISH_NOT_ASKED;
    }
}
