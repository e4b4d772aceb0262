#include "version.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "digest.h"
#include "rng.h"

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
    uint32_t slots = 16;
    while (slots < 2 * max)
        slots *= 2;
    *versions = (struct versions){
        .origins = arena_take(arena, max, sizeof *versions->origins),
        .max = max,
        .slots = arena_take(arena, slots, sizeof *versions->slots),
        .slots_mask = slots - 1,
        .digest = digest,
    };
}

/* The slot that holds the tag, or the free one where it would go. */
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
    return slot ? &versions->origins[slot - 1] : NULL;
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
    *origin = (struct origin){.tag = tag, .incarnation = incarnation};
    memcpy(origin->id, id, ID_BYTES);
    *slot = versions->count;
    return origin;
}

static uint64_t hash_of(const struct origin *origin, uint32_t seq)
{
    return rng_mix(origin->tag ^ rng_mix(seq));
}

void versions_advance(struct versions *versions, struct origin *origin, uint64_t digest)
{
    versions->telling += origin->next == 0;
    versions->hash += hash_of(origin, origin->next);
    versions->digest = digest_add(versions->digest, digest);
    versions->rumors++;
    origin->next++;
}

void versions_set(struct versions *versions, struct origin *origin, uint32_t next, uint64_t samples)
{
    versions->telling +=
        (origin->next == 0 && next > 0) - (uint32_t)(origin->next > 0 && next == 0);
    for (uint32_t seq = next; seq < origin->next; seq++)
        versions->hash -= hash_of(origin, seq);
    for (uint32_t seq = origin->next; seq < next; seq++)
        versions->hash += hash_of(origin, seq);
    versions->rumors += (uint64_t)next - origin->next;
    origin->next = origin->handed = next;
    origin->samples = origin->handed_samples = samples;
}

void version_entry_put(uint8_t *out, uint64_t tag, uint32_t next)
{
    bytes_put(out, tag, 8);
    bytes_put(out + 8, next, 4);
}

void learned_put(uint8_t *out, const struct learned *learned)
{
    bytes_put(out, learned->samples, 8);
    bytes_put_float(out + 8, learned->rate);
}

static void put_entry(const struct origin *origin, size_t i, uint8_t *out, uint8_t *learned)
{
    version_entry_put(out + i * VERSION_ENTRY_BYTES, origin->tag, origin->next);
    if (learned)
        learned_put(learned + i * LEARNED_BYTES,
                    &(struct learned){.samples = origin->samples, .rate = origin->rate});
}

size_t versions_slice(struct versions *versions, const struct origin *first, uint32_t most,
                      uint8_t *out, uint8_t *learned)
{
    size_t entries = 0;
    if (first && first->next > 0)
        put_entry(first, entries++, out, learned);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < versions->count && taken < most; i++) {
        const struct origin *origin = &versions->origins[versions->cursor];
        versions->cursor = (versions->cursor + 1) % versions->count;
        if (origin->next == 0)
            continue;
        taken++;
        if (origin != first)
            put_entry(origin, entries++, out, learned);
    }
    return entries;
}

struct version_entry version_entry_at(const uint8_t *vector, size_t i)
{
    const uint8_t *at = vector + i * VERSION_ENTRY_BYTES;
    return (struct version_entry){.tag = bytes_get(at, 8), .next = (uint32_t)bytes_get(at + 8, 4)};
}

struct learned learned_at(const uint8_t *vector, size_t i)
{
    const uint8_t *at = vector + i * LEARNED_BYTES;
    return (struct learned){.samples = bytes_get(at, 8), .rate = bytes_get_float(at + 8)};
}

void history_entry_put(uint8_t *out, const struct history_entry *entry)
{
    memcpy(out, entry->id, ID_BYTES);
    bytes_put(out + 32, entry->incarnation, 8);
    bytes_put(out + 40, entry->next, 4);
    bytes_put(out + 44, entry->samples, 8);
}

struct history_entry history_entry_at(const uint8_t *at)
{
    struct history_entry entry = {.incarnation = bytes_get(at + 32, 8),
                                  .next = (uint32_t)bytes_get(at + 40, 4),
                                  .samples = bytes_get(at + 44, 8)};
    memcpy(entry.id, at, ID_BYTES);
    return entry;
}

void history_text(const uint8_t *history, size_t history_bytes, char *out, size_t room)
{
    size_t used = 0;
    CHECK(room > 0);
    out[0] = '\0';
    for (size_t at = 0; at + HISTORY_ENTRY_BYTES <= history_bytes; at += HISTORY_ENTRY_BYTES) {
        const struct history_entry told = history_entry_at(history + at);
        char id[ID_TEXT_BYTES];
        identity_text(id, told.id);
        const int wrote = snprintf(out + used, room - used, "%s%s/%" PRIu64 ":%" PRIu32,
                                   used > 0 ? " " : "", id, told.incarnation, told.next);
        if (wrote < 0 || (size_t)wrote >= room - used) {
            out[used] = '\0';
            return;
        }
        used += (size_t)wrote;
    }
}
