/* A pool of worker processes, each of which runs numbered jobs in sequence.
 *
 *   pool ── number ──► worker ── result ──► pool     a pipe each way,
 *                        └────── stderr ──► pool     and one for the worker's stderr
 *
 * A worker that dies loses its job and is replaced. SIGINT and SIGTERM are blocked and polled, so
 * no signal handler or global state is needed; the pool then kills the workers. Tests:
 * tests/unit/sim/test_storm.c and test_job_pool.c.
 */
#ifndef HEARSAY_SIM_JOBS_JOB_POOL_H
#define HEARSAY_SIM_JOBS_JOB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes that one write to a pipe transfers without interleaving with other writes. */
#define JOB_RESULT_MAX 4096

/* Jobs number `from` to `to`, both included. All callbacks except `play` run in the calling
 * process. Jobs finish in no fixed order. */
struct job_pool {
    uint64_t from;
    uint64_t to;
    uint32_t processes;
    uint32_t seconds_max; /* seconds after which a job counts as hung and is lost; 0 = unlimited */
    size_t result_bytes;  /* size of each result, at most JOB_RESULT_MAX */
    void *self;           /* first argument of every callback */
    void (*play)(void *self, uint64_t job, void *result); /* plays a job in a worker process */
    /* Handles a result. Returns false to start no more jobs. */
    bool (*done)(void *self, const void *result);
    /* Handles a job whose worker died. why: reason of the death. Returns false to start no more
     * jobs. */
    bool (*lost)(void *self, uint64_t job, const char *why);
    void (*tick)(void *self); /* called about ten times a second */
};

/* Runs the jobs. Returns false if Ctrl+C or SIGTERM interrupted them. */
bool job_pool_run(const struct job_pool *pool);

#endif
