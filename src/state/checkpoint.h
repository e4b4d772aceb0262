/* A node's checkpoints, from which it continues after kill -9, a power cut or a disk error.
 *
 *   the learner, in parts (snapshot.h) ─ put ─┐                                 ┌─► replay, part by
 * part numbers, the node's history ──────── end ─┴─► FOLDER/checkpoint-N ─ load ───┴─► numbers,
 * history
 *
 * Each save is a new generation N beside the others (atomic_file.h). Once it is complete and
 * durable, generations older than the last good one before it are removed. So at any moment at
 * least one good generation can be loaded, once there has been one: after a crash during save k+1 a
 * load gives k or k+1, bit for bit. A generation that is incomplete, damaged, or of another model
 * or format is reported, and the next older one is tried. Held by
 * tests/unit/state/test_checkpoint.c (crashes, failures), test_rot.c (damage, files of others) and
 * test_checkpoint_records.c (valid contents).
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

/* State of a checkpoint to save or load; the caller owns all memory. */
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

/* Position in the series of checkpoints: a load sets it, each save advances it. */
struct checkpoint_series {
    /* Number of the next save: higher than all in the folder, and never used twice. */
    uint64_t next;
    uint64_t good; /* newest generation that was loaded or completely saved; 0 = none */
};

/* A generation being written. */
struct checkpoint_writer {
    const struct disk *disk;          /* the disk; borrowed */
    const char *folder;               /* folder; borrowed */
    char name[CHECKPOINT_NAME_MAX];   /* name of the file */
    uint64_t generation;              /* number of the generation */
    uint64_t digest;                  /* digest of the base as written so far */
    struct atomic_file file;          /* the file, which remembers failures */
    struct checksummed_writer stream; /* stream of the file's contents */
};

/* Begins generation series->next, in parts of `entries` entries. From the checkpoint it reads only
 * the owner's text and the numbers of entries and moments. Then the caller puts all records of a
 * snapshot, and ends or abandons the file. It shares no data, so it may run on its own thread. */
void checkpoint_begin(struct checkpoint_writer *writer, const struct disk *disk, const char *folder,
                      const struct checkpoint *checkpoint, size_t part_parameters,
                      struct checkpoint_series *series);
void checkpoint_put(struct checkpoint_writer *writer, const struct snapshot_record *record);

/* Writes the numbers and the history, and sets checkpoint->digest. FAILED with a sentence: earlier
 * generations stay valid, the new file is removed if the disk allows it, and the next save uses
 * another number. An older generation that cannot be removed is tried again after the next
 * save. */
enum error checkpoint_end(struct checkpoint_writer *writer, struct checkpoint *checkpoint,
                          struct checkpoint_series *series, struct problem *problem) MUST_USE;
/* Abandons the file; earlier generations stay valid. */
void checkpoint_abandon(struct checkpoint_writer *writer);

/* Receiver of refusals: called for each generation that cannot be used, newest first, with a
 * sentence on what is wrong. */
struct checkpoint_refusal {
    void *context; /* argument of the call */
    void (*refused)(void *context, const struct problem *problem);
};

/* The receiver of a load: gets the parts and updates of a file in order, each after its check. If
 * the file turns out to be damaged, those of an older file follow, from the first entry on. */
struct checkpoint_target {
    void *self; /* argument of replay */
    /* NULL = the file is only checked. */
    void (*replay)(void *self, const struct snapshot_record *record);
};

/* Loads the newest complete generation with checkpoint->model and state.parameters. If the file has
 * another number of moments than the state, another optimizer wrote it: moments and steps become 0.
 * MISSING: there is no checkpoint, so this is a first start; the series is set. FAILED: no
 * checkpoint can be used, or the folder cannot be read; the caller stops and tells the user. Unless
 * the result is OK, target and own[] hold nothing useful and nothing else is written. */
enum error checkpoint_load(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, const struct checkpoint_target *target,
                           struct checkpoint_series *series,
                           const struct checkpoint_refusal *refusal,
                           struct problem *problem) MUST_USE;

#endif
