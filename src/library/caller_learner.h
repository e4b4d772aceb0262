/* The learner of a program that steps itself, as an executor sees it: a learner without a model
 * (learner.h), whose weights are brought up to date with the caller's tensors before an order, and
 * written back after it, as far as the order looks at them or moves them.
 *
 *   order ─► gather ─► learner.h ─► scatter          PUBLISH: all entries; APPLY: those it moves;
 *                                                    WRITE, SAVE: its range; READ: none
 *
 * All is the caller's thread's, in its calls, which is checked; but READ, which only looks at the
 * base and may come on the loop's (learner_link.h). Before the tensors are filled for the first
 * time, nothing is read from them or written to them.
 */
#ifndef HEARSAY_LIBRARY_CALLER_LEARNER_H
#define HEARSAY_LIBRARY_CALLER_LEARNER_H

#include <pthread.h>

#include "executor/executor.h"
#include "library/caller_tensors.h"

struct caller_learner {
    struct learner *learner;              /* base and weights */
    const struct caller_tensors *tensors; /* the caller's */
    pthread_t thread;                     /* the one that is inside a call, or was last */
    const struct update *gathered;        /* its entries are up to date, until it is applied */
    bool is_filled;                       /* the tensors follow the weights, and these those */
    bool has_changed;                     /* an order has written to the tensors; the reader's */
};
extern const struct executor_ops caller_learner_ops; /* of a struct caller_learner */

/* This thread is inside a call now. */
void caller_learner_enter(struct caller_learner *caller);
/* Is it this one? */
bool caller_learner_is_inside(const struct caller_learner *caller);

/* Writes the learner's weights into all tensors, which follow from now on. */
void caller_learner_fill(struct caller_learner *caller);
/* Brings all weights up to date, if the tensors were filled. */
void caller_learner_gather(struct caller_learner *caller);

#endif
