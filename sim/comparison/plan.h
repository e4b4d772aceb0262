/* The plan of a comparison: each strategy with each seed, and trials of settings with --tune.
 *
 *   plan_trials ─► plan_play ─► plan_choose: settings of each strategy's best trial
 *   plan_plays  ─► plan_play ─► plan_record: record of each play
 *
 * Plays run in worker processes (job_pool.h), and each leaves a file. A play whose file an earlier
 * run has left is not repeated.
 */
#ifndef HEARSAY_SIM_COMPARISON_PLAN_H
#define HEARSAY_SIM_COMPARISON_PLAN_H

#include "comparison/record.h"
#include "comparison/tuning.h"

#define PLAN_SETS_MAX  64
#define PLAN_SEEDS_MAX 100
#define PLAN_NAME      64
#define PLAN_OWN       3 /* assignments of each play before its settings: strategy, two seeds */

enum measure { MEASURE_ACCURACY, MEASURE_LOSS };

struct plan {
    const char *file;        /* scenario file */
    const char *const *sets; /* [sets_count] assignments by --set */
    int sets_count;
    const char *dir; /* folder of the comparison */
    uint32_t jobs;   /* number of processes; 0 = one for each processor */
    uint32_t seeds;  /* number of plays of each strategy, each with its own seed */
    enum measure measure;

    enum strategy_kind kinds[STRATEGIES_COUNT]; /* [kinds_count] strategies compared */
    uint32_t kinds_count;
    /* [kinds_count] settings from trials or --settings, such as "strategy.rank=2". */
    char settings[STRATEGIES_COUNT][2][TUNING_BYTES];
    /* [kinds_count] number of these settings; 0 = the scenario's settings are used. */
    uint32_t settings_count[STRATEGIES_COUNT];

    const struct scenario *scenario; /* the scenario without `settings` */
    struct play *plays;              /* [plays_count] */
    uint32_t plays_count;
    uint32_t kept; /* number of plays that an earlier run has finished */
    uint32_t failed;
    uint32_t finished; /* number of plays and trials with a record, including earlier runs */
    bool is_trial;     /* the plays are trials of settings (--tune) */
};

struct play {
    uint32_t strategy; /* index in plan.kinds */
    uint64_t seed;
    char sets[PLAN_OWN + 2][TUNING_BYTES]; /* [sets_count] assignments */
    uint32_t sets_count;
    char name[PLAN_NAME]; /* such as "ako-2" or "ako-try-4" */
    char fingerprint[17]; /* hash of program, scenario file and assignments, hexadecimal */
    bool is_read;         /* `record` was read from the play's file */
    struct record record;
};

void plan_trials(struct plan *plan);
void plan_plays(struct plan *plan);

/* Runs the plays that have no record yet. Prints the first failure of each strategy to stderr.
 * Returns false if interrupted. */
bool plan_play(struct plan *plan);

/* Chooses for each strategy the settings of the trial with the best score_curve. */
void plan_choose(struct plan *plan);

/* Reads the settings of each strategy from the compare.json of another comparison. A strategy that
 * the file lacks keeps its settings. Returns MISSING if the file is unreadable or not JSON,
 * MALFORMED if it has no strategies. */
enum error plan_settings(struct plan *plan, const char *path, struct problem *problem) MUST_USE;

/* Returns the record of a strategy's play with the k-th seed; NULL = the play failed. */
const struct record *plan_record(const struct plan *plan, uint32_t strategy, uint32_t k);

void plan_free(struct plan *plan);

#endif
