/* The saver: a thread that writes the node's checkpoints while training continues, and the exported
 * base after each.
 *
 *   node ── SAVE ─► saver_begin ──► thread
 *        ┌─► saver_next ─ SAVE of a part ─► learner ─ part, updates ─► queue ─┐  (snapshot.h)
 *        └── wake ◄──────────────── thread: checkpoint.h ◄────────────────────┘
 *   node ── node_on_saved ─► own ─► saver_end ──► thread: the end, export.h ─► wake, saver_took
 *
 * The learner is interrupted only while one part is copied, and no other thread waits for the
 * disk: the next part is requested when the previous one is written. One save runs at a time. If
 * the disk is so slow that updates no longer fit the queue, the save is abandoned; earlier
 * checkpoints stay, and the next save tries again. The event loop's thread calls the functions.
 * Tests: tests/unit/state/test_saver.c and tests/process/test_from_model.sh and
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
    const struct disk *disk;
    const char *folder; /* folder of checkpoints, bases and scores */
    const char *model;  /* the owner's text (checkpoint_owner.h) */
    /* Export of the base, written after each checkpoint; model NULL = not written. */
    struct export base;
    uint32_t older_bases; /* number of older bases to keep (older_bases.h) */
    size_t parameters;    /* parameters of the learner */
    uint32_t moments;
    size_t part_parameters; /* parameters of a part (snapshot_part_parameters) */
    size_t entries;         /* entries of updates that the queue can hold (snapshot.h) */
    bool averages;          /* also writes the averaged base (averaged_base.h) */
    /* Called on the saver's thread when results of saver_next or saver_took may have changed. */
    void (*wake)(void *waker);
    void *waker;
};

struct saver;

/* Allocates the queue. During a save, a thread also uses saver_base_bytes. */
struct saver *saver_new(const struct saver_options *options);
/* saver_queue_bytes: memory of the queue. saver_base_bytes: memory of a save for the exported base
 * and the averaged base. */
size_t saver_queue_bytes(const struct saver_options *options);
size_t saver_base_bytes(const struct saver_options *options);

/* Loads the newest good checkpoint into the learner. Sets *own to the history (*own_bytes bytes),
 * valid until the first save. MISSING: there is no checkpoint, so this is a first start. FAILED: no
 * checkpoint can be used. */
enum error saver_load(struct saver *saver, struct learner *learner,
                      const struct checkpoint_refusal *refusal, const uint8_t **own,
                      size_t *own_bytes, struct problem *problem) MUST_USE;

/* Returns the model hash of the swarm from which the loaded checkpoint's initial weights came; NULL
 * if they were the node's own. */
const uint8_t *saver_model_hash(const struct saver *saver);
/* Later checkpoints say that the initial weights came from the swarm with this model hash. */
void saver_set_model_hash(struct saver *saver, const uint8_t model_hash[static 16]);

/* Returns the generation that was loaded or saved last; 0 = none. Must not be called during a
 * save. */
uint64_t saver_generation(const struct saver *saver);

/* Returns the queue for the parts and updates of the learner (snapshot.h). */
struct snapshot_queue *saver_queue(struct saver *saver);

bool saver_is_busy(const struct saver *saver);
/* The saver must not be busy. */
void saver_begin(struct saver *saver);
/* Returns true if the learner is to copy the next part now, and sets *first to its first entry. */
bool saver_next(struct saver *saver, size_t *first);

/* Result of saver_on_taken, after the learner has copied a part. */
enum saver_taken {
    SAVER_MORE,  /* more parts are needed */
    SAVER_WHOLE, /* all parts were copied: the history is needed next */
    SAVER_BROKEN /* the snapshot was broken off (snapshot.h): the save must be abandoned */
};
enum saver_taken saver_on_taken(struct saver *saver, size_t entries);

/* Returns the buffer for the node's history. Fill it after the last part, before saver_end. */
uint8_t *saver_own(struct saver *saver);
/* score: the evaluation of this base if it is to become the best one (best_base.h), otherwise
 * NULL. */
void saver_end(struct saver *saver, size_t own_bytes, uint64_t incarnation,
               const struct evaluation *score);
/* is_slow: the reason is a slow disk, which saver_took then reports as an error. */
void saver_abandon(struct saver *saver, bool is_slow);

/* The checkpoint may be complete even if the base was not saved. */
struct saver_result {
    bool has_checkpoint;
    bool is_best; /* the base was kept as the best one, with `score` */
    struct evaluation score;
    /* first error of checkpoint, base, older bases, best base or averaged base; FAILED if the disk
     * was too slow */
    enum error error;
    struct problem problem;
};

/* Returns true once for each save that has ended. */
bool saver_took(struct saver *saver, struct saver_result *result);

/* Saves when a node ends: waits for or abandons the save under way, then saves the learner, whose
 * steps have ended. `fill` writes the history into the buffer of saver_own and returns its bytes.
 * score: see saver_end. */
enum error saver_save(struct saver *saver, struct learner *learner, uint64_t incarnation,
                      const struct evaluation *score, size_t (*fill)(void *context, uint8_t *own),
                      void *context, struct problem *problem) MUST_USE;

/* Waits for or abandons the save under way. */
void saver_free(struct saver *saver);

#endif
