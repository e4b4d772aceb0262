#include "comparison/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system_clock.h"
#include "comparison/score.h"
#include "jobs/job_pool.h"
#include "strategies/strategy.h"

#define BAR_WIDTH   24
#define SELF_PATH   "/proc/self/exe"
#define FNV_BASIS   0xcbf29ce484222325u
#define FNV_PRIME   0x100000001b3u
#define PIECE_BYTES 65536

struct play_answer {
    uint64_t job;
    bool is_played;
    char why[512];
};

struct progress {
    struct plan *plan;
    const uint32_t *open; /* [count] indices of the plays that remain to be played */
    uint32_t count;
    uint32_t done;
    double begin_s;
    bool is_terminal;
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

static enum error play_to_file(const struct plan *plan, const struct play *play,
                               struct problem *problem)
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
    const struct progress *progress = self;
    struct play_answer *answer = result;
    struct problem problem;
    answer->job = job;
    answer->is_played =
        play_to_file(progress->plan, &progress->plan->plays[progress->open[job]], &problem) == OK;
    if (!answer->is_played)
        (void)snprintf(answer->why, sizeof answer->why, "%s", problem.text);
}

static void clear_line(const struct progress *progress)
{
    if (progress->is_terminal)
        (void)fputs("\r\033[K", stderr);
}

/* Overwrites the progress line on a terminal, otherwise prints a new one. */
static void say(const struct progress *progress, const char *name)
{
    char bar[BAR_WIDTH + 1] = "", left[32] = "";
    const double part = (double)progress->done / progress->count;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < part * BAR_WIDTH ? '#' : '.';
    if (progress->done > 0) {
        const double used_s = monotonic_s() - progress->begin_s;
        (void)snprintf(left, sizeof left, ", %.0f s left", used_s / part - used_s);
    }
    clear_line(progress);
    (void)fprintf(stderr, "[%s] %u of %u %s%s%s%s%s", bar, progress->done, progress->count,
                  progress->plan->is_trial ? "trials" : "plays", left, name[0] ? ": " : "", name,
                  progress->is_terminal ? "" : "\n");
    (void)fflush(stderr);
}

static void finish(struct progress *progress, uint64_t job, const char *why)
{
    struct plan *plan = progress->plan;
    struct play *play = &plan->plays[progress->open[job]];
    char path[CONFIG_PATH_BYTES + 128];
    progress->done++;
    path_of(plan, play, path, sizeof path);
    play->is_read = !why && record_read(&play->record, path, play->fingerprint);
    if (!play->is_read) {
        plan->failed++;
        if (!progress->is_said[play->strategy]) {
            clear_line(progress);
            (void)fprintf(stderr, "hearsay: %s: %s\n", play->name,
                          why ? why : "its file cannot be read");
        }
        progress->is_said[play->strategy] = true;
    }
    say(progress, play->name);
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
    (void)self;
}

bool plan_play(struct plan *plan)
{
    uint32_t *open = memory_new(plan->plays_count, sizeof *open);
    struct progress progress = {.plan = plan,
                                .open = open,
                                .begin_s = monotonic_s(),
                                .is_terminal = isatty(STDERR_FILENO) == 1};
    for (uint32_t i = 0; i < plan->plays_count; i++)
        if (!plan->plays[i].is_read)
            open[progress.count++] = i;
    const struct job_pool pool = {.to = progress.count > 0 ? progress.count - 1 : 0,
                                  .processes = plan->jobs ? plan->jobs
                                                          : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                                  .result_bytes = sizeof(struct play_answer),
                                  .self = &progress,
                                  .play = on_play,
                                  .done = on_done,
                                  .lost = on_lost,
                                  .tick = on_tick};
    bool is_whole = true;
    if (progress.count > 0) {
        if (progress.is_terminal)
            say(&progress, "");
        is_whole = job_pool_run(&pool);
        clear_line(&progress);
    }
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
