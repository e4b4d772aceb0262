#include "comparison/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/amount.h"
#include "base/memory.h"
#include "base/system_clock.h"
#include "comparison/progress.h"
#include "comparison/score.h"
#include "jobs/job_pool.h"
#include "strategies/strategy.h"

#define SELF_PATH   "/proc/self/exe"
#define FNV_BASIS   0xcbf29ce484222325u
#define FNV_PRIME   0x100000001b3u
#define PIECE_BYTES 65536

struct play_answer {
    uint64_t job;
    bool is_played;
    char why[512];
};

struct run {
    struct plan *plan;
    const uint32_t *open; /* [progress.count] indices of the plays that remain to be played */
    struct progress progress;
    bool is_said[STRATEGIES_COUNT]; /* [strategy] a failure of the strategy was printed */
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * FNV_PRIME;
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

/* An unreadable file counts as empty, because the play reports the error when it opens the file. */
static uint64_t hash_file(uint64_t hash, const char *path)
{
    unsigned char piece[PIECE_BYTES];
    FILE *in = fopen(path, "re");
    if (!in)
        return hash;
    for (size_t got; (got = fread(piece, 1, sizeof piece, in)) > 0;)
        hash = hash_bytes(hash, piece, got);
    (void)fclose(in);
    return hash;
}

static void path_of(const struct plan *plan, const struct play *play, char *out, size_t bytes)
{
    (void)snprintf(out, bytes, "%s/plays/%s.json", plan->dir, play->name);
}

/* A fingerprint does not cover the data files. */
static void take_fingerprints(struct plan *plan)
{
    uint64_t common = hash_file(hash_file(FNV_BASIS, SELF_PATH), plan->file);
    for (int i = 0; i < plan->sets_count; i++)
        common = hash_text(common, plan->sets[i]);
    for (uint32_t i = 0; i < plan->plays_count; i++) {
        struct play *play = &plan->plays[i];
        uint64_t hash = common;
        for (uint32_t k = 0; k < play->sets_count; k++)
            hash = hash_text(hash, play->sets[k]);
        (void)snprintf(play->fingerprint, sizeof play->fingerprint, "%016" PRIx64, hash);
    }
}

static void read_kept(struct plan *plan)
{
    char path[CONFIG_PATH_BYTES + 128];
    plan->kept = 0;
    for (uint32_t i = 0; i < plan->plays_count; i++) {
        struct play *play = &plan->plays[i];
        path_of(plan, play, path, sizeof path);
        play->is_read = record_read(&play->record, path, play->fingerprint);
        plan->kept += play->is_read;
    }
    plan->finished += plan->kept;
}

static void free_plays(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->plays_count; i++)
        record_free(&plan->plays[i].record);
    free(plan->plays);
    plan->plays = NULL;
    plan->plays_count = plan->failed = 0;
}

static struct play *add(struct plan *plan, uint32_t strategy, uint64_t seed)
{
    struct play *play = &plan->plays[plan->plays_count++];
    *play = (struct play){.strategy = strategy, .seed = seed, .sets_count = PLAN_OWN};
    (void)snprintf(play->sets[0], TUNING_BYTES, "scenario.strategy=%s",
                   scenario_strategy_name(plan->kinds[strategy]));
    (void)snprintf(play->sets[1], TUNING_BYTES, "scenario.seed=%" PRIu64, seed);
    (void)snprintf(play->sets[2], TUNING_BYTES, "data.seed=%" PRIu64, seed);
    return play;
}

void plan_trials(struct plan *plan)
{
    free_plays(plan);
    plan->is_trial = true;
    plan->plays = memory_new((size_t)plan->kinds_count * TUNING_TRIALS, sizeof *plan->plays);
    for (uint32_t trial = 0; trial < TUNING_TRIALS; trial++)
        for (uint32_t i = 0; i < plan->kinds_count; i++) {
            struct play *play = add(plan, i, plan->scenario->seed);
            play->sets_count += tuning_trial(
                plan->kinds[i], trial, plan->scenario->config.train.rate, &play->sets[PLAN_OWN]);
            (void)snprintf(play->name, sizeof play->name, "%s-try-%u",
                           scenario_strategy_name(plan->kinds[i]), trial + 1);
        }
    take_fingerprints(plan);
    read_kept(plan);
}

