#include "node/broadcast/version.h"

#include <string.h>

#include "base/bits.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/rng.h"
#include "crypto/secret.h"
#include "frame/bytes.h"

uint64_t origin_tag(const uint8_t id[static ID_BYTES], uint64_t incarnation)
{
    uint8_t in[ID_BYTES + 8];
    uint8_t out[8];
    memcpy(in, id, ID_BYTES);
    bytes_put(in + ID_BYTES, incarnation, 8);
    secret_blake2b(out, sizeof out, in, sizeof in, NULL, 0);
    return bytes_get(out, 8);
}

void versions_init(struct versions *versions, struct arena *arena, uint32_t max, uint64_t digest)
{
    CHECK(max > 0);
    uint32_t slots = 16;
    while (slots < 2 * max)
        slots *= 2;
    *versions = (struct versions){
        .origins = arena_alloc(arena, max, sizeof *versions->origins),
        .max = max,
        .slots = arena_alloc(arena, slots, sizeof *versions->slots),
        .slots_mask = slots - 1,
        .digest = digest,
    };
}

/* Returns the hash slot of this tag, or the free slot for it. */
static uint32_t *slot_of(const struct versions *versions, uint64_t tag)
{
    uint32_t at = (uint32_t)rng_mix(tag) & versions->slots_mask;
    while (versions->slots[at] && versions->origins[versions->slots[at] - 1].tag != tag)
        at = (at + 1) & versions->slots_mask;
    return &versions->slots[at];
}

struct origin *versions_find(const struct versions *versions, uint64_t tag)
{
    uint32_t slot = *slot_of(versions, tag);
    CHECK(slot <= versions->count);
    return slot ? &versions->origins[slot - 1] : NULL;
}

struct origin *versions_older(const struct versions *versions, const struct origin *after)
{
    const uint32_t at = after ? after->older : versions->newest;
    CHECK(at <= versions->count);
    return at > 0 ? &versions->origins[at - 1] : NULL;
}

struct origin *versions_newer(const struct versions *versions, const struct origin *before)
{
    const uint32_t at = before ? before->newer : versions->oldest;
    CHECK(at <= versions->count);
    return at > 0 ? &versions->origins[at - 1] : NULL;
}

static void put_latest(struct versions *versions, struct origin *origin)
{
    const uint32_t at = versions_index(versions, origin) + 1;
    origin->newer = 0;
    origin->older = versions->newest;
    *(versions->newest ? &versions->origins[versions->newest - 1].newer : &versions->oldest) = at;
    versions->newest = at;
}

void versions_touch(struct versions *versions, struct origin *origin)
{
    if (origin->newer == 0)
        return;
    CHECK(versions->newest != versions_index(versions, origin) + 1);
    versions->origins[origin->newer - 1].older = origin->older;
    *(origin->older ? &versions->origins[origin->older - 1].newer : &versions->oldest) =
        origin->newer;
    put_latest(versions, origin);
}

struct origin *versions_add(struct versions *versions, const uint8_t id[static ID_BYTES],
                            uint64_t incarnation)
{
    if (versions->count == versions->max)
        return NULL;
    uint64_t tag = origin_tag(id, incarnation);
    uint32_t *slot = slot_of(versions, tag);
    CHECK(*slot == 0);
    struct origin *origin = &versions->origins[versions->count++];
    *origin = (struct origin){.tag = tag,
                              .tag_after = origin_tag(id, incarnation + 1),
                              .incarnation = incarnation,
                              .keep = KEEP_ALL};
    memcpy(origin->id, id, ID_BYTES);
    *slot = versions->count;
    put_latest(versions, origin);
    return origin;
}

/* The last origin was added last, so no other origin was placed beyond its hash slot, and all are
 * still found. */
static void forget_last(struct versions *versions)
{
    struct origin *origin = &versions->origins[versions->count - 1];
    CHECK(origin->next == 0 && origin->applied == 0);
    versions_touch(versions, origin);
    versions->newest = origin->older;
    *(origin->older ? &versions->origins[origin->older - 1].newer : &versions->oldest) = 0;
    *slot_of(versions, origin->tag) = 0;
    *origin = (struct origin){0};
    versions->count--;
}

void versions_forget_beyond(struct versions *versions, uint32_t count)
{
    CHECK(count <= versions->count);
    while (versions->count > count)
        forget_last(versions);
}

static uint64_t hash_of(const struct origin *origin)
{
    return version_entry_hash(origin->tag, origin->next, origin->last.hash);
}

static uint32_t next_after(const struct signed_head *head)
{
    return head ? signed_head_seq(head) + 1 : 0;
}

static void set_last(struct versions *versions, struct origin *origin,
                     const struct signed_head *head)
{
    const uint32_t next = next_after(head);
    CHECK(versions->rumors >= origin->next);
    versions->publishers +=
        (origin->next == 0 && next > 0) - (uint32_t)(origin->next > 0 && next == 0);
    versions->rumors += (uint64_t)next - origin->next;
    versions->hash -= hash_of(origin);
    origin->next = next;
    origin->last = head ? *head : (struct signed_head){0};
    versions->hash += hash_of(origin);
    CHECK(versions->publishers <= versions->count && versions->rumors >= versions->publishers);
}

