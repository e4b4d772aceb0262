#include "jobs/job_pool.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#define TICK_MS       100
#define LINE_BYTES    200
#define PROCESSES_MAX 1024
#define PIPES_EACH    2 /* pipes polled for each worker: results and stderr */

struct worker {
    pid_t pid;   /* 0 = not running */
    int jobs;    /* write end of the pipe to the worker, for job numbers */
    int results; /* read end of the pipe from the worker, for results */
    int output;  /* read end of the pipe from the worker's stderr */
    bool playing;
    uint64_t job; /* number of the worker's present or last job */
    /* First line with a lowercase letter on the worker's stderr during this job. */
    char line[LINE_BYTES];
    size_t line_bytes;
};

struct crew {
    const struct job_pool *pool;
    struct worker *workers;
    uint32_t count;
    uint64_t next;    /* number of the next job to start */
    bool all_started; /* no further job will be started */
};

static _Noreturn void work_on_jobs(const struct job_pool *pool, int jobs, int results)
{
    uint64_t job;
    _Alignas(max_align_t) unsigned char result[JOB_RESULT_MAX];
    while (read(jobs, &job, sizeof job) == (ssize_t)sizeof job) {
        memset(result, 0, pool->result_bytes);
        (void)alarm(pool->seconds_max);
        pool->play(pool->self, job, result);
        (void)alarm(0);
        if (write(results, result, pool->result_bytes) != (ssize_t)pool->result_bytes)
            break;
    }
    _exit(0);
}

static void make_pipe(int ends[2])
{
    CHECK(pipe(ends) == 0);
}

static void close_ours(const struct worker *worker)
{
    (void)close(worker->jobs);
    (void)close(worker->results);
    (void)close(worker->output);
}

static void worker_start(struct crew *crew, struct worker *worker)
{
    int jobs[2], results[2], output[2];
    make_pipe(jobs);
    make_pipe(results);
    make_pipe(output);
    (void)fflush(NULL);
    *worker = (struct worker){.jobs = jobs[1], .results = results[0], .output = output[0]};
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        /* Otherwise the new worker would hold the other workers' pipes open. */
        for (uint32_t i = 0; i < crew->count; i++)
            if (crew->workers[i].pid)
                close_ours(&crew->workers[i]);
        close_ours(worker);
        CHECK(dup2(output[1], STDERR_FILENO) >= 0);
        (void)close(output[1]);
        work_on_jobs(crew->pool, jobs[0], results[1]);
    }
    worker->pid = pid;
    (void)close(jobs[0]);
    (void)close(results[1]);
    (void)close(output[1]);
}

static void worker_end(struct worker *worker, int *status)
{
    close_ours(worker);
    CHECK(waitpid(worker->pid, status, 0) == worker->pid);
    worker->pid = 0;
}

static void give_job(struct crew *crew, struct worker *worker)
{
    if (crew->all_started)
        return;
    worker->job = crew->next;
    worker->playing = true;
    worker->line_bytes = 0;
    worker->line[0] = 0;
    crew->all_started = crew->next == crew->pool->to;
    crew->next++;
    CHECK(write(worker->jobs, &worker->job, sizeof worker->job) == sizeof worker->job);
}

/* Keeps the first line with a lowercase letter, which names the failure if a CHECK or a sanitizer
 * ends the worker. */
static void read_output(struct worker *worker)
{
    char output[LINE_BYTES];
    const ssize_t count = read(worker->output, output, sizeof output);
    for (ssize_t i = 0; i < count; i++) {
        const size_t used = worker->line_bytes;
        const bool is_done = used > 0 && worker->line[used - 1] == '\n';
        if (is_done || used + 1 >= LINE_BYTES)
            return;
        if (output[i] == '\n' && !strpbrk(worker->line, "abcdefghijklmnopqrstuvwxyz")) {
            worker->line_bytes = 0;
            worker->line[0] = 0;
            continue;
        }
        worker->line[used] = output[i];
        worker->line[used + 1] = 0;
        worker->line_bytes++;
    }
}

