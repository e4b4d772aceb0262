/* A team: several GPUs of one machine that work for one learner.
 *
 *   the first    weights ──broadcast──► weights    the others
 *                gradients ◄──reduce── gradients
 *
 * Each call is queued in the streams of all GPUs: after all earlier calls of each backend, and
 * before all later ones. A GPU that fails ends the process, as with any other operation
 * (backend.h). Held by tests/unit/model/test_data_parallel.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_TEAM_H
#define HEARSAY_MODEL_BACKEND_TEAM_H

#include <stddef.h>

#include "backend/backend.h"

#define TEAM_MAX 16

struct team {
    int count; /* devices, at least 2 */
    /* [count] backends; the first is borrowed, the team owns the others. */
    struct backend *backend[TEAM_MAX];

    /* Copies `count` numbers from memory[0] to the memory of the others; memory[i] belongs to
     * backend[i]. */
    void (*broadcast)(struct team *, float *const memory[], size_t count);
    /* Sets memory[0] to the sum of all memory[i]; the others stay unchanged. */
    void (*reduce)(struct team *, float *const memory[], size_t count);
    /* Closes the team and all of its backends except the first. All memory of the others must have
     * been freed. */
    void (*close)(struct team *);
};

#endif
