/* The saver: a thread that writes the node's checkpoints, and after each the exported base, while
 * training continues.
 *
 *   node ── SAVE ─► saver_begin ──► thread
 *        ┌─► saver_next ─ SAVE of a part ─► learner ─ part, updates ─► queue ─┐  (snapshot.h)
 *        └── wake ◄──────────────── thread: checkpoint.h ◄────────────────────┘
 *   node ── node_on_saved ─► own ─► saver_end ──► thread: the end, export.h ─► wake, saver_took
 *
 * The learner is interrupted only while one part is copied, and no thread waits for the disk: the
 * next part is requested when the previous one is written. One save runs at a time. If the disk is
 * so slow that updates no longer fit the queue, the save is abandoned; earlier checkpoints stay,
 * and the next save tries again. Except for the saver's thread, everything runs on the loop's
 * thread. Held by tests/unit/state/test_saver.c and tests/process/test_from_model.sh and
 * test_resume.sh.
 */
#ifndef HEARSAY_STATE_SAVER_H
#define HEARSAY_STATE_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "state/best_base.h"
#include "state/checkpoint.h"
#include "state/export.h"
#include "training/learner.h"

struct saver_options {
    const struct disk *disk;   /* disk of the checkpoints */
    const char *folder;        /* folder of the checkpoints */
    const char *model;         /* owner's text (checkpoint_owner.h) */
    struct export base;        /* file written after each checkpoint; none without a model */
    uint32_t older_bases;      /* number of older bases to keep (older_bases.h) */
    size_t parameters;         /* P of the learner */
    uint32_t moments;          /* moments of the learner's optimizer */
    size_t part_parameters;    /* entries of a part (snapshot_part_parameters) */
    size_t entries;            /* entries of updates that fit the queue (snapshot.h) */
    bool averages;             /* writes the averaged base beside the base (averaged_base.h) */
    void (*wake)(void *waker); /* called on the saver's thread when saver_next or saver_took may
                                  have changed */
    void *waker;               /* argument of wake */
};

struct saver;

/* Creates a saver. Allocates the queue's memory until saver_free, and during a save four bytes per
 * parameter for the exported base and four for the averaged base. */
struct saver *saver_new(const struct saver_options *options);
/* saver_queue_bytes returns the memory of saver_new; the next function that of a save. */
size_t saver_queue_bytes(const struct saver_options *options);
size_t saver_base_bytes(const struct saver_options *options);

/* Loads the newest good checkpoint into the learner, and the history into *own (*own_bytes; valid
 * until the first save). MISSING: a first start. FAILED: there are checkpoints, but no good one. */
enum error saver_load(struct saver *saver, struct learner *learner,
                      const struct checkpoint_refusal *refusal, const uint8_t **own,
                      size_t *own_bytes, struct problem *problem) MUST_USE;

/* The model hash of the swarm whose first weights the loaded base has; NULL: of the node's own. */
const uint8_t *saver_model_hash(const struct saver *saver);
/* Further checkpoints are of such a base. */
void saver_set_model_hash(struct saver *saver, const uint8_t model_hash[static 16]);

/* The number of the checkpoint that was loaded or saved last; 0: none. */
uint64_t saver_generation(const struct saver *saver);

/* Returns the queue for the learner's parts and updates. */
struct snapshot_queue *saver_queue(struct saver *saver);

bool saver_is_busy(const struct saver *saver);
/* Starts a save; the saver must not be busy. */
void saver_begin(struct saver *saver);
/* Returns true if the learner is to copy the part that begins with entry *first. */
bool saver_next(struct saver *saver, size_t *first);

/* Result of a part that the learner has copied. */
enum saver_taken {
    SAVER_MORE,  /* more parts follow */
    SAVER_WHOLE, /* it was the last part: the history is needed */
    SAVER_BROKEN /* the queue was full: abandon the save */
};
enum saver_taken saver_on_taken(struct saver *saver, size_t entries);

/* Returns the buffer for the node's history as of the last part; fill it before saver_end. */
uint8_t *saver_own(struct saver *saver);
/* Ends a save. score: evaluation of this base, which becomes the best one (best_base.h); NULL = it
 * does not. */
void saver_end(struct saver *saver, size_t own_bytes, uint64_t incarnation,
               const struct evaluation *score);
/* Abandons a save. is_slow: because of a slow disk, which saver_took then reports. */
void saver_abandon(struct saver *saver, bool is_slow);

/* Result of a save. The checkpoint may be complete although the base was not saved. */
struct saver_result {
    bool has_checkpoint; /* the checkpoint is complete */
    bool is_best;        /* the base was kept as the best one, with the score below */
    struct evaluation score;
    enum error error;       /* error of the checkpoint, the base or the averaged base */
    struct problem problem; /* sentence for that error */
};

/* Returns true once for each save that has ended. */
bool saver_took(struct saver *saver, struct saver_result *result);

/* Saves at the end of a node: ends the save under way, then saves the learner, which no longer
 * changes, with the score as in saver_end. `fill` writes the history to saver_own. */
enum error saver_save(struct saver *saver, struct learner *learner, uint64_t incarnation,
                      const struct evaluation *score, size_t (*fill)(void *context, uint8_t *own),
                      void *context, struct problem *problem) MUST_USE;

/* Abandons the save under way, and frees the saver. */
void saver_free(struct saver *saver);

#endif
