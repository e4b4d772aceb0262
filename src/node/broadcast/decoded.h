/* Decoded rumors on their way to the learner, so that no rumor is decoded twice unless the learner
 * is far behind.
 *
 *   decoded_room ─► (decode) ─► decoded_keep ─► ... waiting, in order ... ─► decoded_at
 *
 * The memory holds as many entries as one rumor of the largest size. When it is full, all decoded
 * rumors are dropped; a dropped one is decoded again from the log when it is needed (rumor_log.h).
 * Tests: tests/unit/node/test_decoded.c.
 */
#ifndef HEARSAY_NODE_BROADCAST_DECODED_H
#define HEARSAY_NODE_BROADCAST_DECODED_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/update.h"

#define DECODED_MAX 256

struct decoded {
    struct update updates[DECODED_MAX]; /* decoded rumors, in the order of the log */
    uint64_t positions[DECODED_MAX];    /* their positions in the log */
    uint32_t first;       /* index of the first rumor that decoded_at has not passed */
    uint32_t end;         /* index after that of the last rumor */
    uint32_t *index;      /* [entries_max] entry indices of all rumors, back to back */
    int8_t *level;        /* [entries_max] entry levels of all rumors, back to back */
    uint32_t entries_max; /* capacity in entries */
    uint32_t entries;     /* entries in use */
};

size_t decoded_arena_bytes(uint32_t entries_max);
void decoded_init(struct decoded *decoded, struct arena *arena, uint32_t entries_max);

/* Returns space for a decoded rumor of at most `entries` entries; valid until the next call. */
struct update *decoded_room(struct decoded *decoded, uint32_t entries);
/* Keeps the rumor decoded into decoded_room's space, whose log position must be above all kept
 * ones. */
void decoded_keep(struct decoded *decoded, uint64_t position);

/* Returns the kept rumor with this log position, or NULL; valid until decoded_room is called. Drops
 * this rumor and all earlier ones, so call it with rising positions. */
const struct update *decoded_at(struct decoded *decoded, uint64_t position);

#endif
