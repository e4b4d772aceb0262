#include "node/broadcast/rumor_log.h"

#include <string.h>

#include "base/error.h"
#include "base/rng.h"

/* Assumed mean size of a rumor. */
#define TYPICAL_RUMOR_BYTES 512

static uint64_t entries_for(size_t ring_bytes)
{
    uint64_t entries = 64;
    while (entries < ring_bytes / TYPICAL_RUMOR_BYTES)
        entries *= 2;
    return entries;
}

size_t rumor_log_arena_bytes(size_t ring_bytes)
{
    return ring_bytes + entries_for(ring_bytes) * (sizeof(struct rumor_log_entry) + 8) + 1024;
}

void rumor_log_init(struct rumor_log *log, struct arena *arena, size_t ring_bytes, uint64_t now_ns)
{
    CHECK(ring_bytes > 0);
    const uint64_t entries = entries_for(ring_bytes);
    *log = (struct rumor_log){
        .ring = arena_alloc(arena, ring_bytes, 1),
        .ring_bytes = ring_bytes,
        .entries = arena_alloc(arena, entries, sizeof *log->entries),
        .entries_max = entries,
        .buckets = arena_alloc(arena, entries, sizeof *log->buckets),
        .buckets_mask = entries - 1,
        .pinned = LOG_UNPINNED,
        .since_ns = now_ns,
    };
}

static struct rumor_log_entry *entry_at(const struct rumor_log *log, uint64_t position)
{
    return &log->entries[position & (log->entries_max - 1)];
}

static uint64_t *bucket_of(const struct rumor_log *log, uint32_t origin_index, uint32_t seq)
{
    return &log->buckets[rng_mix((uint64_t)origin_index << 32 | seq) & log->buckets_mask];
}

/* Returns the position of the oldest rumor that must not be overwritten. */
static uint64_t first_kept(const struct rumor_log *log)
{
    return log->pinned < log->applied ? log->pinned : log->applied;
}

/* The oldest entry is the last of its bucket's chain. */
static void drop_oldest(struct rumor_log *log)
{
    CHECK(log->oldest < first_kept(log));
    const struct rumor_log_entry *entry = entry_at(log, log->oldest);
    uint64_t *link = bucket_of(log, entry->origin_index, entry->seq);
    while (*link != log->oldest + 1)
        link = &entry_at(log, *link - 1)->chain;
    *link = 0;
    log->since_ns = entry->came_ns;
    log->oldest++;
}

static bool overlaps(const struct rumor_log *log, size_t offset, uint32_t bytes)
{
    if (log->oldest == log->newest)
        return false;
    const struct rumor_log_entry *oldest = entry_at(log, log->oldest);
    return oldest->offset < offset + bytes && offset < oldest->offset + oldest->bytes;
}

/* Drops the oldest entries until the bytes [offset, offset + bytes) of the ring and one entry are
 * free. Returns false if an entry must stay. Entries lie in the ring in order, so only the oldest
 * has to be checked each time. */
static bool make_room(struct rumor_log *log, size_t offset, uint32_t bytes)
{
    while (overlaps(log, offset, bytes) || log->newest - log->oldest == log->entries_max) {
        if (log->oldest == first_kept(log))
            return false;
        drop_oldest(log);
    }
    return true;
}

/* Skips the end of the ring, because a rumor is never split, and drops the entries that lie there.
 * Returns false if one of them must stay. */
static bool skip_tail(struct rumor_log *log)
{
    while (log->oldest != log->newest && entry_at(log, log->oldest)->offset >= log->write_offset &&
           log->write_offset > 0) {
        if (log->oldest == first_kept(log))
            return false;
        drop_oldest(log);
    }
    log->write_offset = 0;
    return true;
}

/* Returns the bytes in the ring from the entry at this position on. */
static size_t bytes_since(const struct rumor_log *log, uint64_t position)
{
    const size_t from = entry_at(log, position)->offset;
    CHECK(position >= log->oldest && position < log->newest);
    return log->write_offset > from ? log->write_offset - from
                                    : log->ring_bytes - from + log->write_offset;
}

bool rumor_log_keeps(const struct rumor_log *log, uint32_t quarters)
{
    const uint64_t kept = first_kept(log);
    return kept != log->newest && (bytes_since(log, kept) > log->ring_bytes / 4 * quarters ||
                                   log->newest - kept > log->entries_max / 4 * quarters);
}

