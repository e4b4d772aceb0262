/* A pool of worker processes, each of which does one numbered job after the other.
 *
 *   pool ── number ──► worker ── result ──► pool     a pipe each way,
 *                        └────── stderr ──► pool     and one for what it prints when it dies
 *
 * A worker that dies loses the job that it had, and is replaced. SIGINT and SIGTERM are blocked and
 * polled for, so no handler and nothing global is needed; workers are killed then.
 * Held by tests/unit/sim/test_storm.c and test_job_pool.c.
 */
#ifndef HEARSAY_SIM_JOBS_JOB_POOL_H
#define HEARSAY_SIM_JOBS_JOB_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_RESULT_MAX 4096 /* bytes: what a pipe takes at once */

/* Jobs from .. to, both included. Callbacks but `play` are called in this process, in no order. */
struct job_pool {
    uint64_t from;
    uint64_t to;
    uint32_t processes;
    uint32_t seconds_max; /* a job that takes longer has hung, and is lost; 0: none has */
    size_t result_bytes;  /* of each job, at most JOB_RESULT_MAX */
    void *self;           /* passed to the callbacks */
    void (*play)(void *self, uint64_t job, void *result);    /* in a worker */
    bool (*done)(void *self, const void *result);            /* false: begin no more jobs */
    bool (*lost)(void *self, uint64_t job, const char *why); /* its worker died; as above */
    void (*tick)(void *self);                                /* about ten times a second */
};

/* Returns false if Ctrl+C or SIGTERM came first. */
bool job_pool_run(const struct job_pool *pool);

#endif
