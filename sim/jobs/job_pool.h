/* A pool of worker processes, each of which runs numbered jobs in sequence.
 *
 *   pool ── number ──► worker ── result ──► pool     a pipe each way,
 *                        └────── stderr ──► pool     and one for the worker's stderr
 *
 * A worker that dies loses its job and is replaced. SIGINT and SIGTERM are blocked and polled, so
 * no signal handler or global state is needed; after such a signal the pool kills the workers.
 * Tests: tests/unit/sim/test_storm.c and test_job_pool.c.
 */
#ifndef HEARSAY_SIM_JOBS_JOB_POOL_H
#define HEARSAY_SIM_JOBS_JOB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_RESULT_MAX 4096 /* PIPE_BUF: a write of this size to a pipe is atomic */

/* Jobs finish in no fixed order. All callbacks except `play` run in the calling process. */
struct job_pool {
    uint64_t from;
    uint64_t to; /* last job, included */
    uint32_t processes;
    uint32_t seconds_max; /* seconds after which a job counts as hung and is lost; 0 = unlimited */
    size_t result_bytes;  /* size of each result, at most JOB_RESULT_MAX */
    void *self;
    /* Runs a job in a worker process and writes result[result_bytes], which is zeroed before. */
    void (*play)(void *self, uint64_t job, void *result);
    /* Called with the result of a finished job. Returns false to start no more jobs. */
    bool (*done)(void *self, const void *result);
    /* Called when a job's worker has died. Returns false to start no more jobs. */
    bool (*lost)(void *self, uint64_t job, const char *why);
    void (*tick)(void *self); /* called after each poll, which lasts at most 0.1 s */
};

/* Returns false if Ctrl+C or SIGTERM interrupted the jobs. */
bool job_pool_run(const struct job_pool *pool);

#endif