void plan_plays(struct plan *plan)
{
    free_plays(plan);
    plan->is_trial = false;
    plan->plays = memory_new((size_t)plan->kinds_count * plan->seeds, sizeof *plan->plays);
    for (uint32_t k = 0; k < plan->seeds; k++)
        for (uint32_t i = 0; i < plan->kinds_count; i++) {
            struct play *play = add(plan, i, plan->scenario->seed + k);
            for (uint32_t s = 0; s < plan->settings_count[i]; s++)
                memcpy(play->sets[play->sets_count++], plan->settings[i][s], TUNING_BYTES);
            (void)snprintf(play->name, sizeof play->name, "%s-%" PRIu64,
                           scenario_strategy_name(plan->kinds[i]), play->seed);
        }
    take_fingerprints(plan);
    read_kept(plan);
}

/* Tells the command's process how much of a play is done. watcher: the part, in shared memory. */
static void on_moment(void *watcher, const struct outcome *outcome, double progress)
{
    _Atomic uint32_t *part = watcher;
    (void)outcome;
    atomic_store(part, (uint32_t)(fmin(progress, 1) * PROGRESS_WHOLE));
}

static enum error play_to_file(const struct plan *plan, const struct play *play,
                               _Atomic uint32_t *part, struct problem *problem)
{
    const char *sets[PLAN_SETS_MAX + PLAN_OWN + 2];
    char path[CONFIG_PATH_BYTES + 128];
    int count = 0;
    for (; count < plan->sets_count; count++)
        sets[count] = plan->sets[count];
    for (uint32_t k = 0; k < play->sets_count; k++)
        sets[count++] = play->sets[k];
    struct scenario *scenario = memory_new(1, sizeof *scenario);
    struct experiment experiment;
    enum error error = scenario_load(scenario, plan->file, sets, count, problem);
    if (error != OK) {
        free(scenario);
        return error;
    }
    (void)scenario_leave_out(scenario);
    error = experiment_open(&experiment, scenario, problem);
    experiment.watcher = part;
    experiment.on_moment = on_moment;
    if (error == OK) {
        struct outcome outcome;
        struct record record;
        outcome_init(&outcome, scenario);
        experiment_finish(&experiment, &outcome, strategy_play(&experiment, &outcome));
        record_of(&outcome, &record);
        path_of(plan, play, path, sizeof path);
        error = record_write(&record, path, play->fingerprint, problem);
        record_free(&record);
        outcome_free(&outcome);
    }
    experiment_close(&experiment);
    free(scenario);
    return error;
}

static void on_play(void *self, uint64_t job, void *result)
{
    const struct run *run = self;
    struct play_answer *answer = result;
    struct problem problem;
    answer->job = job;
    answer->is_played = play_to_file(run->plan, &run->plan->plays[run->open[job]],
                                     &run->progress.parts[job], &problem) == OK;
    if (!answer->is_played)
        (void)snprintf(answer->why, sizeof answer->why, "%s", problem.text);
}

static void clear_line(const struct progress *progress)
{
    if (progress->is_terminal)
        (void)fputs("\r\033[K", stderr);
}

/* Overwrites the progress line on a terminal, otherwise prints a new one. name: the play that has
 * just finished; "" = none. */
static void say(struct progress *progress, const char *name)
{
    char text[PROGRESS_BYTES];
    progress->said_s = monotonic_s();
    progress_text(progress, progress->said_s, !name[0], text);
    clear_line(progress);
    (void)fprintf(stderr, "%s%s%s%s", text, name[0] ? ": " : "", name,
                  progress->is_terminal ? "" : "\n");
    (void)fflush(stderr);
}

