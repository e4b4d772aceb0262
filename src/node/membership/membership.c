#include "node/membership/membership.h"

#include "node/membership/membership_private.h"
#include "node/membership/shares.h"

/* Least silence of a dead member, in multiples of limits.silence_ns. */
#define DEAD_AFTER 5
/* A note names a member whose claim was doubtful for this time without a pause. The rate in the
 * record of a member that learns in bursts, or has just begun, may exceed its movement for a
 * shorter time. */
#define DOUBTED_AFTER_NS (60 * SECOND_NS)

size_t membership_arena_bytes(const struct node_options *options)
{
    /* Maximum bytes of hash slots per member; with fewer than 4 members, + 320 covers the rest. */
    const size_t slots = 4 * sizeof(uint32_t);
    return sizeof(struct membership) +
           options->limits.members_max * (sizeof(struct member) + sizeof(double) + slots) + 320;
}

struct membership *membership_new(struct arena *arena, const struct node *node)
{
    CHECK(node->options.limits.members_max > 1);
    struct membership *membership = arena_alloc(arena, 1, sizeof *membership);
    members_init(&membership->members, arena, node->options.limits.members_max,
                 DEAD_AFTER * node->options.limits.silence_ns);
    membership->members.weight_max = node->options.limits.weight_max;
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

uint32_t membership_live(const struct node *node)
{
    return node->membership->live;
}

uint32_t membership_reachable(const struct node *node)
{
    return node->membership->reachable;
}

bool membership_may_return(const struct node *node)
{
    const struct members *members = membership_members(node);
    for (uint32_t i = 1; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (member->record.stage != STAGE_LEFT && !member->is_expelled && !member->is_barred)
            return true;
    }
    return false;
}

bool membership_has_joined(const struct node *node, const uint8_t id[static ID_BYTES])
{
    const struct member *member = membership_find(node, id);
    return member && member->record.trains;
}

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
    membership_own(node, member)->known_live = live;
    membership->live += live ? 1 : -1u;
    CHECK(membership->live >= 1 && membership->live <= membership->members.count);
    membership->reachable += live && record->address.port;
    if (!live && record->stage != STAGE_LEFT)
        return; /* the failure detector has its own note on a death */
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

static void let_die(struct node *node, const struct member *member)
{
    CHECK(membership_number(node, member) > 0);
    node->membership->live -= member->known_live;
    membership_own(node, member)->known_live = false;
    CHECK(node->membership->live >= 1);
}

void membership_set_expelled(struct node *node, const uint8_t id[static ID_BYTES], bool is_expelled)
{
    const struct member *found = membership_find(node, id);
    if (!found)
        return;
    /* A node never marks itself as expelled: it leaves when it is expelled. */
    CHECK(membership_number(node, found) > 0 || !is_expelled);
    membership_own(node, found)->is_expelled = is_expelled;
    if (is_expelled)
        let_die(node, found);
}

void membership_bar(struct node *node, const struct member *member, bool is_barred)
{
    membership_own(node, member)->is_barred = is_barred;
    if (is_barred)
        let_die(node, member);
}

void membership_forget(struct node *node)
{
    members_forget(&node->membership->members);
    node->membership->live = 1;
    node->membership->reachable = 0;
}

static double units_of(const struct update *update)
{
    int64_t levels = 0;
    for (uint32_t i = 0; i < update->count; i++)
        levels += update->level[i] < 0 ? -update->level[i] : update->level[i];
    return (double)levels * (double)update->amount;
}

void membership_on_rumor(struct node *node, const uint8_t id[static ID_BYTES], uint64_t incarnation,
                         const struct update *update, uint64_t samples)
{
    struct members *members = &node->membership->members;
    members_on_rumor(members, id, incarnation, node->now_ns);
    const struct rumor_facts facts = {.moved = units_of(update),
                                      .samples = samples,
                                      .by_throughput = node->options.weigh_throughput,
                                      .now_ns = node->now_ns};
    shares_on_rumor(members, id, incarnation, &facts);
}

/* Returns true if the member's claim has been doubtful for DOUBTED_AFTER_NS. */
static bool is_doubtful_for_long(struct node *node, const struct member *doubtful)
{
    const struct members *members = &node->membership->members;
    for (uint32_t i = 0; i < members->count; i++) {
        struct member *member = &members->members[i];
        if (member != doubtful)
            member->doubtful_ns = 0;
        else if (member->doubtful_ns == 0)
            member->doubtful_ns = node->now_ns;
    }
    return doubtful && node->now_ns - doubtful->doubtful_ns >= DOUBTED_AFTER_NS;
}

static void doubt(struct node *node)
{
    const struct member *doubtful =
        shares_doubtful(&node->membership->members, node->options.weigh_throughput, node->now_ns);
    if (!is_doubtful_for_long(node, doubtful) || doubtful->is_doubted)
        return;
    membership_own(node, doubtful)->is_doubted = true;
    struct note *note = notes_add(
        &node->notes, node->now_ns, NOTE_DOUBT, LEVEL_WARNING,
        "reports %.4g samples a second, more than its rumors support; it counts by its rumors",
        (double)doubtful->record.samples_per_second);
    identity_text(note->who, doubtful->record.id);
    if (doubtful->record.address.host[0])
        (void)address_text(&doubtful->record.address, note->where);
}

void membership_review(struct node *node)
{
    shares_review(&node->membership->members, node->options.weigh_throughput, node->now_ns);
    doubt(node);
}

void membership_recount(struct node *node)
{
    struct members *members = &node->membership->members;
    CHECK(members->count <= members->max);
    for (uint32_t i = 0; i < members->count; i++)
        members->members[i].borne_out = 0;
}

void membership_update_own(struct node *node, const struct record *record)
{
    members_update_own(&node->membership->members, record, node->options.identity, node->context,
                       node->now_ns);
}

void membership_set_origin(struct node *node, const struct member *member, uint32_t origin_index)
{
    CHECK(origin_index == ORIGIN_NONE || origin_index < node->options.limits.incarnations_max);
    membership_own(node, member)->origin_index = origin_index;
}
