/* What a comparison plays: each strategy with each seed, and before that, if so asked, trials of
 * its settings.
 *
 *   plan_trials ─► plan_play ─► plan_choose: the best trial of each strategy
 *   plan_plays  ─► plan_play ─► plan->records
 *
 * Plays are independent, each in a process of its own (job_pool.h), and each leaves a file; what an
 * earlier run of the same plan has left is not played again.
 */
#ifndef HEARSAY_SIM_COMPARISON_PLAN_H
#define HEARSAY_SIM_COMPARISON_PLAN_H

#include "comparison/record.h"
#include "comparison/tuning.h"

#define PLAN_SETS_MAX  64
#define PLAN_SEEDS_MAX 100
#define PLAN_NAME      64
#define PLAN_OWN       3 /* assignments of a play before the settings */

enum measure { MEASURE_ACCURACY, MEASURE_LOSS };

struct plan {
    const char *file;                /* of the scenario */
    const char *sets[PLAN_SETS_MAX]; /* the user's assignments */
    int sets_count;
    const char *dir; /* of the comparison */
    uint32_t jobs;   /* processes; 0: one a processor */
    uint32_t seeds;  /* plays of each strategy */
    enum measure measure;

    enum strategy_kind kinds[STRATEGIES_COUNT]; /* [kinds_count]: what is compared */
    uint32_t kinds_count;
    char settings[STRATEGIES_COUNT][2][TUNING_BYTES]; /* [kinds_count]: chosen by trials */
    uint32_t settings_count[STRATEGIES_COUNT];        /* 0: those of the scenario */

    const struct scenario *scenario; /* as it is without any strategy's settings */
    struct play *plays;              /* [plays_count] */
    uint32_t plays_count;
    uint32_t kept;   /* of these, those that an earlier run has played */
    uint32_t failed; /* of these, those that could not be played */
    bool is_trial;   /* they are trials */
};

struct play {
    uint32_t strategy; /* index in kinds */
    uint64_t seed;
    char sets[PLAN_OWN + 2][TUNING_BYTES]; /* strategy, two seeds, settings */
    uint32_t sets_count;
    char name[PLAN_NAME]; /* "ako-2", "ako-try-4" */
    char fingerprint[17]; /* of what is played */
    bool is_read;         /* record is there */
    struct record record;
};

void plan_trials(struct plan *plan);
void plan_plays(struct plan *plan);

/* Plays what is not there. False: interrupted. What cannot be played is said on stderr, once for
 * each strategy. */
bool plan_play(struct plan *plan);

/* The trial whose curve is best on average over time becomes the setting of its strategy. */
void plan_choose(struct plan *plan);

/* The settings of each strategy as another comparison has them, in its compare.json; those that it
 * does not know stay as they are. MALFORMED or MISSING with a sentence: it is no such file. */
enum error plan_settings(struct plan *plan, const char *path, struct problem *problem) MUST_USE;

/* The play of a strategy with the k-th seed; NULL: it could not be played. */
const struct record *plan_record(const struct plan *plan, uint32_t strategy, uint32_t k);

void plan_free(struct plan *plan);

#endif
