/* The plan of a comparison: each strategy with each seed, and with --tune trials of its settings.
 *
 *   plan_trials ─► plan_play ─► plan_choose: settings of each strategy's best trial
 *   plan_plays  ─► plan_play ─► plan_record: record of each play
 *
 * Plays are independent. Each runs in a process of its own (job_pool.h) and leaves a file; plays
 * that an earlier run of the same plan has left are not repeated.
 */
#ifndef HEARSAY_SIM_COMPARISON_PLAN_H
#define HEARSAY_SIM_COMPARISON_PLAN_H

#include "comparison/record.h"
#include "comparison/tuning.h"

#define PLAN_SETS_MAX  64
#define PLAN_SEEDS_MAX 100
#define PLAN_NAME      64
/* Each play has this many assignments besides those of its settings: the strategy and two seeds. */
#define PLAN_OWN 3

enum measure { MEASURE_ACCURACY, MEASURE_LOSS };

struct plan {
    const char *file;                /* scenario file */
    const char *sets[PLAN_SETS_MAX]; /* [sets_count] assignments by --set */
    int sets_count;
    const char *dir; /* folder of the comparison */
    uint32_t jobs;   /* number of processes; 0 = one for each processor */
    uint32_t seeds;  /* number of plays of each strategy, each with a seed of its own */
    enum measure measure;

    enum strategy_kind kinds[STRATEGIES_COUNT]; /* [kinds_count] strategies compared */
    uint32_t kinds_count;
    char settings[STRATEGIES_COUNT][2][TUNING_BYTES]; /* [kinds_count] settings chosen by trials,
                                                         such as "strategy.rank=2" */
    /* Number of chosen settings of each strategy; 0 = use the settings of the scenario. */
    uint32_t settings_count[STRATEGIES_COUNT];

    const struct scenario *scenario; /* the scenario, without settings of strategies */
    struct play *plays;              /* [plays_count] plays of the plan */
    uint32_t plays_count;
    /* Number of plays that an earlier run has finished, so that they are not repeated. */
    uint32_t kept;
    uint32_t failed; /* number of plays that failed */
    bool is_trial;   /* the plays are trials of settings (--tune) */
};

struct play {
    uint32_t strategy; /* index of the strategy in kinds */
    uint64_t seed;
    /* Assignments: the strategy, two seeds, and up to two settings. */
    char sets[PLAN_OWN + 2][TUNING_BYTES];
    uint32_t sets_count;
    char name[PLAN_NAME]; /* name of the play, such as "ako-2" or "ako-try-4" */
    char fingerprint[17]; /* hash of everything that determines the play */
    bool is_read;         /* the play's record was read from the play's file */
    struct record record;
};

void plan_trials(struct plan *plan);
void plan_plays(struct plan *plan);

/* Runs the plays that have no record yet. Returns false if interrupted. Prints the first failure of
 * each strategy to stderr. */
bool plan_play(struct plan *plan);

/* Chooses for each strategy the settings of the trial whose mean over its curve is best. */
void plan_choose(struct plan *plan);

/* Reads the settings of each strategy from the compare.json of another comparison. Strategies
 * missing there keep their settings. Returns MISSING if the file cannot be read, or MALFORMED if it
 * names no strategies. */
enum error plan_settings(struct plan *plan, const char *path, struct problem *problem) MUST_USE;

/* Returns the record of a strategy's play with the k-th seed, or NULL if the play failed. */
const struct record *plan_record(const struct plan *plan, uint32_t strategy, uint32_t k);

void plan_free(struct plan *plan);

#endif
