/* The learner of a host program that makes the steps itself, for an executor: a learner without a
 * model (learner.h). If possible (caller_tensors_parts), the caller's tensors are its weights once
 * they are filled. Otherwise the entries that an order reads or moves are copied from the tensors
 * before it, and back after it.
 *
 *   order ─► gather ─► learner.h ─► scatter          PUBLISH: all entries; APPLY: those it moves;
 *                                                    WRITE, SAVE: its range; READ: none
 *
 * Everything happens on the caller's thread, inside its calls, which is checked. The exception is
 * READ, which only reads the base and may run on the loop's thread (learner_link.h). Before the
 * tensors are filled for the first time, they are neither read nor written.
 *
 * Tensors may be copies of what the caller trains. Then a call fetches them before it reads the
 * first one, and stores them at its end if it has written one (hearsay_options).
 */
#ifndef HEARSAY_LIBRARY_CALLER_LEARNER_H
#define HEARSAY_LIBRARY_CALLER_LEARNER_H

#include <pthread.h>

#include "executor/executor.h"
#include "library/caller_tensors.h"

/* Callbacks that synchronize copies with their originals; NULL = the tensors are no copies. */
struct caller_copies {
    void (*fetch)(void *self);
    void (*store)(void *self);
    void *self;
};

struct caller_learner {
    struct learner *learner;              /* base and weights */
    const struct caller_tensors *tensors; /* the caller's */
    struct caller_copies copies;          /* what they may be */
    pthread_t thread;                     /* the one that is inside a call, or was last */
    struct weights_part *parts;           /* ours: the tensors are the weights; or NULL */
    void *stream;                         /* CUDA stream of the caller; calls are ordered with it */
    bool has_stream;                      /* the caller has named one */
    struct weights_copy *moved;    /* the backend's: lists tensors that are no weights; or NULL */
    const struct update *gathered; /* its entries are up to date, until it is applied */
    bool is_filled;                /* the tensors follow the weights, and these those */
    bool is_fetched;               /* in this call */
    bool has_changed;              /* they were written to in this call */
};
extern const struct executor_ops caller_learner_ops; /* operations of a struct caller_learner */

/* Records that this thread is inside a call now. */
void caller_learner_enter(struct caller_learner *caller);
/* Orders the next calls with this stream: neither a call nor fetch has to wait for the GPU. */
void caller_learner_follow_stream(struct caller_learner *caller, void *stream);
/* Is it this one? */
bool caller_learner_is_inside(const struct caller_learner *caller);

/* Writes the learner's weights into all tensors. From now on the tensors are the weights, or follow
 * them. */
void caller_learner_fill(struct caller_learner *caller);
/* The learner is not used any more; its backend is still open. */
void caller_learner_free(struct caller_learner *caller);
/* Copies all weights from the tensors, if these were filled. */
void caller_learner_gather(struct caller_learner *caller);
/* Sets weights and tensors to the base, if the tensors were filled. */
void caller_learner_revert(struct caller_learner *caller);
/* Ends a call: from now on the caller's thread uses its tensors. */
void caller_learner_leave(struct caller_learner *caller);

#endif
