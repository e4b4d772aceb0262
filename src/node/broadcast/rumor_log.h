/* The log: the last rumors heard or told, as the bytes that came, up to a cap.
 *
 *   oldest ──────────────── handed ─────────────── newest
 *     │ kept for neighbours    │ not yet given to     │
 *     │ that ask               │ the learner          │
 *
 * A new rumor pushes the oldest out, but never one that the learner has not been given. Rumors
 * heard are refused when half the log waits for the learner (anti-entropy brings them again
 * later) or it is crowded, and no telling is begun here then: what is told always has room.
 */
#ifndef HEARSAY_LOG_H
#define HEARSAY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct log_entry {
    uint64_t chain; /* position + 1 of the next older entry in the same bucket, 0: none */
    size_t offset;  /* in the ring */
    uint32_t bytes;
    uint32_t place; /* of its origin */
    uint32_t seq;
    bool own; /* told here: the learner has it already */
};

struct log {
    uint8_t *ring;
    size_t ring_bytes;
    size_t write_offset;
    struct log_entry *entries; /* [entries_max], a position modulo entries_max */
    uint64_t entries_max;
    uint64_t oldest;      /* positions count up for ever */
    uint64_t newest;      /* one past the last */
    uint64_t handed;      /* next to give to the learner */
    size_t waiting_bytes; /* heard and not handed yet */
    uint64_t *buckets;    /* position + 1 */
    uint64_t buckets_mask;
};

void log_init(struct log *log, struct arena *arena, size_t ring_bytes);

/* Room for everything log_init takes. */
size_t log_arena_bytes(size_t ring_bytes);

/* Copy a rumor in. False when too much waits for the learner. */
bool log_append(struct log *log, uint32_t place, uint32_t seq, bool own, const uint8_t *rumor,
                uint32_t bytes);

/* Is so much not yet handed to the learner, ours among it, that another telling (an eighth of the
 * log at most) might not fit? */
bool log_is_crowded(const struct log *log);

/* The rumor, or NULL when it is not (any more) here. The pointer is good until the next append. */
const uint8_t *log_find(const struct log *log, uint32_t place, uint32_t seq, uint32_t *bytes);

/* The next rumor the learner must be given, or NULL; log_handed moves on to the one after it. */
const struct log_entry *log_next_to_hand(struct log *log);
const uint8_t *log_bytes(const struct log *log, const struct log_entry *entry);
void log_handed(struct log *log);

/* Does the learner still have to be given a quarter of the log? */
static inline bool log_is_waiting(const struct log *log)
{
    return log->waiting_bytes > log->ring_bytes / 4;
}

/* Forget everything. */
void log_clear(struct log *log);

/* The entries that are here, by position: oldest <= position < newest. */
const struct log_entry *log_at(const struct log *log, uint64_t position);

#endif
