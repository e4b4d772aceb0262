/* A node's checkpoints: its state after kill -9, a power cut or a disk error.
 *
 *   the learner, in parts (snapshot.h) ─ put ─┐                                 ┌─► replay, part by
 * part numbers, the node's history ──────── end ─┴─► FOLDER/checkpoint-N ─ load ───┴─► numbers,
 * history
 *
 * Each save is a new generation N beside the others (atomic_file.h). Once it is whole and durable,
 * generations older than the last good one before it are removed. So at any moment at least one
 * good generation can be loaded, once there has been one: after a crash during save k+1 a load
 * gives k or k+1, bit for bit. A generation that is torn, damaged, or of another model or format is
 * named and passed over for the next older one.
 * Held by tests/unit/state/test_checkpoint.c (crashes, failures), test_rot.c (damage, files of
 * others) and test_checkpoint_records.c (what a file may say).
 *
 * A checkpoint is a checksummed stream (checksummed_stream.h), little-endian, whose series is its
 * generation. A header:
 *   OFFSET  SIZE  MEANING
 *   0       8     "hearsayC"
 *   8       4     format: 5
 *   12      4     s: moments of the optimizer, <= LEARNER_MOMENTS_MAX
 *   16      8     generation, as in the file's name
 *   24      8     P: parameters
 *   32      4     entries of a part; the last part has what is left
 *   36      4     m: bytes of the owner's text, <= CHECKPOINT_MODEL_MAX
 *   40      m     the owner's text (checkpoint_owner.h)
 * Then records, as they came from the learner (snapshot.h), each with a head of 20 bytes:
 *   0       4     kind: 1 a part, 2 applied, 3 own, 4 the end
 *   4       4     n: entries of a part or an update; of the end, bytes of the history
 *   8       4     of an update tau, float32; else 0
 *   12      4     of an update the amount; else 0
 *   16      4     of an update beta, float32; else 0
 * and behind it
 *   a part: base int32[n], weights float32[n], moments float32[s][n]; it follows the entries of the
 *           part before
 *   an update: index uint32[n], strictly increasing and of entries in parts before; level int8[n]
 *   the end: the history (history.h), and (but for the first and the last, see learner_state.h)
 *     0     8     incarnation that wrote it
 *     8     8     samples
 *     16    8     swarm samples
 *     24    8     steps
 *     32    8     epoch
 *     40    8     state of the random walk
 *     48    4     place in the epoch
 *     52    4     batch
 *     56    8     digest of the base (digest.h), with all updates
 *
 * Format 4, of the previous release, is also read. Its heads have 16 bytes, without beta; kind 4 is
 * an outer step (n 0), which moved weights alone, and 5 the end; and a part has n more numbers of
 * four bytes behind the base. These are skipped: the weights lose momentum, but no progress.
 */
#ifndef HEARSAY_STATE_CHECKPOINT_H
#define HEARSAY_STATE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/atomic_file.h"
#include "state/checksummed_stream.h"
#include "state/disk.h"
#include "training/snapshot.h"

#define CHECKPOINT_MODEL_MAX 2048
#define CHECKPOINT_OWN_MAX   (8u << 20)

#define CHECKPOINT_NAME_MAX 32

/* All memory is the caller's. */
struct checkpoint {
    const char *model;          /* the owner's text: a load refuses what another owner wrote */
    uint8_t model_hash[16];     /* of the swarm whose first weights the base has, if: */
    bool has_taken_first;       /* they were taken over (checkpoint_owner.h) */
    struct learner_state state; /* how many entries and moments, and the numbers; no vectors */
    uint8_t *own;               /* the node's history; a load needs room for CHECKPOINT_OWN_MAX */
    size_t own_bytes;           /* length of the history */
    uint64_t incarnation;       /* that wrote it */
    uint64_t digest;            /* of the base: a save works it out */
};

/* Where a node is in the series of its checkpoints: set by a load, moved on by each save. */
struct checkpoint_series {
    uint64_t next; /* number of the next save: above all in the folder, and never tried twice */
    uint64_t good; /* the newest that was loaded or saved whole; 0: none */
};

/* A generation being written. */
struct checkpoint_writer {
    const struct disk *disk;          /* the caller's */
    const char *folder;               /* the caller's */
    char name[CHECKPOINT_NAME_MAX];   /* of the file */
    uint64_t generation;              /* its number */
    uint64_t digest;                  /* of the base as it has been written */
    struct atomic_file file;          /* it keeps the failures */
    struct checksummed_writer stream; /* what is in the file */
};

/* Begins generation series->next, in parts of `entries` entries. Reads only the owner's text and
 * the numbers of entries and moments from the checkpoint. Then all records of a snapshot are put,
 * and the file is ended or abandoned. Shares nothing: it may run in a thread of its own. */
void checkpoint_begin(struct checkpoint_writer *writer, const struct disk *disk, const char *folder,
                      const struct checkpoint *checkpoint, size_t part_parameters,
                      struct checkpoint_series *series);
void checkpoint_put(struct checkpoint_writer *writer, const struct snapshot_record *record);

/* Writes the numbers and the history, and sets checkpoint->digest. FAILED (and a sentence): earlier
 * generations stay valid, the new file is removed if the disk allows it, and the next save takes
 * another number. An older generation that cannot be removed is tried again after the next save. */
enum error checkpoint_end(struct checkpoint_writer *writer, struct checkpoint *checkpoint,
                          struct checkpoint_series *series, struct problem *problem) MUST_USE;
/* Earlier generations stay valid, as without this save. */
void checkpoint_abandon(struct checkpoint_writer *writer);

/* Called for each generation that is passed over, newest first: the sentence says what is wrong. */
struct checkpoint_refusal {
    void *context; /* passed to the call */
    void (*refused)(void *context, const struct problem *problem);
};

/* The receiver of a load: gets the parts and updates of a file in order, each after its check. If
 * the file turns out to be damaged, those of an older file follow, from the first entry on. */
struct checkpoint_target {
    void *self;                                                       /* passed to the call */
    void (*replay)(void *self, const struct snapshot_record *record); /* NULL: it only looks */
};

/* Loads the newest generation that is whole, of checkpoint->model and of state.parameters. Where
 * the file has another number of moments than the state, another optimizer wrote it: the moments
 * and the steps become 0.
 * MISSING: no checkpoint at all, a first start; the series is set. FAILED: no checkpoint can be
 * used, or the folder cannot be read; the caller stops and tells the user.
 * Unless OK, target and own[] hold nothing of use; all else is written only then. */
enum error checkpoint_load(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, const struct checkpoint_target *target,
                           struct checkpoint_series *series,
                           const struct checkpoint_refusal *refusal,
                           struct problem *problem) MUST_USE;

#endif
