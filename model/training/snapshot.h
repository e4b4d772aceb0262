/* A snapshot of a learner during training: taken in parts between its steps, without a second copy
 * of the whole state.
 *
 *   learner:  take [0,n)   step   take [n,2n)   apply U   step   take [2n,3n)  …  take [..,P)
 *   records:  PART                PART          U < 2n           PART             PART
 *             ──────────────────────────── queue ────────────────────────────────────────► writer
 *
 * Base and weights change between two parts. So the snapshot also records, in order, each update
 * that was applied, but only its entries in parts already taken: later parts already contain it.
 * A restore goes through the records in order: it copies each part to its entries and applies each
 * update to the entries restored so far. Then
 *   - the base is the base at the time of the last part, bit for bit: only updates change it;
 *   - weights and moments are those at the time of their own part. A publication is replayed with
 *     replica_apply_own, which subtracts it from the residual as far as the residual contains it.
 *     So no progress is published twice and no publication is lost. If no step was made between
 *     two parts, the whole state is exact, bit for bit.
 * Tests: tests/unit/model/test_snapshot.c, and the storms (sim/world/sim_disk.h).
 *
 * The queue holds at most one part and some updates. The learner fills it, the writer empties it,
 * and neither waits for the other. If an update does not fit, the snapshot is broken off.
 */
#ifndef HEARSAY_MODEL_TRAINING_SNAPSHOT_H
#define HEARSAY_MODEL_TRAINING_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/ring.h"
#include "exchange/learner_state.h"
#include "exchange/replica.h"

/* Largest number of entries in a record; longer updates take several records. */
#define SNAPSHOT_ENTRIES_MAX 65536

enum snapshot_kind {
    SNAPSHOT_PART = 1, /* has `part`: some entries, and the counters when the part was taken */
    SNAPSHOT_APPLIED,  /* has `update` and `beta`: replay with replica_apply */
    SNAPSHOT_OWN,      /* has `update` and `beta`: replay with replica_apply_own */
    SNAPSHOT_KINDS
};

struct snapshot_record {
    enum snapshot_kind kind;
    float beta;                /* APPLIED, OWN: outer momentum */
    size_t end;                /* APPLIED, OWN: entries in the parts taken before the update */
    struct update update;      /* APPLIED, OWN: the update's entries below `end` */
    struct learner_state part; /* PART: the entries that follow the earlier parts */
};

/* Applies the record's update as the learner did. Not for SNAPSHOT_PART. */
void snapshot_replay(const struct snapshot_record *record, struct replica *replica);

/* Copies entries of a learner to `part`, as learner_save does. */
typedef void snapshot_save(void *learner, struct learner_state *part);

/* The queue from the learner's thread, which takes parts, to the writer's thread. */
struct snapshot_queue {
    size_t parameters;         /* P, the learner's number of parameters */
    size_t part_parameters;    /* largest number of entries of a part */
    struct learner_state part; /* the part on its way to the writer */
    atomic_bool part_is_out;   /* `part` waits for the writer or is being written */
    struct ring ring;          /* records; a record of kind PART shares the vectors of `part` */
    void (*wake)(void *waker); /* called when a record was added; NULL = no calls */
    void *waker;
    size_t end;     /* learner only: entries taken so far; 0 = no snapshot was begun */
    bool is_broken; /* learner only: the snapshot was broken off */
};

/* Returns the entries per part: few enough to delay a step little, and enough to finish a snapshot
 * in about 128 parts. A very small model has fewer parts, a very large one more. */
size_t snapshot_part_parameters(size_t parameters, uint32_t moments);

/* Returns the arena's bytes for a queue. entries: least number of update entries that the queue can
 * hold while a part is being written. */
size_t snapshot_queue_bytes(size_t part_parameters, uint32_t moments, size_t entries);
void snapshot_queue_init(struct snapshot_queue *queue, struct arena *arena, size_t parameters,
                         size_t part_parameters, uint32_t moments, size_t entries);

/* snapshot_take_average makes parts carry the averaged base as well (learner_state.h).
 * snapshot_average_bytes returns the arena's bytes for that. */
size_t snapshot_average_bytes(size_t part_parameters);
void snapshot_take_average(struct snapshot_queue *queue, struct arena *arena);

/* The next functions are for the learner's thread. */

/* Takes the part that begins with entry `first`: 0, which begins a new snapshot, or the end of the
 * previous part. Call it only while snapshot_has_room. Returns the number of entries taken; 0 = the
 * snapshot was broken off. */
size_t snapshot_take(struct snapshot_queue *queue, size_t first, snapshot_save *save,
                     void *learner);

/* Records the entries of an update that belong to parts already taken. No effect unless a snapshot
 * is being taken. Breaks off the snapshot if the ring is full. */
void snapshot_note_update(struct snapshot_queue *queue, enum snapshot_kind kind,
                          const struct update *update, float beta);

/* Returns true if a snapshot was begun and is neither complete nor broken off. */
bool snapshot_is_under_way(const struct snapshot_queue *queue);

/* Breaks off the snapshot. Call it when base or weights changed otherwise than by an update or a
 * step. */
void snapshot_break(struct snapshot_queue *queue);

/* The next functions are for the writer's thread. */

/* Returns the oldest record; NULL = none. It is valid until snapshot_done, which removes it. */
const struct snapshot_record *snapshot_next(struct snapshot_queue *queue);
void snapshot_done(struct snapshot_queue *queue);

/* Returns true if no part waits for the writer or is being written. The learner's thread may also
 * call it. */
bool snapshot_has_room(const struct snapshot_queue *queue);

#endif
