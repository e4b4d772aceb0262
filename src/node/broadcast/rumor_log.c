#include "node/broadcast/rumor_log.h"

#include <string.h>

#include "base/rng.h"
#include "base/error.h"

#define TYPICAL_RUMOR_BYTES 512 /* more and smaller rumors: the entries run out first */

static uint64_t entries_for(size_t ring_bytes)
{
    uint64_t entries = 64;
    while (entries < ring_bytes / TYPICAL_RUMOR_BYTES)
        entries *= 2;
    return entries;
}

size_t log_arena_bytes(size_t ring_bytes)
{
    return ring_bytes + entries_for(ring_bytes) * (sizeof(struct log_entry) + 8) + 1024;
}

void log_init(struct log *log, struct arena *arena, size_t ring_bytes)
{
    const uint64_t entries = entries_for(ring_bytes);
    *log = (struct log){
        .ring = arena_take(arena, ring_bytes, 1),
        .ring_bytes = ring_bytes,
        .entries = arena_take(arena, entries, sizeof *log->entries),
        .entries_max = entries,
        .buckets = arena_take(arena, entries, sizeof *log->buckets),
        .buckets_mask = entries - 1,
    };
}

static struct log_entry *entry_at(const struct log *log, uint64_t position)
{
    return &log->entries[position & (log->entries_max - 1)];
}

static uint64_t *bucket_of(const struct log *log, uint32_t place, uint32_t seq)
{
    return &log->buckets[rng_mix((uint64_t)place << 32 | seq) & log->buckets_mask];
}

/* The oldest entry stands at the end of its bucket's chain: cut it off there. */
static void drop_oldest(struct log *log)
{
    const struct log_entry *entry = entry_at(log, log->oldest);
    uint64_t *link = bucket_of(log, entry->place, entry->seq);
    while (*link != log->oldest + 1)
        link = &entry_at(log, *link - 1)->chain;
    *link = 0;
    log->oldest++;
}

static bool overlaps(const struct log *log, size_t offset, uint32_t bytes)
{
    if (log->oldest == log->newest)
        return false;
    const struct log_entry *oldest = entry_at(log, log->oldest);
    return oldest->offset < offset + bytes && offset < oldest->offset + oldest->bytes;
}

/* Drop from the oldest on until [offset, offset + bytes) and an entry are free. Entries lie in the
 * ring in order, so the oldest is always the next one in the way. */
static bool make_room(struct log *log, size_t offset, uint32_t bytes)
{
    while (overlaps(log, offset, bytes) || log->newest - log->oldest == log->entries_max) {
        if (log->oldest == log->handed)
            return false;
        drop_oldest(log);
    }
    return true;
}

/* A rumor is never split: what is left at the end of the ring is skipped, and so are the entries
 * that still lie there. */
static bool skip_tail(struct log *log)
{
    while (log->oldest != log->newest && entry_at(log, log->oldest)->offset >= log->write_offset &&
           log->write_offset > 0) {
        if (log->oldest == log->handed)
            return false;
        drop_oldest(log);
    }
    log->write_offset = 0;
    return true;
}

bool log_is_crowded(const struct log *log)
{
    if (log->handed == log->newest)
        return false;
    const size_t from = entry_at(log, log->handed)->offset;
    const size_t held = log->write_offset > from ? log->write_offset - from
                                                 : log->ring_bytes - from + log->write_offset;
    return held > log->ring_bytes / 4 * 3 || log->newest - log->handed > log->entries_max / 4 * 3;
}

bool log_append(struct log *log, uint32_t place, uint32_t seq, bool own, const uint8_t *rumor,
                uint32_t bytes)
{
    CHECK(bytes <= log->ring_bytes);
    if (!own && (log->waiting_bytes + bytes > log->ring_bytes / 2 ||
                 log->newest - log->handed > log->entries_max / 2 || log_is_crowded(log)))
        return false;
    if (bytes > log->ring_bytes - log->write_offset && !skip_tail(log))
        return false;
    if (!make_room(log, log->write_offset, bytes))
        return false;
    uint64_t *bucket = bucket_of(log, place, seq);
    *entry_at(log, log->newest) = (struct log_entry){
        .chain = *bucket,
        .offset = log->write_offset,
        .bytes = bytes,
        .place = place,
        .seq = seq,
        .own = own,
    };
    memcpy(log->ring + log->write_offset, rumor, bytes);
    log->write_offset += bytes;
    log->waiting_bytes += own ? 0 : bytes;
    log->newest++;
    *bucket = log->newest;
    return true;
}

const uint8_t *log_find(const struct log *log, uint32_t place, uint32_t seq, uint32_t *bytes)
{
    for (uint64_t link = *bucket_of(log, place, seq); link; link = entry_at(log, link - 1)->chain) {
        const struct log_entry *entry = entry_at(log, link - 1);
        if (entry->place == place && entry->seq == seq) {
            *bytes = entry->bytes;
            return log->ring + entry->offset;
        }
    }
    return NULL;
}

const struct log_entry *log_next_to_hand(struct log *log)
{
    while (log->handed != log->newest && entry_at(log, log->handed)->own)
        log->handed++;
    return log->handed == log->newest ? NULL : entry_at(log, log->handed);
}

const uint8_t *log_bytes(const struct log *log, const struct log_entry *entry)
{
    return log->ring + entry->offset;
}

void log_handed(struct log *log)
{
    CHECK(log->handed < log->newest);
    log->waiting_bytes -= entry_at(log, log->handed)->bytes;
    log->handed++;
}

void log_clear(struct log *log)
{
    memset(log->buckets, 0, (log->buckets_mask + 1) * sizeof *log->buckets);
    log->oldest = log->handed = log->newest;
    log->write_offset = 0;
    log->waiting_bytes = 0;
}

const struct log_entry *log_at(const struct log *log, uint64_t position)
{
    CHECK(position >= log->oldest && position < log->newest);
    return entry_at(log, position);
}
