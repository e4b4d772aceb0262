#include "node/membership/members.h"

#include <string.h>

#include "base/error.h"
#include "base/min_max.h"
#include "base/rng.h"
#include "base/time_units.h"
#include "frame/bytes.h"

/* Renewal periods without a sign of life after which a member is dead. */
#define PROMISES_KEPT 4
/* A member's renewal period is believed up to this time plus RENEW_PER_MEMBER_NS per member. */
#define RENEW_LEAST_NS      15000000000ull
#define RENEW_PER_MEMBER_NS 1000000000ull

void members_init(struct members *members, struct arena *arena, uint32_t max, uint64_t silence_ns)
{
    CHECK(max > 0 && silence_ns > 0);
    uint32_t slots = 16;
    while (slots < 2 * max)
        slots *= 2;
    *members = (struct members){
        .members = arena_alloc(arena, max, sizeof *members->members),
        .max = max,
        .slots = arena_alloc(arena, slots, sizeof *members->slots),
        .slots_mask = slots - 1,
        .silence_ns = silence_ns,
        .scratch = arena_alloc(arena, max, sizeof *members->scratch),
    };
}

/* Returns the hash slot of this member, or the free slot for it. */
static uint32_t *slot_of(const struct members *members, const uint8_t id[static ID_BYTES])
{
    uint32_t at = (uint32_t)rng_mix(bytes_get(id, 8)) & members->slots_mask;
    while (members->slots[at] &&
           memcmp(members->members[members->slots[at] - 1].record.id, id, ID_BYTES) != 0)
        at = (at + 1) & members->slots_mask;
    return &members->slots[at];
}

struct member *members_find(const struct members *members, const uint8_t id[static ID_BYTES])
{
    const uint32_t slot = *slot_of(members, id);
    CHECK(slot <= members->count);
    return slot ? &members->members[slot - 1] : NULL;
}

/* Returns the dead member with the longest silence, if that is more than twice the permitted one;
 * otherwise NULL. */
static struct member *longest_gone(const struct members *members, uint64_t now_ns)
{
    struct member *longest = NULL;
    for (uint32_t i = 1; i < members->count; i++) {
        struct member *member = &members->members[i];
        const uint64_t least_ns = 2 * member_silence_ns(members, member);
        if (!member->known_live && now_ns - member->advanced_ns > least_ns &&
            (!longest || member->advanced_ns < longest->advanced_ns))
            longest = member;
    }
    return longest;
}

/* Open addressing cannot remove a single member, so this function fills the table again. */
static void fill_slots(struct members *members)
{
    CHECK(members->count <= members->max && members->count <= members->slots_mask);
    memset(members->slots, 0, (members->slots_mask + (size_t)1) * sizeof *members->slots);
    for (uint32_t i = 0; i < members->count; i++)
        *slot_of(members, members->members[i].record.id) = i + 1;
}

/* Returns an entry for a new member: a free one, or that of longest_gone; NULL = no entry. */
static struct member *make_room(struct members *members, uint64_t now_ns)
{
    struct member *member = members->count < members->max ? &members->members[members->count]
                                                          : longest_gone(members, now_ns);
    if (!member)
        return NULL;
    CHECK(member != members->members && !member->known_live);
    members->count += members->count < members->max;
    *member = (struct member){.origin_index = ORIGIN_NONE, .met_ns = now_ns};
    return member;
}

void members_forget(struct members *members)
{
    CHECK(members->count > 0);
    memset(members->members + 1, 0, (members->count - 1) * sizeof *members->members);
    members->count = 1;
    fill_slots(members);
}

bool member_learns(const struct member *member)
{
    return member->record.trains && member->record.stage == STAGE_RUNNING;
}

static bool is_newer(const struct record *record, const struct record *than)
{
    return record->incarnation != than->incarnation ? record->incarnation > than->incarnation
                                                    : record->stamp > than->stamp;
}

