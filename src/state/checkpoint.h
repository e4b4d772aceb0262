/* A node's checkpoints: what it needs to go on after kill -9, a power cut or disk rot.
 *
 *   learner_save ─► state ─┐                                       ┌─► state ─► learner_restore
 *   the node's history ────┴─ save ─► FOLDER/checkpoint-N ─ load ──┴─► the node's history
 *
 * Each save is a new generation N beside the others (atomic_file.h). Once it is whole and durable,
 * generations older than the last good one before it are removed. So at any moment at least one
 * good generation can be loaded, once there has been one: after a crash during save k+1 a load
 * gives k or k+1, bit for bit. A generation that is torn, damaged, or of another model or format is
 * named and passed over for the next older one.
 * Held by tests/unit/state/test_checkpoint.c (crashes, failures) and tests/unit/state/test_rot.c
 * (damage, files of others).
 *
 * A checkpoint is a checksummed stream (checksummed_stream.h), little-endian, whose series is its
 * generation:
 *   OFFSET  SIZE  MEANING
 *   0       8     "hearsayC"
 *   8       4     format: 2
 *   12      4     s: moments of the optimizer that follow, <= LEARNER_MOMENTS_MAX
 *   16      8     length of the whole file, checksums included
 *   24      8     generation, as in the file's name
 *   32      8     incarnation that wrote it
 *   40      8     P: parameters
 *   48      8     digest of the base (digest.h)
 *   56      8     samples (this and all that follows but m and n: learner_state.h)
 *   64      8     epoch
 *   72      8     state of the random walk
 *   80      4     place in the epoch
 *   84      4     m: bytes of the owner's text, <= CHECKPOINT_MODEL_MAX
 *   88      4     n: bytes of the history, <= CHECKPOINT_OWN_MAX
 *   92      4     batch
 *   96      8     steps
 *   104     8     swarm samples
 *   112     m     the owner's text (checkpoint_owner.h)
 *   ..      n     the history (version.h)
 *   ..      4P    base, int32
 *   ..      4P    base at the last publication, int32
 *   ..      4P    weights, float32
 *   ..      4P·s  moments, float32
 * Format 1 is read, too. Its header ends at 96: batch and steps are 0, and the swarm samples are
 * the node's own.
 */
#ifndef HEARSAY_STATE_CHECKPOINT_H
#define HEARSAY_STATE_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "state/disk.h"
#include "training/learner_state.h"

#define CHECKPOINT_MODEL_MAX 2048
#define CHECKPOINT_OWN_MAX   (2u << 20)

/* All memory is the caller's. */
struct checkpoint {
    const char *model;          /* the owner's text: a load refuses what another owner wrote */
    struct learner_state state; /* of the learner */
    uint8_t *own;               /* the node's history; a load needs room for CHECKPOINT_OWN_MAX */
    size_t own_bytes;           /* length of the history */
    uint64_t incarnation;       /* that wrote it */
    uint64_t digest;            /* of the base; a save works it out */
};

/* Where a node is in the series of its checkpoints: set by a load, moved on by each save. */
struct checkpoint_series {
    uint64_t next; /* number of the next save: above all in the folder, and never tried twice */
    uint64_t good; /* the newest that was loaded or saved whole; 0: none */
};

/* Writes generation series->next. FAILED (and a sentence): what was good before still is, the new
 * file is removed if the disk allows it, and the next save takes another number. An older
 * generation that cannot be removed is tried again after the next save.
 * It needs 128 KiB of stack, reads what it is given and shares nothing: it may run in a thread of
 * its own while the owner leaves the checkpoint's memory alone. */
enum error checkpoint_save(const struct disk *disk, const char *folder,
                           const struct checkpoint *checkpoint, struct checkpoint_series *series,
                           struct problem *problem) MUST_USE;

/* Called for each generation that is passed over, newest first: the sentence says what is wrong. */
struct checkpoint_refusal {
    void *context; /* passed to the call */
    void (*refused)(void *context, const struct problem *problem);
};

/* Loads the newest generation that is whole, of checkpoint->model and of state.parameters. Where
 * the file has another number of moments than the state, another optimizer wrote it: the moments
 * and the steps become 0.
 * MISSING: no checkpoint at all, a first start; the series is set. FAILED: no checkpoint can be
 * used, or the folder cannot be read; the caller stops and tells the user.
 * Unless OK, the vectors and own[] hold nothing of use; all else is written only then. */
enum error checkpoint_load(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, struct checkpoint_series *series,
                           const struct checkpoint_refusal *refusal,
                           struct problem *problem) MUST_USE;

#endif
