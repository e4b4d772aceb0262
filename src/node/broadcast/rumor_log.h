/* The log: the last rumors received or published, as their bytes, up to a cap.
 *
 *   oldest ──────────────── applied ──────────── next ──────────── newest
 *     │ kept for neighbours    │ given to the      │ not yet given to │
 *     │ that ask               │ learner, or held  │ the learner      │
 *
 * A rumor that is held (apply.c) is passed by, and those after it are given; to look at it again is
 * to go back to the first that was not given. A new rumor pushes the oldest out, but never one that
 * the learner has not been given, or that is pinned, because it is to be taken out of the learner's
 * base again. Rumors received are refused when half the log waits for the learner (anti-entropy
 * brings them again later) or it is crowded, and no publication begins then: what is published here
 * always has room.
 */
#ifndef HEARSAY_NODE_BROADCAST_RUMOR_LOG_H
#define HEARSAY_NODE_BROADCAST_RUMOR_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct rumor_log_entry {
    uint64_t chain;   /* position + 1 of the next older entry in the same bucket, 0: none */
    size_t offset;    /* where it begins in the ring */
    uint64_t came_ns; /* when it was received or published */
    uint32_t bytes;   /* how long it is */
    uint32_t place;   /* of its origin, among the versions */
    uint32_t seq;     /* its number */
    bool is_given;    /* the learner has been given it, or has published it */
};

struct rumor_log {
    uint8_t *ring;                   /* [ring_bytes] rumors, one after the other */
    size_t ring_bytes;               /* its size */
    size_t write_offset;             /* where the next rumor goes in the ring */
    struct rumor_log_entry *entries; /* [entries_max], by position modulo entries_max */
    uint64_t entries_max;            /* a power of two */
    uint64_t oldest;                 /* position of the oldest entry; positions only count up */
    uint64_t newest;                 /* position after the newest entry */
    uint64_t applied;                /* position of the first that the learner was not given */
    uint64_t next;                   /* position of the next to look at for it */
    uint64_t pinned;                 /* nothing from this position on is pushed out */
    uint64_t since_ns;               /* whatever came after this moment is here */
    size_t waiting_bytes;            /* bytes of others' rumors that the learner was not given */
    uint64_t waiting;                /* how many these are */
    uint64_t *buckets;               /* hash table by place and number: position + 1; 0: none */
    uint64_t buckets_mask;           /* its size less 1 */
};

void rumor_log_init(struct rumor_log *log, struct arena *arena, size_t ring_bytes, uint64_t now_ns);

/* Room for everything rumor_log_init takes. */
size_t rumor_log_arena_bytes(size_t ring_bytes);

/* Copy a rumor in, which comes now. False when too much waits for the learner. */
bool rumor_log_append(struct rumor_log *log, uint64_t now_ns, uint32_t place, uint32_t seq,
                      bool own, const uint8_t *rumor, uint32_t bytes);

/* Is more than so many quarters of the log not to be pushed out yet, ours among it? With three,
 * another publication (an eighth of the log at most) might not fit. */
bool rumor_log_keeps(const struct rumor_log *log, uint32_t quarters);
static inline bool rumor_log_is_crowded(const struct rumor_log *log)
{
    return rumor_log_keeps(log, 3);
}

/* The rumor, or NULL when it is not (any more) here. The pointer is good until the next append. */
const uint8_t *rumor_log_find(const struct rumor_log *log, uint32_t place, uint32_t seq,
                              uint32_t *bytes);

/* The next rumor the learner must be given, or NULL. When it is, rumor_log_applied moves on to the
 * one after it; when it is not, rumor_log_pass_by does, until rumor_log_return goes back to the
 * first that was passed by. */
const struct rumor_log_entry *rumor_log_next_to_apply(struct rumor_log *log);
const uint8_t *rumor_log_bytes(const struct rumor_log *log, const struct rumor_log_entry *entry);
void rumor_log_applied(struct rumor_log *log);
void rumor_log_pass_by(struct rumor_log *log);
void rumor_log_return(struct rumor_log *log);

/* Nothing from this position on is pushed out, until another is pinned; LOG_UNPINNED: anything may
 * be that the learner has been given. */
#define LOG_UNPINNED UINT64_MAX
void rumor_log_pin(struct rumor_log *log, uint64_t position);

/* Will the rumor still be here when half as much as the log holds has come? And since when has
 * whatever came been such a rumor? */
bool rumor_log_is_lasting(const struct rumor_log *log, uint32_t place, uint32_t seq);
uint64_t rumor_log_lasting_since_ns(const struct rumor_log *log);
/* When the rumor came; false: it is not here. */
bool rumor_log_came(const struct rumor_log *log, uint32_t place, uint32_t seq, uint64_t *came_ns);

/* Does the learner still have to be given a quarter of the log? */
static inline bool rumor_log_is_waiting(const struct rumor_log *log)
{
    return log->waiting_bytes > log->ring_bytes / 4;
}

/* Forget everything that has come until now. */
void rumor_log_clear(struct rumor_log *log, uint64_t now_ns);

/* The entries that are here, by position: oldest <= position < newest. */
const struct rumor_log_entry *rumor_log_at(const struct rumor_log *log, uint64_t position);

#endif
