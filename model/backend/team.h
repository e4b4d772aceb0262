/* A team: several GPUs of one machine that work for one learner.
 *
 *   first GPU    weights ──broadcast──► weights    other GPUs
 *                gradients ◄──reduce── gradients
 *
 * broadcast and reduce are queued in the streams of all GPUs: after all earlier calls of each
 * backend, and before all later calls. If a GPU fails, the process ends, as in any other operation
 * (backend.h). Tests: tests/unit/model/test_data_parallel.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_TEAM_H
#define HEARSAY_MODEL_BACKEND_TEAM_H

#include <stddef.h>

#include "backend/backend.h"

#define TEAM_MAX 16

struct team {
    int count; /* number of devices, at least 2 */
    /* [count] backends. The team owns all except the first. */
    struct backend *backend[TEAM_MAX];

    /* Copies `count` numbers from memory[0] to each other memory[i], which belongs to
     * backend[i]. */
    void (*broadcast)(struct team *, float *const memory[], size_t count);
    /* Sets memory[0] to the sum of all memory[i]. The other memories stay unchanged. */
    void (*reduce)(struct team *, float *const memory[], size_t count);
    /* Closes the team and all of its backends except the first. All memory of the closed backends
     * must have been freed. */
    void (*close)(struct team *);
};

#endif
