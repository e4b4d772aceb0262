#include "node/membership/membership.h"

#define DEAD_AFTER 5 /* times a neighbour's silence: the least after which a member is dead */

struct membership {
    struct members members; /* the newest record of each */
    uint32_t live;          /* members that live, as last noticed, this node included */
    uint32_t reachable;     /* those of them that listen */
};

size_t membership_arena_bytes(const struct node_options *options)
{
    const size_t slots = 4 * sizeof(uint32_t); /* open addressing: at most so many for one */
    return sizeof(struct membership) +
           options->limits.members_max * (sizeof(struct member) + slots) + 256;
}

struct membership *membership_new(struct arena *arena, const struct node *node)
{
    CHECK(node->options.limits.members_max > 1);
    struct membership *membership = arena_take(arena, 1, sizeof *membership);
    members_init(&membership->members, arena, node->options.limits.members_max,
                 DEAD_AFTER * node->options.limits.silence_ns);
    membership->live = 1;
    return membership;
}

const struct members *membership_members(const struct node *node)
{
    return &node->membership->members;
}

const struct member *membership_at(const struct node *node, uint32_t number)
{
    CHECK(number < node->membership->members.count);
    return &node->membership->members.members[number];
}

uint32_t membership_number(const struct node *node, const struct member *member)
{
    const ptrdiff_t number = member - node->membership->members.members;
    CHECK(number >= 0 && number < node->membership->members.count);
    return (uint32_t)number;
}

const struct member *membership_find(const struct node *node, const uint8_t id[static ID_BYTES])
{
    return members_find(&node->membership->members, id);
}

/* This room may change what others only look at. */
static struct member *own(struct node *node, const struct member *member)
{
    return &node->membership->members.members[membership_number(node, member)];
}

uint32_t membership_live(const struct node *node)
{
    return node->membership->live;
}

uint32_t membership_reachable(const struct node *node)
{
    return node->membership->reachable;
}

bool membership_has_joined(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct member *member = membership_find(node, id);
    return member && member->record.trains;
}

/* Records. */

enum error membership_learn(struct node *node, const uint8_t *bytes, const struct member **member,
                            struct address *before)
{
    struct members *members = &node->membership->members;
    const struct member *known = members_find(members, bytes);
    *before = known ? known->record.address : (struct address){0};
    struct member *changed;
    const enum error error = members_learn(members, bytes, node->context, node->now_ns, &changed);
    if (error == OK)
        *member = changed;
    return error;
}

void membership_on_change(struct node *node, const struct member *member)
{
    struct membership *membership = node->membership;
    const struct record *record = &member->record;
    const bool live = member_is_live(&membership->members, member, node->now_ns);
    if (live == member->known_live)
        return;
    own(node, member)->known_live = live;
    membership->live += live ? 1 : -1u;
    CHECK(membership->live >= 1 && membership->live <= membership->members.count);
    membership->reachable += live && record->address.port;
    if (!live && record->stage != STAGE_LEFT)
        return; /* it died: noted where silence is noticed */
    if (!notes_allow(&node->notes, node->now_ns))
        return;
    struct note *note =
        live ? notes_add(&node->notes, node->now_ns, NOTE_MEMBER, LEVEL_INFO, "is in the swarm")
             : notes_add(&node->notes, node->now_ns, NOTE_MEMBER_LEFT, LEVEL_INFO,
                         "has left the swarm after %llu samples",
                         (unsigned long long)record->samples);
    identity_text(note->who, record->id);
    if (record->address.host[0])
        (void)address_text(&record->address, note->where);
}

void membership_on_rumor(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation)
{
    members_on_rumor(&node->membership->members, id, incarnation, node->now_ns);
}

void membership_update_own(struct node *node, const struct record *record)
{
    members_update_own(&node->membership->members, record, node->options.identity, node->context,
                       node->now_ns);
}

void membership_set_place(struct node *node, const struct member *member, uint32_t place)
{
    CHECK(place == PLACE_NONE || place < node->options.limits.incarnations_max);
    own(node, member)->place = place;
}

/* The failure detector. */

static void note_death(struct node *node, struct member *member)
{
    CHECK(member->known_live && node->membership->live > 1);
    member->known_live = false;
    node->membership->live--;
    struct note *note = notes_add(&node->notes, node->now_ns, NOTE_MEMBER_DEAD, LEVEL_WARNING,
                                  "has been silent for too long: taken for dead");
    identity_text(note->who, member->record.id);
    if (member->record.address.host[0])
        (void)address_text(&member->record.address, note->where);
}

void membership_begin_review(struct node *node)
{
    node->membership->reachable = membership_at(node, 0)->record.address.port != 0;
}

bool membership_review(struct node *node, uint32_t number)
{
    CHECK(number > 0); /* this node does not die to itself */
    struct member *member = own(node, membership_at(node, number));
    if (!member->known_live)
        return false;
    if (!member_is_live(&node->membership->members, member, node->now_ns))
        note_death(node, member);
    node->membership->reachable += member->known_live && member->record.address.port;
    return member->known_live;
}

bool membership_is_sign_due(const struct node *node, const struct member *member)
{
    const uint64_t silence_ns = member_silence_ns(&node->membership->members, member);
    CHECK(member->advanced_ns <= node->now_ns && member->asked_ns <= node->now_ns);
    return member->place != PLACE_NONE && node->now_ns - member->advanced_ns >= silence_ns / 2 &&
           node->now_ns - member->asked_ns >= silence_ns / 8;
}

void membership_on_sign_asked(struct node *node, const struct member *member)
{
    own(node, member)->asked_ns = node->now_ns;
}

uint64_t membership_patience_ns(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct member *member = membership_find(node, id);
    const uint64_t least_ns = node->options.limits.silence_ns;
    return member && member->patience_ns > least_ns ? member->patience_ns : least_ns;
}

void membership_on_given_up(struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct member *member = membership_find(node, id);
    if (member)
        own(node, member)->given_up_ns = node->now_ns;
}

void membership_on_return(struct node *node, const uint8_t id[static ID_BYTES],
                          uint64_t incarnation)
{
    const struct member *found = membership_find(node, id);
    if (!found || !found->given_up_ns || found->record.incarnation != incarnation)
        return;
    struct member *member = own(node, found);
    const uint64_t before_ns =
        member->patience_ns ? member->patience_ns : node->options.limits.silence_ns;
    member->patience_ns =
        2 * before_ns < NODE_PATIENCE_MAX_NS ? 2 * before_ns : NODE_PATIENCE_MAX_NS;
    member->given_up_ns = 0;
}

void membership_forgive(struct node *node, uint64_t late_ns)
{
    struct members *members = &node->membership->members;
    for (uint32_t i = 0; i < members->count; i++) {
        uint64_t *advanced_ns = &members->members[i].advanced_ns;
        *advanced_ns =
            *advanced_ns + late_ns < node->now_ns ? *advanced_ns + late_ns : node->now_ns;
    }
}