static void finish(struct run *run, uint64_t job, const char *why)
{
    struct plan *plan = run->plan;
    struct play *play = &plan->plays[run->open[job]];
    char path[CONFIG_PATH_BYTES + 128];
    atomic_store(&run->progress.parts[job], 0);
    run->progress.done++;
    path_of(plan, play, path, sizeof path);
    play->is_read = !why && record_read(&play->record, path, play->fingerprint);
    plan->finished += play->is_read;
    if (!play->is_read) {
        plan->failed++;
        if (!run->is_said[play->strategy]) {
            clear_line(&run->progress);
            (void)fprintf(stderr, "hearsay: %s: %s\n", play->name,
                          why ? why : "its file cannot be read");
        }
        run->is_said[play->strategy] = true;
    }
    say(&run->progress, play->name);
}

static bool on_done(void *self, const void *result)
{
    const struct play_answer *answer = result;
    finish(self, answer->job, answer->is_played ? NULL : answer->why);
    return true;
}

static bool on_lost(void *self, uint64_t job, const char *why)
{
    finish(self, job, why);
    return true;
}

static void on_tick(void *self)
{
    struct run *run = self;
    if (progress_is_due(&run->progress, monotonic_s()))
        say(&run->progress, "");
}

static void say_begin(const struct progress *progress, const struct plan *plan, uint32_t processes)
{
    const double span_s = (double)plan->scenario->span_ns * 1e-9;
    (void)fprintf(stderr,
                  "hearsay: %u %s of %s virtual time each, %u at a time (fewer: --strategies A,B "
                  "--seeds 1)\n",
                  progress->count, progress->word, amount_span(span_s).text,
                  processes < progress->count ? processes : progress->count);
}

/* Returns zeroed memory that the worker processes share with this one. */
static _Atomic uint32_t *shared_parts(size_t bytes)
{
    void *parts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(parts != MAP_FAILED);
    return parts;
}

bool plan_play(struct plan *plan)
{
    uint32_t *open = memory_new(plan->plays_count, sizeof *open);
    const size_t bytes = plan->plays_count * sizeof(_Atomic uint32_t);
    const double begin_s = monotonic_s();
    struct run run = {.plan = plan,
                      .open = open,
                      .progress = {.parts = shared_parts(bytes),
                                   .word = plan->is_trial ? "trials" : "plays",
                                   .begin_s = begin_s,
                                   .said_s = begin_s,
                                   .is_terminal = isatty(STDERR_FILENO) == 1}};
    for (uint32_t i = 0; i < plan->plays_count; i++)
        if (!plan->plays[i].is_read)
            open[run.progress.count++] = i;
    const uint32_t count = run.progress.count;
    const struct job_pool pool = {.to = count > 0 ? count - 1 : 0,
                                  .processes = plan->jobs ? plan->jobs
                                                          : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                                  .result_bytes = sizeof(struct play_answer),
                                  .self = &run,
                                  .play = on_play,
                                  .done = on_done,
                                  .lost = on_lost,
                                  .tick = on_tick};
    bool is_whole = true;
    if (count > 0) {
        say_begin(&run.progress, plan, pool.processes);
        is_whole = job_pool_run(&pool);
        clear_line(&run.progress);
    }
    CHECK(munmap(run.progress.parts, bytes) == 0);
    free(open);
    return is_whole;
}

void plan_choose(struct plan *plan)
{
    double best[STRATEGIES_COUNT];
    for (uint32_t i = 0; i < plan->kinds_count; i++) {
        best[i] = NAN;
        plan->settings_count[i] = 0;
    }
    for (uint32_t p = 0; p < plan->plays_count; p++) {
        const struct play *play = &plan->plays[p];
        const uint32_t i = play->strategy;
        const double mark = play->is_read ? score_curve(&play->record, plan->measure) : NAN;
        if (!score_is_better(plan->measure, mark, best[i]))
            continue;
        best[i] = mark;
        plan->settings_count[i] = play->sets_count - PLAN_OWN;
        memcpy(plan->settings[i], play->sets[PLAN_OWN], sizeof plan->settings[i]);
    }
}

const struct record *plan_record(const struct plan *plan, uint32_t strategy, uint32_t k)
{
    CHECK(strategy < plan->kinds_count && k < plan->seeds && !plan->is_trial);
    const struct play *play = &plan->plays[k * plan->kinds_count + strategy];
    return play->is_read ? &play->record : NULL;
}

void plan_free(struct plan *plan)
{
    free_plays(plan);
}
