/* The rumor log: the bytes of the latest rumors received or published, up to a limit.
 *
 *   oldest ──────────────── applied ──────────── next ──────────── newest
 *     │ kept for requests      │ given to the      │ not yet given to │
 *     │ of neighbours          │ learner/withheld  │ the learner      │
 *
 * A withheld rumor (apply.c) is skipped, and later rumors are given to the learner. A release
 * returns to the first skipped rumor. A new rumor overwrites the oldest, but never one that the
 * learner still needs or that is pinned for a retraction. When half of the log waits for the
 * learner, the log refuses received rumors, which anti-entropy brings later. A crowded log
 * (rumor_log_is_crowded) also refuses received rumors, and no publication starts. So an own
 * publication always fits.
 */
#ifndef HEARSAY_NODE_BROADCAST_RUMOR_LOG_H
#define HEARSAY_NODE_BROADCAST_RUMOR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct rumor_log_entry {
    /* Position + 1 of the next older rumor in the same bucket of the hash table; 0 = none. */
    uint64_t chain;
    size_t offset;    /* start of the rumor in the ring, in bytes */
    uint64_t came_ns; /* time of arrival or publication */
    uint32_t bytes;
    uint32_t origin_index;
    uint32_t seq;  /* number of the rumor */
    bool is_given; /* the learner was given the rumor or does not need it */
};

struct rumor_log {
    uint8_t *ring; /* [ring_bytes] rumors, back to back */
    size_t ring_bytes;
    size_t write_offset;             /* offset in the ring where the next rumor is written */
    struct rumor_log_entry *entries; /* [entries_max] at index position modulo entries_max */
    uint64_t entries_max;            /* a power of two */
    uint64_t oldest;                 /* position of the oldest entry; positions only grow */
    uint64_t newest;                 /* position after the newest entry */
    uint64_t applied;     /* position of the first rumor that the learner was not given */
    uint64_t next;        /* position of the next rumor to give to the learner */
    uint64_t pinned;      /* position of rumor_log_pin; LOG_UNPINNED = none */
    uint64_t since_ns;    /* time since which the log has every rumor that arrived */
    size_t waiting_bytes; /* bytes of other nodes' rumors that the learner was not given */
    uint64_t waiting;     /* number of other nodes' rumors that the learner was not given */
    uint64_t *buckets;    /* hash table by origin index and number: position + 1; 0 = none */
    uint64_t buckets_mask;
};

void rumor_log_init(struct rumor_log *log, struct arena *arena, size_t ring_bytes, uint64_t now_ns);

size_t rumor_log_arena_bytes(size_t ring_bytes);

/* Copies a rumor into the log. own: the rumor is this node's, so the learner need not be given it.
 * Returns false if too much of the log waits for the learner or is pinned. */
bool rumor_log_append(struct rumor_log *log, uint64_t now_ns, uint32_t origin_index, uint32_t seq,
                      bool own, const uint8_t *rumor, uint32_t bytes);

/* Returns true if more than `quarters` quarters of the log must not be overwritten. If three
 * quarters must not, another publication (at most an eighth of the log) might not fit. */
bool rumor_log_keeps(const struct rumor_log *log, uint32_t quarters);
static inline bool rumor_log_is_crowded(const struct rumor_log *log)
{
    return rumor_log_keeps(log, 3);
}

/* Returns the bytes of the rumor, valid until the next append; NULL if the log lacks the rumor. */
const uint8_t *rumor_log_find(const struct rumor_log *log, uint32_t origin_index, uint32_t seq,
                              uint32_t *bytes);

/* Returns the next rumor for the learner, or NULL if there is none. Then call rumor_log_applied or
 * rumor_log_pass_by. */
const struct rumor_log_entry *rumor_log_next_to_apply(struct rumor_log *log);
const uint8_t *rumor_log_bytes(const struct rumor_log *log, const struct rumor_log_entry *entry);
/* Marks the rumor that rumor_log_next_to_apply returned as given to the learner. */
void rumor_log_applied(struct rumor_log *log);
/* Skips the rumor that rumor_log_next_to_apply returned. */
void rumor_log_pass_by(struct rumor_log *log);
/* Continues at the first rumor that rumor_log_pass_by skipped. */
void rumor_log_return(struct rumor_log *log);

#define LOG_UNPINNED UINT64_MAX
/* Protects all rumors from this position on from being overwritten, until the next call. Position
 * LOG_UNPINNED only ends the present protection. */
void rumor_log_pin(struct rumor_log *log, uint64_t position);

/* Returns true if the rumor will still be in the log after new rumors have filled half of it. */
bool rumor_log_is_lasting(const struct rumor_log *log, uint32_t origin_index, uint32_t seq);
/* Returns a time such that rumor_log_is_lasting is true for every rumor that arrived after it. */
uint64_t rumor_log_lasting_since_ns(const struct rumor_log *log);
/* Sets *came_ns to the arrival time of a rumor. Returns false if the log lacks the rumor. */
bool rumor_log_came(const struct rumor_log *log, uint32_t origin_index, uint32_t seq,
                    uint64_t *came_ns);

/* Returns true if rumors that wait for the learner fill more than a quarter of the ring. */
static inline bool rumor_log_is_waiting(const struct rumor_log *log)
{
    return log->waiting_bytes > log->ring_bytes / 4;
}

/* Drops all rumors. */
void rumor_log_clear(struct rumor_log *log, uint64_t now_ns);

/* Returns the entry at this position: oldest <= position < newest. */
const struct rumor_log_entry *rumor_log_at(const struct rumor_log *log, uint64_t position);

#endif
