/* The saver: the node's checkpoints, written by a thread of their own while training goes on, and
 * after each the base for anybody.
 *
 *   learner ── learner_thread_save ──► state ─┐
 *   node ──── node_on_saved ─► own ──┴─ saver_write ─► thread ─► checkpoint.h ─► wake, saver_took
 *                                                             └► export.h
 *
 * What is written is a copy, so nobody waits for the disk. One save at a time: while one is under
 * way its memory is the thread's.
 */
#ifndef HEARSAY_STATE_SAVER_H
#define HEARSAY_STATE_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "state/export.h"
#include "state/checkpoint.h"
#include "training/learner.h"

struct saver_options {
    const char *folder;
    const char *model; /* its description */
    struct export base;
    size_t parameters;
    uint32_t moments;          /* of the learner */
    size_t own_max;            /* of the node's own bytes, a history; <= CHECKPOINT_OWN_MAX */
    void (*wake)(void *waker); /* called on the saver's thread when a save has ended */
    void *waker;
};

struct saver;

/* Twelve bytes a parameter and four for each moment, for as long as it lives. */
struct saver *saver_new(const struct saver_options *options);

/* The newest good checkpoint into the learner and *own (*own_bytes; valid until the first save).
 * MISSING: a first start. FAILED: there are some, and none is good. */
enum error saver_load(struct saver *saver, struct learner *learner,
                      const struct checkpoint_refusal *refusal, const uint8_t **own,
                      size_t *own_bytes, struct problem *problem) MUST_USE;

/* The number of the checkpoint that was loaded or saved last; 0: none. */
uint64_t saver_generation(const struct saver *saver);

bool saver_is_busy(const struct saver *saver);
struct learner_state *saver_state(struct saver *saver); /* to be filled, while it is not busy ... */
uint8_t *saver_own(struct saver *saver);                /* ... and this */

/* samples: learned by the whole swarm, as far as is known. */
void saver_write(struct saver *saver, size_t own_bytes, uint64_t incarnation, uint64_t samples);

/* How a write has ended. The checkpoint may be whole, and the base not saved. */
struct saved {
    bool has_checkpoint;
    enum error error;
    struct problem problem;
};

/* True once for each write that has ended. */
bool saver_took(struct saver *saver, struct saved *saved);

/* The end of the write under way, if there is one: OK otherwise. */
enum error saver_wait(struct saver *saver, struct problem *problem);

void saver_free(struct saver *saver); /* waits, too */

#endif
