/* The learner of a host program that makes the steps itself: a learner without a model (learner.h).
 * An executor gives it the node's orders. If all tensors are float32, they are the weights of the
 * learner once they are filled. Otherwise the learner has its own weights: the entries that an
 * order reads or moves are copied from the tensors before the order, and back after it.
 *
 *   order ─► gather ─► learner.h ─► scatter          PUBLISH: all entries; APPLY: entries of the
 *                                                    update; WRITE, SAVE: their range; READ: none
 *
 * Everything happens on the caller's thread, inside its calls of the library; CHECKs make sure of
 * this. The exception is READ, which only reads the base and may run on the loop's thread
 * (learner_link.h). The tensors are neither read nor written before they are filled for the first
 * time.
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

/* The program's callbacks that synchronize the tensors with the weights that it trains; NULL = it
 * trains the tensors themselves. */
struct caller_copies {
    void (*fetch)(void *self);
    void (*store)(void *self);
    void *self;
};

struct caller_learner {
    struct learner *learner;              /* base and weights */
    const struct caller_tensors *tensors; /* the program's tensors; borrowed */
    struct caller_copies copies;          /* callbacks, for tensors that are copies */
    /* Thread that is inside a call of the library, or was inside the last one. */
    pthread_t thread;
    /* The tensors as parts of the weights; NULL = the weights are separate. */
    struct weights_part *parts;
    /* The caller's CUDA stream, with which the GPU work of the library's calls is ordered. */
    void *stream;
    bool has_stream; /* the caller has named a stream */
    /* List of the tensors in the backend's memory; NULL = they are the weights. */
    struct weights_copy *moved;
    /* Update whose entries were copied and that is not applied yet; NULL = none. */
    const struct update *gathered;
    /* caller_learner_fill was called: the program's tensors now hold the weights. */
    bool is_filled;
    bool is_fetched;  /* the present call of the library has run `fetch` */
    bool has_changed; /* the present call of the library has written tensors */
};
extern const struct executor_ops caller_learner_ops; /* operations of a struct caller_learner */

/* Records that this thread is now inside a call of the library. */
void caller_learner_enter(struct caller_learner *caller);
/* Orders the GPU work of later calls of the library with this CUDA stream, so that neither a
 * call nor `fetch` waits for the GPU. */
void caller_learner_follow_stream(struct caller_learner *caller, void *stream);
/* Returns true if the calling thread is the one that entered last. */
bool caller_learner_is_inside(const struct caller_learner *caller);

/* Writes the learner's weights into all tensors. From then on the tensors are the weights, or
 * copies of them. */
void caller_learner_fill(struct caller_learner *caller);
/* Frees the lists of the tensors. Call it when the learner is no longer used and its backend is
 * still open. */
void caller_learner_free(struct caller_learner *caller);
/* Copies all weights from the tensors to the learner. Does nothing before the tensors are
 * filled. */
void caller_learner_gather(struct caller_learner *caller);
/* Sets weights and tensors to the base. Does nothing before the tensors are filled. */
void caller_learner_revert(struct caller_learner *caller);
/* Ends a call of the library: the caller's later GPU work then waits for the GPU work of this
 * call. Runs `store` if the call has written tensors. */
void caller_learner_leave(struct caller_learner *caller);

#endif
