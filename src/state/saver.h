/* The saver: a thread that writes the node's checkpoints, and after each the exported base, while
 * training goes on.
 *
 *   node ── SAVE ─► saver_begin ──► thread
 *        ┌─► saver_next ─ SAVE of a part ─► learner ─ part, updates ─► queue ─┐  (snapshot.h)
 *        └── wake ◄──────────────── thread: checkpoint.h ◄────────────────────┘
 *   node ── node_on_saved ─► own ─► saver_end ──► thread: the end, export.h ─► wake, saver_took
 *
 * The learner is held for as long as it takes to copy one part, and nobody waits for the disk: the
 * next part is asked for when the one before is written. One save runs at a time. Where the disk is
 * so slow that the queue has no room for what happens meanwhile, the save is abandoned; what was
 * saved before still is, and the next save may have more luck.
 * All but the thread is the loop's. Held by tests/unit/state/test_saver.c and
 * tests/process/test_from_model.sh and test_resume.sh.
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
    const struct disk *disk;   /* where checkpoints are kept */
    const char *folder;        /* of the checkpoints */
    const char *model;         /* the owner's text (checkpoint_owner.h) */
    struct export base;        /* the file written after each checkpoint; without a model: none */
    uint32_t older_bases;      /* how many from before are kept (older_bases.h) */
    size_t parameters;         /* P of the learner */
    uint32_t moments;          /* of the learner's optimizer */
    size_t part_parameters;    /* entries that are taken at once (snapshot_part_parameters) */
    size_t entries;            /* of updates that the queue has room for (snapshot.h) */
    bool averages;             /* the averaged base is a file beside the base (averaged_base.h) */
    void (*wake)(void *waker); /* called on the saver's thread when saver_next or saver_took may
                                  have changed */
    void *waker;               /* passed to wake */
};

struct saver;

/* Takes the queue's memory until it is freed, and during a save four bytes per parameter for the
 * exported base and four for the averaged base. */
struct saver *saver_new(const struct saver_options *options);
/* Memory of saver_new, and of a save. */
size_t saver_queue_bytes(const struct saver_options *options);
size_t saver_base_bytes(const struct saver_options *options);

/* Loads the newest good checkpoint into the learner, and the history into *own (*own_bytes; valid
 * until the first save). MISSING: a first start. FAILED: there are checkpoints, and none is good.
 */
enum error saver_load(struct saver *saver, struct learner *learner,
                      const struct checkpoint_refusal *refusal, const uint8_t **own,
                      size_t *own_bytes, struct problem *problem) MUST_USE;

/* The model hash of the swarm whose first weights the loaded base has; NULL: of the node's own. */
const uint8_t *saver_model_hash(const struct saver *saver);
/* Further checkpoints are of such a base. */
void saver_set_model_hash(struct saver *saver, const uint8_t model_hash[static 16]);

/* The number of the checkpoint that was loaded or saved last; 0: none. */
uint64_t saver_generation(const struct saver *saver);

/* Where the learner puts its parts and its updates. */
struct snapshot_queue *saver_queue(struct saver *saver);

bool saver_is_busy(const struct saver *saver);
/* Begins a save; the saver must not be busy. */
void saver_begin(struct saver *saver);
/* True: the learner is to take the part that begins with this entry. */
bool saver_next(struct saver *saver, size_t *first);

/* Memory that was allocated. */
enum saver_taken {
    SAVER_MORE,  /* parts are left */
    SAVER_WHOLE, /* it was the last: the history is wanted */
    SAVER_BROKEN /* there was no room: to be abandoned */
};
enum saver_taken saver_on_taken(struct saver *saver, size_t entries);

/* Where the node's history goes, of the moment in which the last part was taken: before saver_end.
 */
uint8_t *saver_own(struct saver *saver);
/* score: of this base, which becomes the best one (best_base.h); NULL: it does not. */
void saver_end(struct saver *saver, size_t own_bytes, uint64_t incarnation,
               const struct evaluation *score);
/* is_slow: because the disk is, which saver_took then says. */
void saver_abandon(struct saver *saver, bool is_slow);

/* How a save has ended. The checkpoint may be whole, and the base not saved. */
struct saver_result {
    bool has_checkpoint; /* the checkpoint is whole */
    bool is_best;        /* the base was kept as the best one, with this score: */
    struct evaluation score;
    enum error error;       /* of the checkpoint, the base or the averaged base */
    struct problem problem; /* of that error */
};

/* True once for each save that has ended. */
bool saver_took(struct saver *saver, struct saver_result *result);

/* For the end of a node: ends the save under way, and makes one of a learner that stands still,
 * with the score of saver_end. The history is in saver_own when fill has been called. */
enum error saver_save(struct saver *saver, struct learner *learner, uint64_t incarnation,
                      const struct evaluation *score, size_t (*fill)(void *context, uint8_t *own),
                      void *context, struct problem *problem) MUST_USE;

/* Abandons the save under way. */
void saver_free(struct saver *saver);

#endif
