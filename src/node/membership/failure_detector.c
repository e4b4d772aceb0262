#include "node/membership/failure_detector.h"

#include "node/membership/membership_private.h"

static void note_death(struct node *node, struct member *member)
{
    CHECK(member->known_live && node->membership->live > 1);
    member->known_live = false;
    node->membership->live--;
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_MEMBER_DEAD, LEVEL_WARNING,
                                  "has been silent for too long and counts as dead");
    identity_text(note->who, member->record.id);
    if (member->record.address.host[0])
        (void)address_text(&member->record.address, note->where);
}

void failure_detector_begin(struct node *node)
{
    node->membership->reachable = membership_at(node, 0)->record.address.port != 0;
}

bool failure_detector_review(struct node *node, uint32_t number)
{
    CHECK(number > 0); /* member 0 is this node, which never suspects itself */
    struct member *member = membership_own(node, membership_at(node, number));
    if (!member->known_live)
        return false;
    if (!member_is_live(&node->membership->members, member, node->now_ns))
        note_death(node, member);
    node->membership->reachable += member->known_live && member->record.address.port;
    return member->known_live;
}

bool failure_detector_is_sign_due(const struct node *node, const struct member *member)
{
    const uint64_t silence_ns = member_silence_ns(&node->membership->members, member);
    CHECK(member->advanced_ns <= node->now_ns && member->asked_ns <= node->now_ns);
    return member->origin_index != ORIGIN_NONE &&
           node->now_ns - member->advanced_ns >= silence_ns / 2 &&
           node->now_ns - member->asked_ns >= silence_ns / 8;
}

void failure_detector_on_sign_asked(struct node *node, const struct member *member)
{
    membership_own(node, member)->asked_ns = node->now_ns;
}

uint64_t failure_detector_patience_ns(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct member *member = membership_find(node, id);
    const uint64_t least_ns = node->options.limits.silence_ns;
    return member && member->patience_ns > least_ns ? member->patience_ns : least_ns;
}

void failure_detector_on_given_up(struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct member *member = membership_find(node, id);
    if (member)
        membership_own(node, member)->given_up_ns = node->now_ns;
}

void failure_detector_on_return(struct node *node, const uint8_t id[static ID_BYTES],
                                uint64_t incarnation)
{
    const struct member *found = membership_find(node, id);
    if (!found || !found->given_up_ns || found->record.incarnation != incarnation)
        return;
    struct member *member = membership_own(node, found);
    const uint64_t before_ns =
        member->patience_ns ? member->patience_ns : node->options.limits.silence_ns;
    member->patience_ns = u64_min(2 * before_ns, NODE_PATIENCE_MAX_NS);
    member->given_up_ns = 0;
}

void failure_detector_forgive(struct node *node, uint64_t late_ns)
{
    struct members *members = &node->membership->members;
    for (uint32_t i = 0; i < members->count; i++) {
        uint64_t *advanced_ns = &members->members[i].advanced_ns;
        *advanced_ns = u64_min(*advanced_ns + late_ns, node->now_ns);
    }
}

void failure_detector_on_lost(struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct member *member = membership_find(node, id);
    CHECK(node->now_ns > 0);
    if (member)
        membership_own(node, member)->lost_ns = node->now_ns;
}
