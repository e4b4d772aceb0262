/* Many storms at once: processes that are given seeds and give back what came of them.
 *
 *   here ── seed ──► worker ── struct storm ──► here        one pipe each way,
 *                      └────── what it says when it dies ─►  and one from its stderr
 *
 * A worker that dies fails the seed that it was playing and is replaced. Ctrl+C is kept pending
 * and asked for, so that no handler and nothing global is needed.
 */
#include <ctype.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm/storm_inside.h"

#define TICK_MS       100
#define SEED_MOST_S   600 /* a seed that takes longer hangs */
#define LINE_BYTES    200
#define JOBS_MAX      1024
#define PIPES_PER_JOB 2 /* that are listened to */

struct worker {
    pid_t pid;         /* 0: not running */
    int seeds;         /* to it */
    int storms, words; /* from it */
    bool playing;
    uint64_t seed;
    char line[LINE_BYTES]; /* the first that it said */
    size_t line_bytes;
};

struct crew {
    const struct storm_jobs *jobs;
    struct worker *workers;
    uint32_t count;
    uint64_t next; /* seed to play */
    bool all_begun;
};

/* In the worker. */

static _Noreturn void work(const struct storm_jobs *jobs, int seeds, int storms)
{
    uint64_t seed;
    while (read(seeds, &seed, sizeof seed) == (ssize_t)sizeof seed) {
        struct storm storm;
        (void)alarm(SEED_MOST_S);
        jobs->play(jobs->self, seed, &storm);
        (void)alarm(0);
        if (write(storms, &storm, sizeof storm) != (ssize_t)sizeof storm)
            break;
    }
    _exit(0);
}

/* Birth and death. */

static void make_pipe(int ends[2])
{
    CHECK(pipe(ends) == 0);
}

static void close_ours(const struct worker *worker)
{
    (void)close(worker->seeds);
    (void)close(worker->storms);
    (void)close(worker->words);
}

static void worker_start(struct crew *crew, struct worker *worker)
{
    int seeds[2], storms[2], words[2];
    make_pipe(seeds);
    make_pipe(storms);
    make_pipe(words);
    (void)fflush(NULL);
    *worker = (struct worker){.seeds = seeds[1], .storms = storms[0], .words = words[0]};
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        for (uint32_t i = 0; i < crew->count; i++) /* else they would outlive us */
            if (crew->workers[i].pid)
                close_ours(&crew->workers[i]);
        close_ours(worker);
        CHECK(dup2(words[1], STDERR_FILENO) >= 0);
        (void)close(words[1]);
        work(crew->jobs, seeds[0], storms[1]);
    }
    worker->pid = pid;
    (void)close(seeds[0]);
    (void)close(storms[1]);
    (void)close(words[1]);
}

static void worker_end(struct worker *worker, int *status)
{
    close_ours(worker);
    CHECK(waitpid(worker->pid, status, 0) == worker->pid);
    worker->pid = 0;
}

/* Seeds out, storms in. */

static void give_seed(struct crew *crew, struct worker *worker)
{
    if (crew->all_begun)
        return;
    worker->seed = crew->next;
    worker->playing = true;
    worker->line_bytes = 0;
    worker->line[0] = 0;
    crew->all_begun = crew->next == crew->jobs->to;
    crew->next++;
    CHECK(write(worker->seeds, &worker->seed, sizeof worker->seed) == sizeof worker->seed);
}

static void finish(struct crew *crew, const struct storm *storm)
{
    crew->jobs->done(crew->jobs->self, storm);
    if (storm->why[0] && crew->jobs->stop)
        crew->all_begun = true;
}

/* Keep the first line that has a word in it: there a CHECK or a sanitizer says what is wrong. */
static void hear_words(struct worker *worker)
{
    char words[LINE_BYTES];
    const ssize_t count = read(worker->words, words, sizeof words);
    for (ssize_t i = 0; i < count; i++) {
        const size_t used = worker->line_bytes;
        const bool is_done = used > 0 && worker->line[used - 1] == '\n';
        if (is_done || used + 1 >= LINE_BYTES)
            return;
        if (words[i] == '\n' && !strpbrk(worker->line, "abcdefghijklmnopqrstuvwxyz")) {
            worker->line_bytes = 0;
            worker->line[0] = 0;
            continue;
        }
        worker->line[used] = words[i];
        worker->line[used + 1] = 0;
        worker->line_bytes++;
    }
}

static void bury(struct crew *crew, struct worker *worker)
{
    struct storm storm = {.seed = worker->seed, .heal_s = NAN};
    const bool was_playing = worker->playing;
    hear_words(worker);
    worker->line[strcspn(worker->line, "\n")] = 0;
    int status = 0;
    worker_end(worker, &status);
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    (void)snprintf(storm.why, sizeof storm.why, "the process died (%s %d): %s",
                   WIFSIGNALED(status) ? "signal" : "exit code", number,
                   number == SIGALRM ? "it took too long" : worker->line);
    worker_start(crew, worker);
    if (!was_playing)
        return;
    finish(crew, &storm);
    give_seed(crew, worker);
}

static void hear_storm(struct crew *crew, struct worker *worker)
{
    struct storm storm;
    if (read(worker->storms, &storm, sizeof storm) != (ssize_t)sizeof storm) {
        bury(crew, worker);
        return;
    }
    worker->playing = false;
    finish(crew, &storm);
    give_seed(crew, worker);
}

/* The loop. */

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

static void listen_to_all(struct crew *crew)
{
    struct pollfd ends[JOBS_MAX * PIPES_PER_JOB];
    for (uint32_t i = 0; i < crew->count; i++) {
        ends[2 * i] = (struct pollfd){.fd = crew->workers[i].words, .events = POLLIN};
        ends[2 * i + 1] = (struct pollfd){.fd = crew->workers[i].storms, .events = POLLIN};
    }
    if (poll(ends, crew->count * PIPES_PER_JOB, TICK_MS) <= 0)
        return;
    for (uint32_t i = 0; i < crew->count; i++) {
        if (ends[2 * i].revents & POLLIN)
            hear_words(&crew->workers[i]);
        if (ends[2 * i + 1].revents & (POLLIN | POLLHUP))
            hear_storm(crew, &crew->workers[i]);
    }
}

static void block(sigset_t *before)
{
    sigset_t stops;
    CHECK(sigemptyset(&stops) == 0);
    CHECK(sigaddset(&stops, SIGINT) == 0 && sigaddset(&stops, SIGTERM) == 0);
    CHECK(sigprocmask(SIG_BLOCK, &stops, before) == 0);
}

/* The signal that stopped us has done its work. */
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
    const uint64_t seeds = jobs->to - jobs->from; /* and one more */
    uint32_t count = jobs->jobs < JOBS_MAX ? jobs->jobs : JOBS_MAX;
    if (seeds < count)
        count = (uint32_t)seeds + 1;
    struct crew crew = {.jobs = jobs,
                        .workers = calloc(count, sizeof *crew.workers),
                        .count = count,
                        .next = jobs->from};
    CHECK(crew.workers);
    sigset_t before;
    block(&before);
    for (uint32_t i = 0; i < count; i++)
        worker_start(&crew, &crew.workers[i]);
    for (uint32_t i = 0; i < count; i++)
        give_seed(&crew, &crew.workers[i]);
    bool stopped = false;
    while (is_playing(&crew) && !stopped) {
        listen_to_all(&crew);
        jobs->tick(jobs->self);
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