static void replace_dead(struct crew *crew, struct worker *worker)
{
    char why[LINE_BYTES + 64];
    const bool was_playing = worker->playing;
    const uint64_t job = worker->job;
    read_output(worker);
    worker->line[strcspn(worker->line, "\n")] = 0;
    int status = 0;
    worker_end(worker, &status);
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    (void)snprintf(why, sizeof why, "the process died (%s %d): %s",
                   WIFSIGNALED(status) ? "signal" : "exit code", number,
                   number == SIGALRM ? "it took too long" : worker->line);
    worker_start(crew, worker);
    if (!was_playing)
        return;
    crew->all_started |= !crew->pool->lost(crew->pool->self, job, why);
    give_job(crew, worker);
}

static void read_result(struct crew *crew, struct worker *worker)
{
    _Alignas(max_align_t) unsigned char result[JOB_RESULT_MAX];
    const ssize_t bytes = (ssize_t)crew->pool->result_bytes;
    if (read(worker->results, result, crew->pool->result_bytes) != bytes) {
        replace_dead(crew, worker);
        return;
    }
    worker->playing = false;
    crew->all_started |= !crew->pool->done(crew->pool->self, result);
    give_job(crew, worker);
}

static bool is_interrupted(void)
{
    sigset_t pending;
    CHECK(sigpending(&pending) == 0);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

static bool is_playing(const struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++)
        if (crew->workers[i].playing)
            return true;
    return false;
}

static void poll_workers(struct crew *crew)
{
    struct pollfd ends[PROCESSES_MAX * PIPES_EACH];
    for (uint32_t i = 0; i < crew->count; i++) {
        ends[2 * i] = (struct pollfd){.fd = crew->workers[i].output, .events = POLLIN};
        ends[2 * i + 1] = (struct pollfd){.fd = crew->workers[i].results, .events = POLLIN};
    }
    if (poll(ends, crew->count * PIPES_EACH, TICK_MS) <= 0)
        return;
    for (uint32_t i = 0; i < crew->count; i++) {
        if (ends[2 * i].revents & POLLIN)
            read_output(&crew->workers[i]);
        if (ends[2 * i + 1].revents & (POLLIN | POLLHUP))
            read_result(crew, &crew->workers[i]);
    }
}

static void block(sigset_t *before)
{
    sigset_t stops;
    CHECK(sigemptyset(&stops) == 0);
    CHECK(sigaddset(&stops, SIGINT) == 0 && sigaddset(&stops, SIGTERM) == 0);
    CHECK(sigprocmask(SIG_BLOCK, &stops, before) == 0);
}

/* First takes the pending signal that stopped the pool, so that it does not kill the process. */
static void unblock(const sigset_t *before)
{
    sigset_t pending;
    int signal_number;
    CHECK(sigpending(&pending) == 0);
    if (is_interrupted())
        CHECK(sigwait(&pending, &signal_number) == 0);
    CHECK(sigprocmask(SIG_SETMASK, before, NULL) == 0);
}

bool job_pool_run(const struct job_pool *pool)
{
    CHECK(pool->from <= pool->to && pool->processes > 0);
    CHECK(pool->result_bytes > 0 && pool->result_bytes <= JOB_RESULT_MAX);
    /* The number of jobs minus 1, because the number may be 2^64. */
    const uint64_t jobs = pool->to - pool->from;
    uint32_t count = pool->processes < PROCESSES_MAX ? pool->processes : PROCESSES_MAX;
    if (jobs < count)
        count = (uint32_t)jobs + 1;
    struct crew crew = {.pool = pool,
                        .workers = memory_new(count, sizeof *crew.workers),
                        .count = count,
                        .next = pool->from};
    sigset_t before;
    block(&before);
    for (uint32_t i = 0; i < count; i++)
        worker_start(&crew, &crew.workers[i]);
    for (uint32_t i = 0; i < count; i++)
        give_job(&crew, &crew.workers[i]);
    bool stopped = false;
    while (is_playing(&crew) && !stopped) {
        poll_workers(&crew);
        pool->tick(pool->self);
        stopped = is_interrupted();
    }
    for (uint32_t i = 0; i < count; i++) {
        int status;
        CHECK(kill(crew.workers[i].pid, SIGKILL) == 0);
        worker_end(&crew.workers[i], &status);
    }
    unblock(&before);
    free(crew.workers);
    return !stopped;
}
