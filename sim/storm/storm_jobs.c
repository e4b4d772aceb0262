#include "storm/storm_jobs.h"

#include <ctype.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#define TICK_MS       100
#define SEED_MAX_S    600 /* a seed that takes longer has hung */
#define LINE_BYTES    200
#define JOBS_MAX      1024
#define PIPES_PER_JOB 2 /* polled for input */

struct worker {
    pid_t pid;             /* 0: not running */
    int seeds;             /* pipe to it */
    int storms;            /* pipe from it: results */
    int output;            /* pipe from it: stderr */
    bool playing;          /* it has a seed */
    uint64_t seed;         /* its current or last seed */
    char line[LINE_BYTES]; /* first line of its stderr */
    size_t line_bytes;
};

struct worker_pool {
    const struct storm_jobs *jobs;
    struct worker *workers;
    uint32_t count;
    uint64_t next;    /* seed to play next */
    bool all_started; /* no seed is left */
};

static _Noreturn void work(const struct storm_jobs *jobs, int seeds, int storms)
{
    uint64_t seed;
    while (read(seeds, &seed, sizeof seed) == (ssize_t)sizeof seed) {
        struct storm storm;
        (void)alarm(SEED_MAX_S);
        jobs->play(jobs->self, seed, &storm);
        (void)alarm(0);
        if (write(storms, &storm, sizeof storm) != (ssize_t)sizeof storm)
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
    (void)close(worker->seeds);
    (void)close(worker->storms);
    (void)close(worker->output);
}

static void worker_start(struct worker_pool *pool, struct worker *worker)
{
    int seeds[2], storms[2], output[2];
    make_pipe(seeds);
    make_pipe(storms);
    make_pipe(output);
    (void)fflush(NULL);
    *worker = (struct worker){.seeds = seeds[1], .storms = storms[0], .output = output[0]};
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        for (uint32_t i = 0; i < pool->count;
             i++) /* or they would keep other workers' pipes open */
            if (pool->workers[i].pid)
                close_ours(&pool->workers[i]);
        close_ours(worker);
        CHECK(dup2(output[1], STDERR_FILENO) >= 0);
        (void)close(output[1]);
        work(pool->jobs, seeds[0], storms[1]);
    }
    worker->pid = pid;
    (void)close(seeds[0]);
    (void)close(storms[1]);
    (void)close(output[1]);
}

static void worker_end(struct worker *worker, int *status)
{
    close_ours(worker);
    CHECK(waitpid(worker->pid, status, 0) == worker->pid);
    worker->pid = 0;
}

static void give_seed(struct worker_pool *pool, struct worker *worker)
{
    if (pool->all_started)
        return;
    worker->seed = pool->next;
    worker->playing = true;
    worker->line_bytes = 0;
    worker->line[0] = 0;
    pool->all_started = pool->next == pool->jobs->to;
    pool->next++;
    CHECK(write(worker->seeds, &worker->seed, sizeof worker->seed) == sizeof worker->seed);
}

static void finish(struct worker_pool *pool, const struct storm *storm)
{
    pool->jobs->done(pool->jobs->self, storm);
    if (storm->why[0] && pool->jobs->stop)
        pool->all_started = true;
}

/* Keep the first line with a word in it, where a CHECK or a sanitizer says what is wrong. */
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

static void replace_dead(struct worker_pool *pool, struct worker *worker)
{
    struct storm storm = {.seed = worker->seed, .heal_s = NAN};
    const bool was_playing = worker->playing;
    read_output(worker);
    worker->line[strcspn(worker->line, "\n")] = 0;
    int status = 0;
    worker_end(worker, &status);
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    (void)snprintf(storm.why, sizeof storm.why, "the process died (%s %d): %s",
                   WIFSIGNALED(status) ? "signal" : "exit code", number,
                   number == SIGALRM ? "it took too long" : worker->line);
    worker_start(pool, worker);
    if (!was_playing)
        return;
    finish(pool, &storm);
    give_seed(pool, worker);
}

static void read_storm(struct worker_pool *pool, struct worker *worker)
{
    struct storm storm;
    if (read(worker->storms, &storm, sizeof storm) != (ssize_t)sizeof storm) {
        replace_dead(pool, worker);
        return;
    }
    worker->playing = false;
    finish(pool, &storm);
    give_seed(pool, worker);
}

static bool is_interrupted(void)
{
    sigset_t pending;
    CHECK(sigpending(&pending) == 0);
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}

static bool is_playing(const struct worker_pool *pool)
{
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->workers[i].playing)
            return true;
    return false;
}

static void poll_workers(struct worker_pool *pool)
{
    struct pollfd ends[JOBS_MAX * PIPES_PER_JOB];
    for (uint32_t i = 0; i < pool->count; i++) {
        ends[2 * i] = (struct pollfd){.fd = pool->workers[i].output, .events = POLLIN};
        ends[2 * i + 1] = (struct pollfd){.fd = pool->workers[i].storms, .events = POLLIN};
    }
    if (poll(ends, pool->count * PIPES_PER_JOB, TICK_MS) <= 0)
        return;
    for (uint32_t i = 0; i < pool->count; i++) {
        if (ends[2 * i].revents & POLLIN)
            read_output(&pool->workers[i]);
        if (ends[2 * i + 1].revents & (POLLIN | POLLHUP))
            read_storm(pool, &pool->workers[i]);
    }
}

static void block(sigset_t *before)
{
    sigset_t stops;
    CHECK(sigemptyset(&stops) == 0);
    CHECK(sigaddset(&stops, SIGINT) == 0 && sigaddset(&stops, SIGTERM) == 0);
    CHECK(sigprocmask(SIG_BLOCK, &stops, before) == 0);
}

/* Consume the signal that stopped the pool. */
static void unblock(const sigset_t *before)
{
    sigset_t pending;
    int signal_number;
    CHECK(sigpending(&pending) == 0);
    if (is_interrupted())
        CHECK(sigwait(&pending, &signal_number) == 0);
    CHECK(sigprocmask(SIG_SETMASK, before, NULL) == 0);
}

bool storm_jobs_run(const struct storm_jobs *jobs)
{
    const uint64_t seeds = jobs->to - jobs->from; /* less one */
    uint32_t count = jobs->jobs < JOBS_MAX ? jobs->jobs : JOBS_MAX;
    if (seeds < count)
        count = (uint32_t)seeds + 1;
    struct worker_pool pool = {.jobs = jobs,
                               .workers = memory_new(count, sizeof *pool.workers),
                               .count = count,
                               .next = jobs->from};
    sigset_t before;
    block(&before);
    for (uint32_t i = 0; i < count; i++)
        worker_start(&pool, &pool.workers[i]);
    for (uint32_t i = 0; i < count; i++)
        give_seed(&pool, &pool.workers[i]);
    bool stopped = false;
    while (is_playing(&pool) && !stopped) {
        poll_workers(&pool);
        jobs->tick(jobs->self);
        stopped = is_interrupted();
    }
    for (uint32_t i = 0; i < count; i++) {
        int status;
        CHECK(kill(pool.workers[i].pid, SIGKILL) == 0);
        worker_end(&pool.workers[i], &status);
    }
    unblock(&before);
    free(pool.workers);
    return !stopped;
}
