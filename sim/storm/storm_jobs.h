/* A pool of worker processes that play storms.
 *
 *   pool ── seed ──► worker ── struct storm ──► pool     a pipe each way,
 *                      └────── stderr ─────────► pool     and one for what it prints when it dies
 *
 * A worker that dies fails the seed that it was playing, and is replaced. SIGINT and SIGTERM are
 * blocked and polled for, so no handler and nothing global is needed.
 * Held by tests/unit/sim/test_storm.c.
 */
#ifndef HEARSAY_SIM_STORM_STORM_JOBS_H
#define HEARSAY_SIM_STORM_STORM_JOBS_H

#include "storm/storm.h"

/* Worker processes play seeds from .. to; `done` is called here with each result, in
 * no order. A worker that dies fails its seed. Returns false if Ctrl+C or SIGTERM came first. */
struct storm_jobs {
    uint64_t from; /* first seed */
    uint64_t to;   /* last seed */
    uint32_t jobs; /* worker processes */
    bool stop;     /* start no seed after a failure */
    void *self;    /* passed to the callbacks */
    void (*play)(void *self, uint64_t seed, struct storm *storm);
    void (*done)(void *self, const struct storm *storm);
    void (*tick)(void *self); /* about ten times a second */
};
bool storm_jobs_run(const struct storm_jobs *jobs);

#endif
