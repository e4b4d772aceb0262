/* A snapshot of a learner during training: taken in parts between its steps, without a second copy
 * of the whole state.
 *
 *   learner:  take [0,n)   step   take [n,2n)   apply U   step   take [2n,3n)  …  take [..,P)
 *   records:  PART                PART          U < 2n           PART             PART
 *             ──────────────────────────── queue ────────────────────────────────────────► writer
 *
 * Base and weights move between two parts. So the snapshot has, in the order in which they were
 * performed, all updates as far as they are of entries in parts taken before; of the other entries
 * the parts themselves are later and have them. Whoever restores does the same again: puts each
 * part in its place, and replays each update on what is there. Then
 *   - the base is what it was when the last part was taken, bit for bit: it moves by updates alone;
 *   - weights and moments are of the steps after which their parts were taken. A publication is
 *     replayed as an own update that comes back (replica_apply_own): the residual of a part pays
 *     for it as far as it goes, so nothing is published twice and nothing published is lost. If no
 *     step lay between two parts, all is what it was, bit for bit.
 * Held by tests/unit/model/test_snapshot.c, and by the storms (sim/world/sim_disk.h).
 *
 * The queue has room for one part and some updates, and never more: one side takes, the other
 * writes, and neither waits. Where there is no room for an update the snapshot is broken off.
 */
#ifndef HEARSAY_MODEL_TRAINING_SNAPSHOT_H
#define HEARSAY_MODEL_TRAINING_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/ring.h"
#include "exchange/replica.h"
#include "training/learner_state.h"

#define SNAPSHOT_ENTRIES_MAX 65536 /* entries of an update per record; others take several */

enum snapshot_kind {
    SNAPSHOT_PART = 1, /* part: entries, and the counters at that time */
    SNAPSHOT_APPLIED,  /* update, beta: as replica_apply */
    SNAPSHOT_OWN,      /* update, beta: as replica_apply_own */
    SNAPSHOT_KINDS
};

struct snapshot_record {
    enum snapshot_kind kind;
    float beta;                /* APPLIED, OWN: the outer momentum */
    size_t end;                /* not PART: number of entries in earlier parts */
    struct update update;      /* APPLIED, OWN: its entries lie below end */
    struct learner_state part; /* PART: entries after those of earlier parts */
};

/* Does to the replica what the learner did; of all records but PART. */
void snapshot_replay(const struct snapshot_record *record, struct replica *replica);

/* How a learner's part is copied: learner_save, or that of what plays one. */
typedef void snapshot_save(void *learner, struct learner_state *part);

/* Between the thread of the learner, which takes, and the writer's. */
struct snapshot_queue {
    size_t parameters;         /* P of the learner */
    size_t part_parameters;    /* capacity of a part in entries */
    struct learner_state part; /* the part in transit */
    atomic_bool part_is_out;   /* the writer has the part */
    struct ring ring;          /* records; a record of a part refers to `part` */
    void (*wake)(void *waker); /* called when there is a record; NULL = not needed */
    void *waker;               /* argument of wake */
    size_t end;                /* learner only: entries taken so far; 0 = no snapshot was begun */
    bool is_broken;            /* learner only: an update did not fit */
};

/* Returns the entries per part: few enough to delay a step little, and enough to finish a snapshot
 * in some hundred steps. */
size_t snapshot_part_parameters(size_t parameters, uint32_t moments);

/* entries: of updates that find room while a part is being written, at least. */
size_t snapshot_queue_bytes(size_t part_parameters, uint32_t moments, size_t entries);
void snapshot_queue_init(struct snapshot_queue *queue, struct arena *arena, size_t parameters,
                         size_t part_parameters, uint32_t moments, size_t entries);

/* snapshot_take_average makes parts carry the averaged base as well (learner_state.h).
 * snapshot_average_bytes returns the arena's bytes for that. */
size_t snapshot_average_bytes(size_t part_parameters);
void snapshot_take_average(struct snapshot_queue *queue, struct arena *arena);

/* The learner's side. */

/* Takes the part that begins with this entry: the first one begins a snapshot, each other one
 * follows the one before, when that has been written. Returns its entries; 0: the snapshot is
 * broken off. */
size_t snapshot_take(struct snapshot_queue *queue, size_t first, snapshot_save *save,
                     void *learner);
/* Records a change of base and weights; no effect without a snapshot under way. */
void snapshot_note_update(struct snapshot_queue *queue, enum snapshot_kind kind,
                          const struct update *update, float beta);
/* Something else was done to them. */
void snapshot_break(struct snapshot_queue *queue);

/* The writer's side. */

/* The oldest record, or NULL; valid until snapshot_done. */
const struct snapshot_record *snapshot_next(struct snapshot_queue *queue);
void snapshot_done(struct snapshot_queue *queue);
/* Any thread's: is there room for a part? */
bool snapshot_has_room(const struct snapshot_queue *queue);

#endif