enum error members_learn(struct members *members, const uint8_t bytes[static RECORD_BYTES],
                         const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns,
                         struct member **changed)
{
    struct record record;
    enum error error = record_parse(bytes, &record);
    if (error != OK)
        return error;
    struct member *member = members_find(members, record.id);
    if (member == members->members || (member && !is_newer(&record, &member->record)))
        return MISSING;
    error = record_verify(bytes, context);
    if (error != OK)
        return error;
    const bool is_new = !member;
    if (is_new && !(member = make_room(members, now_ns)))
        return TOO_BIG;
    if (record.incarnation != member->record.incarnation)
        /* the member has restarted, so this node did not give it up too early */
        member->given_up_ns = 0;
    if (record.trains && member->since_ns == 0)
        member->since_ns = now_ns;
    const bool has_learned = member_learns(member);
    member->record = record;
    if (has_learned && !member_learns(member))
        member->ended_ns = now_ns;
    if (is_new)
        fill_slots(members);
    memcpy(member->bytes, bytes, RECORD_BYTES);
    member->advanced_ns = now_ns;
    CHECK(members_find(members, record.id) == member);
    *changed = member;
    return OK;
}

void members_update_own(struct members *members, const struct record *record,
                        const struct identity *identity,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns)
{
    struct member *own = members->members;
    const bool is_first = members->count == 0;
    CHECK(is_first || memcmp(own->record.id, record->id, ID_BYTES) == 0);
    CHECK(is_first || !is_newer(&own->record, record));
    own->record = *record;
    if (is_first) {
        own->met_ns = now_ns;
        own->origin_index = ORIGIN_NONE;
        members->count = 1;
        fill_slots(members);
    }
    own->advanced_ns = now_ns;
    own->known_live = true;
    record_create(record, identity, context, own->bytes);
}

void members_on_rumor(struct members *members, const uint8_t id[static ID_BYTES],
                      uint64_t incarnation, uint64_t now_ns)
{
    struct member *member = members_find(members, id);
    if (member && member->known_live && member->record.incarnation == incarnation)
        member->advanced_ns = now_ns;
}

uint64_t member_silence_ns(const struct members *members, const struct member *member)
{
    const uint64_t most_ns = RENEW_LEAST_NS + members->count * RENEW_PER_MEMBER_NS;
    const uint64_t renew_ns = MS_NS * member->record.renew_ms;
    const uint64_t promised_ns = PROMISES_KEPT * u64_min(renew_ns, most_ns);
    return u64_max(promised_ns, members->silence_ns);
}

bool member_is_live(const struct members *members, const struct member *member, uint64_t now_ns)
{
    return member->record.stage != STAGE_LEFT && !member->is_expelled && !member->is_barred &&
           (member == members->members ||
            now_ns - member->advanced_ns < member_silence_ns(members, member));
}

uint32_t members_live(const struct members *members, uint64_t now_ns)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < members->count; i++)
        live += member_is_live(members, &members->members[i], now_ns);
    return live;
}

/* Returns true if the member's record is too old to be passed on. A node that receives a record
 * counts the member as live for its whole permitted silence. If nodes passed on old records, a dead
 * member would never be dead everywhere. */
static bool is_stale(const struct members *members, const struct member *member, uint64_t now_ns)
{
    return member != members->members &&
           now_ns - member->advanced_ns > member_silence_ns(members, member) / 2;
}

size_t members_encode(const struct members *members, uint64_t now_ns, uint32_t *from,
                      uint32_t limit, uint8_t *out)
{
    size_t bytes = 0;
    CHECK(limit > 0);
    for (; *from < members->count && bytes < limit * (size_t)RECORD_BYTES; ++*from) {
        const struct member *member = &members->members[*from];
        if (!member_is_live(members, member, now_ns) || is_stale(members, member, now_ns))
            continue;
        memcpy(out + bytes, member->bytes, RECORD_BYTES);
        bytes += RECORD_BYTES;
    }
    return bytes;
}
