/* The saver: a thread that writes the node's checkpoints, and after each the exported base, while
 * training goes on.
 *
 *   learner ── learner_thread_save ──► state ─┐
 *   node ──── node_on_saved ─► own ──┴─ saver_write ─► thread ─► checkpoint.h ─► wake, saver_took
 *                                                             └► export.h
 *
 * The state is copied first, so nobody waits for the disk. One save runs at a time; meanwhile the
 * memory of the state is the thread's. Held by tests/process/test_from_model.sh and test_resume.sh.
 */
#ifndef HEARSAY_STATE_SAVER_H
#define HEARSAY_STATE_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "state/checkpoint.h"
#include "state/export.h"
#include "training/learner.h"

struct saver_options {
    const char *folder;        /* of the checkpoints */
    const char *model;         /* the owner's text (checkpoint_owner.h) */
    struct export base;        /* the file written after each checkpoint */
    size_t parameters;         /* P of the learner */
    uint32_t moments;          /* of the learner's optimizer */
    size_t own_max;            /* bytes of the node's history, <= CHECKPOINT_OWN_MAX */
    void (*wake)(void *waker); /* called on the saver's thread when a save has ended */
    void *waker;               /* passed to wake */
};

struct saver;

/* Takes twelve bytes a parameter, and four for each of its moments, until it is freed. They become
 * memory when they are written to. */
struct saver *saver_new(const struct saver_options *options);

/* Loads the newest good checkpoint into the learner, and the history into *own (*own_bytes; valid
 * until the first save). MISSING: a first start. FAILED: there are checkpoints, and none is good.
 */
enum error saver_load(struct saver *saver, struct learner *learner,
                      const struct checkpoint_refusal *refusal, const uint8_t **own,
                      size_t *own_bytes, struct problem *problem) MUST_USE;

/* The number of the checkpoint that was loaded or saved last; 0: none. */
uint64_t saver_generation(const struct saver *saver);

bool saver_is_busy(const struct saver *saver);
/* What a save writes, to be filled while the saver is not busy: state, and history. */
struct learner_state *saver_state(struct saver *saver);
uint8_t *saver_own(struct saver *saver);

/* Has the system give the memory of the state now, in the thread: else the learner would wait for
 * that during the first save, many times as long as for the copying. The saver must not be busy,
 * and is for a while; the history that was loaded stays. */
void saver_touch(struct saver *saver);

/* Begins a save; the saver must not be busy. */
void saver_write(struct saver *saver, size_t own_bytes, uint64_t incarnation);

/* How a save has ended. The checkpoint may be whole, and the base not saved. */
struct saved {
    bool has_checkpoint;    /* the checkpoint is whole */
    enum error error;       /* of the checkpoint, or of the base */
    struct problem problem; /* of that error */
};

/* True once for each save that has ended. */
bool saver_took(struct saver *saver, struct saved *saved);

/* Waits for the save under way, if there is one, and returns its error; OK otherwise. */
enum error saver_wait(struct saver *saver, struct problem *problem);

/* Waits, too. */
void saver_free(struct saver *saver);

#endif