bool rumor_log_append(struct rumor_log *log, uint64_t now_ns, uint32_t origin_index, uint32_t seq,
                      bool own, const uint8_t *rumor, uint32_t bytes)
{
    CHECK(bytes <= log->ring_bytes && now_ns >= log->since_ns);
    if (!own && (log->waiting_bytes + bytes > log->ring_bytes / 2 ||
                 log->newest - log->applied > log->entries_max / 2 || rumor_log_is_crowded(log)))
        return false;
    if (bytes > log->ring_bytes - log->write_offset && !skip_tail(log))
        return false;
    if (!make_room(log, log->write_offset, bytes))
        return false;
    uint64_t *bucket = bucket_of(log, origin_index, seq);
    *entry_at(log, log->newest) = (struct rumor_log_entry){
        .chain = *bucket,
        .offset = log->write_offset,
        .came_ns = now_ns,
        .bytes = bytes,
        .origin_index = origin_index,
        .seq = seq,
        .is_given = own,
    };
    memcpy(log->ring + log->write_offset, rumor, bytes);
    log->write_offset += bytes;
    log->waiting_bytes += own ? 0 : bytes;
    log->waiting += own ? 0 : 1;
    log->newest++;
    *bucket = log->newest;
    CHECK(log->newest - log->oldest <= log->entries_max && log->write_offset <= log->ring_bytes);
    return true;
}

/* Returns the log position of the rumor + 1; 0 if the log lacks the rumor. */
static uint64_t find(const struct rumor_log *log, uint32_t origin_index, uint32_t seq)
{
    uint64_t link = *bucket_of(log, origin_index, seq);
    while (link && (entry_at(log, link - 1)->origin_index != origin_index ||
                    entry_at(log, link - 1)->seq != seq))
        link = entry_at(log, link - 1)->chain;
    return link;
}

const uint8_t *rumor_log_find(const struct rumor_log *log, uint32_t origin_index, uint32_t seq,
                              uint32_t *bytes)
{
    const uint64_t link = find(log, origin_index, seq);
    if (!link)
        return NULL;
    const struct rumor_log_entry *entry = entry_at(log, link - 1);
    CHECK(entry->offset + entry->bytes <= log->ring_bytes);
    *bytes = entry->bytes;
    return log->ring + entry->offset;
}

static bool is_lasting_at(const struct rumor_log *log, uint64_t position)
{
    return bytes_since(log, position) <= log->ring_bytes / 2 &&
           log->newest - position <= log->entries_max / 2;
}

bool rumor_log_is_lasting(const struct rumor_log *log, uint32_t origin_index, uint32_t seq)
{
    const uint64_t link = find(log, origin_index, seq);
    return link && is_lasting_at(log, link - 1);
}

uint64_t rumor_log_lasting_since_ns(const struct rumor_log *log)
{
    uint64_t first = log->oldest;
    while (first < log->newest && !is_lasting_at(log, first))
        first++;
    return first == log->oldest ? log->since_ns : entry_at(log, first - 1)->came_ns;
}

bool rumor_log_came(const struct rumor_log *log, uint32_t origin_index, uint32_t seq,
                    uint64_t *came_ns)
{
    const uint64_t link = find(log, origin_index, seq);
    if (link)
        *came_ns = entry_at(log, link - 1)->came_ns;
    return link != 0;
}

void rumor_log_pin(struct rumor_log *log, uint64_t position)
{
    CHECK(position == LOG_UNPINNED || (position >= log->oldest && position < log->newest));
    log->pinned = position;
}

/* Returns the position of the first rumor, from `position` on, that the learner was not given. */
static uint64_t first_to_give(const struct rumor_log *log, uint64_t position)
{
    CHECK(position >= log->oldest && position <= log->newest);
    while (position != log->newest && entry_at(log, position)->is_given)
        position++;
    return position;
}

const struct rumor_log_entry *rumor_log_next_to_apply(struct rumor_log *log)
{
    CHECK(log->oldest <= log->applied && log->applied <= log->next);
    log->applied = first_to_give(log, log->applied);
    log->next = first_to_give(log, log->next);
    return log->next == log->newest ? NULL : entry_at(log, log->next);
}

const uint8_t *rumor_log_bytes(const struct rumor_log *log, const struct rumor_log_entry *entry)
{
    return log->ring + entry->offset;
}

void rumor_log_applied(struct rumor_log *log)
{
    CHECK(log->next < log->newest);
    struct rumor_log_entry *entry = entry_at(log, log->next);
    CHECK(!entry->is_given && log->waiting_bytes >= entry->bytes && log->waiting > 0);
    entry->is_given = true;
    log->waiting_bytes -= entry->bytes;
    log->waiting--;
    log->next = first_to_give(log, log->next);
    log->applied = first_to_give(log, log->applied);
}

void rumor_log_pass_by(struct rumor_log *log)
{
    CHECK(log->next < log->newest && !entry_at(log, log->next)->is_given);
    log->next++;
}

void rumor_log_return(struct rumor_log *log)
{
    CHECK(log->applied <= log->next);
    log->next = log->applied;
}

void rumor_log_clear(struct rumor_log *log, uint64_t now_ns)
{
    memset(log->buckets, 0, (log->buckets_mask + 1) * sizeof *log->buckets);
    log->oldest = log->applied = log->next = log->newest;
    log->pinned = LOG_UNPINNED;
    log->since_ns = now_ns;
    log->write_offset = 0;
    log->waiting_bytes = 0;
    log->waiting = 0;
}

const struct rumor_log_entry *rumor_log_at(const struct rumor_log *log, uint64_t position)
{
    CHECK(position >= log->oldest && position < log->newest);
    return entry_at(log, position);
}
