/* The learner of a host program that makes the steps itself: a learner without a model (learner.h).
 * An executor gives it the node's orders. If all tensors are float32, they are the weights of the
 * learner once they are filled. Otherwise the learner has its own weights: the entries that an
 * order reads or moves are copied from the tensors before the order, and back after it.
 *
 *   order ─► gather ─► learner.h ─► scatter    PUBLISH, APPLY of an own update: all entries
 *                                              APPLY: entries of the update
 *                                              WRITE: its range; SAVE: only gathers its range
 *                                              READ: none
 *
 * Everything happens on the caller's thread, inside its calls of the library; CHECKs make sure of
 * this. The exception is READ, which only reads the base and may run on the loop's thread
 * (learner_link.h). This file neither reads nor writes the tensors before caller_learner_fill.
 *
 * The tensors may be copies of the weights that the program trains. Then a call runs the program's
 * `fetch` before it reads the first tensor, and `store` at its end if it has written one
 * (hearsay_options).
 */
#ifndef HEARSAY_LIBRARY_CALLER_LEARNER_H
#define HEARSAY_LIBRARY_CALLER_LEARNER_H

#include <pthread.h>

#include "executor/executor.h"
#include "library/caller_tensors.h"

/* Callbacks of hearsay_options; NULL = the program trains the tensors themselves. */
struct caller_copies {
    void (*fetch)(void *self);
    void (*store)(void *self);
    void *self;
};

struct caller_learner {
    struct learner *learner;
    const struct caller_tensors *tensors; /* borrowed */
    struct caller_copies copies;
    /* Thread of the present or last call of the library. */
    pthread_t thread;
    /* the tensors as parts of the weights; NULL = the weights are separate, or not filled yet */
    struct weights_part *parts;
    /* the caller's CUDA stream; valid if has_stream */
    void *stream;
    bool has_stream;
    /* list of the tensors in the backend's memory; NULL = they are the weights, or not filled
     * yet */
    struct weights_copy *moved;
    /* update whose entries were copied, not applied yet; NULL = none */
    const struct update *gathered;
    /* the tensors hold the weights, since caller_learner_fill */
    bool is_filled;
    bool is_fetched;  /* the present call of the library has run `fetch` */
    bool has_changed; /* the present call of the library has written tensors */
};
extern const struct executor_ops caller_learner_ops;

/* Records the calling thread as the one inside a call of the library, at the start of each call. */
void caller_learner_enter(struct caller_learner *caller);
/* Orders the GPU work of later calls with this CUDA stream, so that `fetch` need not wait for the
 * GPU. */
void caller_learner_follow_stream(struct caller_learner *caller, void *stream);
/* Returns true if the calling thread is the one that entered last. */
bool caller_learner_is_inside(const struct caller_learner *caller);

/* Writes the weights into all tensors. From then on the tensors are the weights, or copies of
 * them. */
void caller_learner_fill(struct caller_learner *caller);
/* Call it when the learner is no longer used and its backend is still open. */
void caller_learner_free(struct caller_learner *caller);
/* Copies all tensors to the weights. Does nothing before the tensors are filled. */
void caller_learner_gather(struct caller_learner *caller);
/* Sets weights and tensors to the base. Does nothing before the tensors are filled. */
void caller_learner_revert(struct caller_learner *caller);
/* Sets the caller's statistics to the weights of the exchange (learner_reset_statistics). Does
 * nothing before the tensors are filled. */
void caller_learner_reset_statistics(struct caller_learner *caller);
/* Ends a call of the library: waits for its GPU work, or orders that work before later work of the
 * caller's stream. Runs `store` if the call has written tensors. */
void caller_learner_leave(struct caller_learner *caller);

#endif