void versions_advance(struct versions *versions, struct origin *origin,
                      const struct signed_head *head, uint64_t digest)
{
    CHECK(next_after(head) == origin->next + 1);
    set_last(versions, origin, head);
    versions->digest = digest_add(versions->digest, digest);
    versions_touch(versions, origin);
}

void versions_cut(struct versions *versions, struct origin *origin, const struct signed_head *head,
                  uint64_t digest)
{
    CHECK(next_after(head) < origin->next);
    set_last(versions, origin, head);
    versions->digest = digest_add(versions->digest, digest);
}

void versions_set(struct versions *versions, struct origin *origin, const struct signed_head *head)
{
    set_last(versions, origin, head);
    origin->applied = origin->next;
    origin->applied_last = origin->last;
}

size_t versions_slice(struct versions *versions, const struct origin *first, uint32_t most,
                      uint8_t *out)
{
    CHECK(versions->cursor < versions->count || versions->count == 0);
    size_t entries = 0;
    if (first && first->next > 0)
        version_entry_put(out + VERSION_ENTRY_BYTES * entries++, first->tag, first->next,
                          first->last.hash);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < versions->count && taken < most; i++) {
        const struct origin *origin = &versions->origins[versions->cursor];
        versions->cursor = (versions->cursor + 1) % versions->count;
        if (origin->next == 0)
            continue;
        taken++;
        if (origin != first)
            version_entry_put(out + VERSION_ENTRY_BYTES * entries++, origin->tag, origin->next,
                              origin->last.hash);
    }
    return entries;
}

static const struct signed_head *last_of(const struct versions *versions,
                                         const struct signed_head *const *heads,
                                         const struct origin *origin)
{
    if (heads)
        return heads[versions_index(versions, origin)];
    return origin->next > 0 ? &origin->last : NULL;
}

size_t versions_latest(const struct versions *versions, const struct signed_head *const *heads,
                       uint32_t skip, uint32_t most, uint8_t *out, uint8_t *learned)
{
    size_t entries = 0;
    for (const struct origin *origin = versions_older(versions, NULL); origin && entries < most;
         origin = versions_older(versions, origin)) {
        const struct signed_head *last = last_of(versions, heads, origin);
        if (!last)
            continue;
        if (skip > 0) {
            skip--;
            continue;
        }
        if (learned)
            learned_put(learned + entries * LEARNED_BYTES,
                        &(struct learned){.samples = origin->samples, .rate = origin->rate});
        version_entry_put(out + VERSION_ENTRY_BYTES * entries++, origin->tag, next_after(last),
                          last->hash);
    }
    return entries;
}

uint64_t versions_hash(const struct versions *versions, const struct signed_head *const *heads)
{
    uint64_t hash = 0;
    for (uint32_t origin_index = 0; origin_index < versions->count; origin_index++)
        if (heads[origin_index])
            hash += version_entry_hash(versions->origins[origin_index].tag,
                                       next_after(heads[origin_index]), heads[origin_index]->hash);
    return hash;
}

uint64_t entries_hash(const uint8_t *entries, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++) {
        const struct version_entry entry = version_entry_at(entries, i);
        hash += version_entry_hash(entry.tag, entry.next, entry.hash);
    }
    return hash;
}

/* Sums of version_entry_hash over the entries that a VERSION does not list: in the other node's
 * version, and in ours. */
struct rest {
    uint64_t theirs, ours;
};

static struct rest rest_of(const struct versions *versions, const uint8_t *entries, size_t count,
                           uint64_t hash, uint64_t *known)
{
    struct rest rest = {.theirs = hash - entries_hash(entries, count), .ours = versions->hash};
    for (size_t i = 0; i < count; i++) {
        const struct origin *origin = versions_find(versions, version_entry_at(entries, i).tag);
        if (!origin)
            continue;
        rest.ours -= hash_of(origin);
        bit_set(known, versions_index(versions, origin), true);
    }
    return rest;
}

bool versions_known(const struct versions *versions, const uint8_t *entries, size_t count,
                    uint64_t hash, uint64_t *known)
{
    memset(known, 0, bit_words(versions->count) * sizeof *known);
    const struct rest rest = rest_of(versions, entries, count, hash, known);
    const struct origin *from = versions_older(versions, NULL);
    uint64_t ours = rest.ours;
    for (; from && ours != rest.theirs; from = versions_older(versions, from))
        if (!bit_get(known, versions_index(versions, from)))
            ours -= hash_of(from);
    const bool is_sure = ours == rest.theirs;
    if (!is_sure)
        from = versions_older(versions, NULL);
    for (; from; from = versions_older(versions, from))
        bit_set(known, versions_index(versions, from), true);
    return is_sure;
}

uint64_t versions_samples(const struct versions *versions, const struct origin *origin)
{
    const struct origin *next = versions_find(versions, origin->tag_after);
    return next && next->samples >= origin->samples ? 0 : origin->samples;
}
