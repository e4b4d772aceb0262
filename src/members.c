#include "members.h"

#include <string.h>

void members_init(struct members *members, struct arena *arena, uint32_t max, uint64_t silence_ns)
{
    *members = (struct members){
        .members = arena_take(arena, max, sizeof *members->members),
        .max = max,
        .silence_ns = silence_ns,
    };
}

struct member *members_find(const struct members *members, const uint8_t id[static ID_BYTES])
{
    for (uint32_t i = 0; i < members->count; i++)
        if (memcmp(members->members[i].record.id, id, ID_BYTES) == 0)
            return &members->members[i];
    return NULL;
}

static bool is_newer(const struct record *record, const struct record *than)
{
    return record->incarnation != than->incarnation ? record->incarnation > than->incarnation
                                                    : record->stamp > than->stamp;
}

enum status members_learn(struct members *members, const uint8_t bytes[static RECORD_BYTES],
                          const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns,
                          struct member **changed)
{
    struct record record;
    enum status status = record_parse(bytes, &record);
    if (status != OK)
        return status;
    struct member *member = members_find(members, record.id);
    if (member == members->members || (member && !is_newer(&record, &member->record)))
        return MISSING;
    if (!member && members->count == members->max)
        return TOO_BIG;
    status = record_verify(bytes, context);
    if (status != OK)
        return status;
    if (!member) {
        member = &members->members[members->count++];
        *member = (struct member){0};
    }
    member->record = record;
    memcpy(member->bytes, bytes, RECORD_BYTES);
    member->advanced_ns = now_ns;
    *changed = member;
    return OK;
}

void members_update_own(struct members *members, const struct record *record,
                        const struct identity *identity,
                        const uint8_t context[static CONTEXT_BYTES], uint64_t now_ns)
{
    if (members->count == 0)
        members->count = 1;
    struct member *own = &members->members[0];
    own->record = *record;
    own->advanced_ns = now_ns;
    own->known_live = true;
    record_create(record, identity, context, own->bytes);
}

bool member_is_live(const struct members *members, const struct member *member, uint64_t now_ns)
{
    return member->record.stage != STAGE_LEFT &&
           (member == members->members || now_ns - member->advanced_ns < members->silence_ns);
}

uint32_t members_live(const struct members *members, uint64_t now_ns)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < members->count; i++)
        live += member_is_live(members, &members->members[i], now_ns);
    return live;
}

static double weight_of(const struct record *record)
{
    return (double)record->samples_per_second * (double)record->delivered;
}

double members_own_share(const struct members *members, bool by_throughput, uint64_t now_ns)
{
    const double own = weight_of(&members->members[0].record);
    double sum = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        const struct member *member = &members->members[i];
        if (i > 0 && (!member->record.trains || !member_is_live(members, member, now_ns)))
            continue;
        const double weight = weight_of(&member->record);
        sum += !by_throughput || own <= 0 ? 1 : weight > 0 ? weight / own : 1;
    }
    return 1 / sum;
}

size_t members_encode(const struct members *members, struct rng *rng, uint32_t limit, uint8_t *out)
{
    memcpy(out, members->members[0].bytes, RECORD_BYTES);
    size_t bytes = RECORD_BYTES;
    const uint32_t others = members->count - 1;
    const uint32_t some = others < limit - 1 ? others : limit - 1;
    const uint32_t start = others ? rng_below(rng, others) : 0;
    for (uint32_t i = 0; i < some; i++) {
        const struct member *member = &members->members[1 + (start + i) % others];
        memcpy(out + bytes, member->bytes, RECORD_BYTES);
        bytes += RECORD_BYTES;
    }
    return bytes;
}
