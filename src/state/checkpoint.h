/* A node's checkpoints, from which it continues after kill -9, a power cut or a disk error.
 *
 *   learner, in parts (snapshot.h) ── put ─┐                               ┌─► replay, part by part
 *   numbers, the node's history ───── end ─┴─► FOLDER/checkpoint-N ─ load ─┴─► numbers, history
 *
 * Each save writes a new file, generation N (atomic_file.h). Once it is complete and durable, all
 * generations before the previous good one are removed. So after the first save there is always a
 * good generation to load: after a crash during save k+1, a load restores k or k+1, bit for bit. A
 * generation that is incomplete, damaged, or of another model or format is reported, and the next
 * older one is tried. Tests: tests/unit/state/test_checkpoint.c (crashes, failures), test_rot.c
 * (damage, files of other nodes) and test_checkpoint_records.c (valid contents).
 *
 * A checkpoint is a checksummed stream (checksummed_stream.h), little-endian, whose series is its
 * generation. It begins with a header:
 *   OFFSET  SIZE  MEANING
 *   0       8     "hearsayC"
 *   8       4     format: 5
 *   12      4     s: moments of the optimizer, <= LEARNER_MOMENTS_MAX
 *   16      8     generation, as in the file's name
 *   24      8     P: parameters
 *   32      4     entries of a part; the last part may have fewer
 *   36      4     m: bytes of the owner's text, <= CHECKPOINT_MODEL_MAX
 *   40      m     the owner's text (checkpoint_owner.h)
 * Records follow in the order in which the learner made them (snapshot.h). Each has a head of 20
 * bytes:
 *   0       4     kind: 1 a part, 2 an applied update, 3 an own update, 4 the end
 *   4       4     n: entries of a part or an update; for the end, bytes of the history
 *   8       4     tau of an update, float32; 0 in other records
 *   12      4     amount of an update; 0 in other records
 *   16      4     beta of an update, float32; 0 in other records
 * and then data:
 *   a part: base int32[n], weights float32[n], moments float32[s][n]; its first entry follows the
 *           last entry of the previous part
 *   an update: index uint32[n], strictly increasing, only entries of earlier parts; level int8[n]
 *   the end: the history (history.h), and these numbers (most are fields of learner_state.h)
 *     0     8     incarnation of the node that wrote the file
 *     8     8     samples
 *     16    8     swarm samples
 *     24    8     steps
 *     32    8     epoch
 *     40    8     state of the random walk
 *     48    4     index of the next sample in the epoch
 *     52    4     samples per step
 *     56    8     digest of the base (digest.h) after all updates
 *
 * A load also accepts format 4, of the previous release. Its heads have 16 bytes, without beta.
 * Kind 4 is an outer step (n = 0), which moved only weights, and kind 5 is the end. A part has n
 * further 4-byte numbers after the base. A load skips these numbers and the outer steps: the
 * weights lose momentum, but no progress.
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
    /* the owner's text (checkpoint_owner.h); a load refuses other texts, except this text with a
     * swarm as START */
    const char *model;
    /* if has_taken_first: model hash of the swarm that sent the initial weights */
    uint8_t model_hash[16];
    /* the initial weights came from a swarm */
    bool has_taken_first;
    /* numbers of the learner and sizes of its vectors, without the vectors */
    struct learner_state state;
    /* [CHECKPOINT_OWN_MAX] the history of the node; a save needs only own_bytes */
    uint8_t *own;
    size_t own_bytes;
    uint64_t incarnation; /* incarnation of the node that wrote the checkpoint */
    uint64_t digest;      /* digest of the base; a save computes it */
};

/* A load sets the numbers, and each save advances them. */
struct checkpoint_series {
    /* Generation of the next save: higher than all in the folder; each save raises it, even one
     * that fails. */
    uint64_t next;
    uint64_t good; /* newest generation that was loaded or completely saved; 0 = none */
};

struct checkpoint_writer {
    const struct disk *disk; /* borrowed, like folder */
    const char *folder;
    char name[CHECKPOINT_NAME_MAX];
    uint64_t generation;
    uint64_t digest; /* digest of the part of the base that was written so far */
    struct atomic_file file;
    struct checksummed_writer stream;
};

/* Begins generation series->next, in parts of part_parameters entries. Reads only model,
 * state.parameters and state.moments of *checkpoint. The caller then puts all records of a
 * snapshot, and ends or abandons the file. Writers of different series share no data, so each may
 * run on its own thread. */
void checkpoint_begin(struct checkpoint_writer *writer, const struct disk *disk, const char *folder,
                      const struct checkpoint *checkpoint, size_t part_parameters,
                      struct checkpoint_series *series);
void checkpoint_put(struct checkpoint_writer *writer, const struct snapshot_record *record);

/* Completes the file with the numbers and the history in *checkpoint, and sets checkpoint->digest.
 * FAILED: earlier generations stay valid, the new file is removed if the disk allows it, and the
 * next save uses a new number. If an older generation cannot be removed, the next save tries
 * again. */
enum error checkpoint_end(struct checkpoint_writer *writer, struct checkpoint *checkpoint,
                          struct checkpoint_series *series, struct problem *problem) MUST_USE;
/* Earlier generations stay valid. */
void checkpoint_abandon(struct checkpoint_writer *writer);

/* Called for each generation that a load refuses, newest first, with the reason as a sentence. */
struct checkpoint_refusal {
    void *context;
    void (*refused)(void *context, const struct problem *problem);
};

/* Receives the parts and updates of a file in order, each after its checksum was verified. If
 * damage is found later in the file, the records of an older file follow, from the first entry
 * on. */
struct checkpoint_target {
    void *self;
    /* NULL = the file is only checked */
    void (*replay)(void *self, const struct snapshot_record *record);
};

/* Loads the newest usable generation, and sets the series. A usable generation
 *   - is complete, undamaged, and of a known format;
 *   - has state.parameters parameters;
 *   - has checkpoint->model as the owner's text, or that text with a swarm as START
 *     (checkpoint_owner.h).
 * If it has another number of moments, another optimizer wrote it: then moments and steps become 0.
 *
 * MISSING: there is no checkpoint, so this is a first start. FAILED: no checkpoint can be used, or
 * the folder cannot be read; the caller must stop and tell the user. Only after OK are *checkpoint,
 * own[] and the data of the target valid. */
enum error checkpoint_load(const struct disk *disk, const char *folder,
                           struct checkpoint *checkpoint, const struct checkpoint_target *target,
                           struct checkpoint_series *series,
                           const struct checkpoint_refusal *refusal,
                           struct problem *problem) MUST_USE;

#endif
