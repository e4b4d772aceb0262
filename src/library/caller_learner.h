/* The learner of a program that steps itself, as an executor sees it: a learner without a model
 * (learner.h). Once the caller's tensors are filled, they are its weights, where they can be; where
 * they cannot (caller_tensors_parts), its weights are brought up to date with them before an order,
 * and written back after it, as far as the order looks at them or moves them.
 *
 *   order ─► gather ─► learner.h ─► scatter          PUBLISH: all entries; APPLY: those it moves;
 *                                                    WRITE, SAVE: its range; READ: none
 *
 * All is the caller's thread's, in its calls, which is checked; but READ, which only looks at the
 * base and may come on the loop's (learner_link.h). Before the tensors are filled for the first
 * time, nothing is read from them or written to them.
 *
 * Tensors may be copies of what the caller trains: they are fetched before the first of them is
 * read in a call, and stored at its end, if one was written to (hearsay_options).
 */
#ifndef HEARSAY_LIBRARY_CALLER_LEARNER_H
#define HEARSAY_LIBRARY_CALLER_LEARNER_H

#include <pthread.h>

#include "executor/executor.h"
#include "library/caller_tensors.h"

/* How copies and what they are of are kept alike; NULL: the tensors are no copies. */
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
    void *stream;                  /* of the caller's GPU work, which calls come in order of */
    bool has_stream;               /* the caller has named one */
    struct weights_copy *moved;    /* the backend's: lists tensors that are no weights; or NULL */
    const struct update *gathered; /* its entries are up to date, until it is applied */
    bool is_filled;                /* the tensors follow the weights, and these those */
    bool is_fetched;               /* in this call */
    bool has_changed;              /* they were written to in this call */
};
extern const struct executor_ops caller_learner_ops; /* of a struct caller_learner */

/* This thread is inside a call now. */
void caller_learner_enter(struct caller_learner *caller);
/* Orders the next calls with this stream: neither a call nor fetch has to wait for the GPU. */
void caller_learner_follow_stream(struct caller_learner *caller, void *stream);
/* Is it this one? */
bool caller_learner_is_inside(const struct caller_learner *caller);

/* Writes the learner's weights into all tensors, which are those, or follow them, from now on. */
void caller_learner_fill(struct caller_learner *caller);
/* The learner is not used any more; its backend is still open. */
void caller_learner_free(struct caller_learner *caller);
/* Brings all weights up to date, if the tensors were filled. */
void caller_learner_gather(struct caller_learner *caller);
/* Sets weights and tensors to the base, if the tensors were filled. */
void caller_learner_revert(struct caller_learner *caller);
/* The end of a call: the caller's thread goes on with its tensors. */
void caller_learner_leave(struct caller_learner *caller);

#endif
