/* A node's life on disk: what it needs to go on after kill -9, a power cut, a disk that rots.
 *
 *   learner_save ─► state ─┐                                       ┌─► state ─► learner_restore
 *   the node's own bytes ──┴─ save ─► FOLDER/checkpoint-N ─ load ──┴─► the node's own bytes
 *
 * Each save is a new generation N, written beside the others (draft.h); only when it is whole and
 * there to stay are those removed that are older than the last good one before it. So at any moment
 * at least one good generation can be loaded, once there has been one: after a crash during save
 * k+1 a load gives k or k+1, bit for bit. What is torn, has rotted, or is of another model or
 * format is named and passed over for the next older one.
 * Held by tests/unit/state/test_checkpoint.c (crashes, failures) and tests/unit/state/test_rot.c
 * (damage, others' files).
 *
 * A checkpoint is a stream in chunks (chunk.h), little-endian, whose series is its generation:
 *   OFFSET  SIZE  MEANING
 *   0       8     "hearsayC"
 *   8       4     format: 2
 *   12      4     s: moments of the optimizer that follow, <= LEARNER_MOMENTS_MAX
 *   16      8     length of the whole file, checksums included
 *   24      8     generation, as in the file's name
 *   32      8     incarnation of the life that wrote it
 *   40      8     P: parameters
 *   48      8     digest of the base (digest.h)
 *   56      8     samples, and from learner_state.h:
 *   64      8     epoch
 *   72      8     wander
 *   80      4     at
 *   84      4     m: bytes of the model's text, <= CHECKPOINT_MODEL_MAX
 *   88      4     n: bytes of the node's own, <= CHECKPOINT_OWN_MAX
 *   92      4     batch
 *   96      8     steps
 *   104     8     swarm samples
 *   112     m     the model's text
 *   ..      n     the node's own
 *   ..      4P    base, int32
 *   ..      4P    the base at the last telling, int32
 *   ..      4P    weights, float32
 *   ..      4P·s  the moments, float32
 * Format 1, which is read too, ends its header at 96: batch and steps are 0, and the swarm has
 * learned what this node has.
 */
#ifndef HEARSAY_STATE_CHECKPOINT_H
#define HEARSAY_STATE_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "state/disk.h"
#include "training/learner_state.h"
#include "base/error.h"

#define CHECKPOINT_MODEL_MAX      2048
#define CHECKPOINT_OWN_MAX        (2u << 20)
#define CHECKPOINT_DIFFERENCE_MAX 304

/* All memory is the caller's. */
struct checkpoint {
    const char *model; /* text: equal texts, equal models; what another wrote is refused */
    /* For a load: of what it is instead, and what to do, as the end of a sentence. NULL: the text
     */
    void (*difference)(char out[CHECKPOINT_DIFFERENCE_MAX], const char *theirs, const char *ours);
    struct learner_state state;
    uint8_t *own; /* for a load: room for CHECKPOINT_OWN_MAX */
    size_t own_bytes;
    uint64_t incarnation;
    uint64_t digest; /* of the base; a save works it out itself */
};

/* Where a node is in the series of its checkpoints: set by a load, moved on by each save. */
struct checkpoint_series {
    uint64_t next; /* the number of the next save: above all in the folder, and never tried twice */
    uint64_t good; /* the newest that was loaded or saved whole, 0: none */
};

/* Write generation series->next. FAILED (and a sentence): what was good before still is, of the new
 * one nothing is left if the disk lets it be removed, and the next save takes another number. An
 * older generation that cannot be removed is tried again after the next save.
 * It needs 128 KiB of stack, reads what it is given and shares nothing: it may run in a thread of
 * its own, while the owner leaves the checkpoint's memory alone. */
enum error checkpoint_save(const struct disk *disk, const char *folder,
                           const struct checkpoint *checkpoint, struct checkpoint_series *series,
                           struct problem *problem) MUST_USE;

/* Told of each generation that is passed over, newest first: the sentence says what is wrong. */
struct checkpoint_refusal {
    void *context;
    void (*refused)(void *context, const struct problem *problem);
};

/* The newest generation that is whole and of checkpoint->model and of state.parameters. Where the
 * file has not as many moments as the state, another optimizer wrote it: those of the file are left
 * out, those of the state become 0, and so do the steps.
 * MISSING: there is none at all, a first start; the series is set. FAILED: there are some and none
 * can be used, or the folder cannot be read; whoever starts stops and tells the user.
 * Unless OK, the vectors and own[] hold nothing of use; all else is written only then. */
enum error checkpoint_load(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, struct checkpoint_series *series,
                           const struct checkpoint_refusal *refusal,
                           struct problem *problem) MUST_USE;

#endif
