/* Rumors that were decoded when they came, until the learner is given them: so that none is
 * decoded twice, unless the learner is far behind.
 *
 *   room ─► (decode) ─► keep ─► ... those that wait, in their order ... ─► at
 *
 * They have as much memory as one of the largest. When it is used up all are dropped, and one that
 * is needed is decoded again from the log (rumor_log.h). Held by tests/unit/node/test_decoded.c. */
#ifndef HEARSAY_NODE_BROADCAST_DECODED_H
#define HEARSAY_NODE_BROADCAST_DECODED_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/update.h"

#define DECODED_MAX 256

struct decoded {
    struct update updates[DECODED_MAX]; /* the rumors, in the order of the log */
    uint64_t positions[DECODED_MAX];    /* where each stands in the log */
    uint32_t first;                     /* the first that was not given out */
    uint32_t end;                       /* the place after the last */
    uint32_t *index;                    /* [entries_max] indices of all, back to back */
    int8_t *level;                      /* [entries_max] levels of all, back to back */
    uint32_t entries_max;               /* room for so many entries */
    uint32_t entries;                   /* entries of all that are kept */
};

size_t decoded_arena_bytes(uint32_t entries_max);
void decoded_init(struct decoded *decoded, struct arena *arena, uint32_t entries_max);

/* Where a rumor of so many entries, at most entries_max, may be decoded: the caller's until it asks
 * again. */
struct update *decoded_room(struct decoded *decoded, uint32_t entries);
/* What was decoded there stands at this position, which is higher than any before. */
void decoded_keep(struct decoded *decoded, uint64_t position);

/* The one of this position, valid until a room is asked for; NULL: it is not here. It is given out
 * once, and those before it never again. */
const struct update *decoded_at(struct decoded *decoded, uint64_t position);

#endif
