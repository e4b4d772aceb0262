/* Several GPUs of one machine that work for one learner.
 *
 *   the first    weights ──broadcast──► weights    the others
 *                gradients ◄──reduce── gradients
 *
 * Each call goes into the streams of all of them, in the order of the calls of each backend: what a
 * backend was asked before is done before, and what it is asked later is done later. A GPU that
 * fails ends the process, as with any other operation (backend.h).
 * Held by tests/unit/model/test_data_parallel.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_TEAM_H
#define HEARSAY_MODEL_BACKEND_TEAM_H

#include <stddef.h>

#include "backend/backend.h"

#define TEAM_MAX 16

struct team {
    int count;                         /* devices, at least 2 */
    struct backend *backend[TEAM_MAX]; /* [count]; the first is lent, the others are the team's */

    /* Copies `count` numbers from memory[0] to those of the others; memory[i] is of backend[i]. */
    void (*broadcast)(struct team *, float *const memory[], size_t count);
    /* memory[0] becomes the sum of all memory[i], which stay as they are. */
    void (*reduce)(struct team *, float *const memory[], size_t count);
    /* Ends the team and all of its backends but the first; what was taken of them must have been
     * given back. */
    void (*close)(struct team *);
};

#endif
