/* Scores of a play: how fast it reached a quality, and with how many bytes. */
#ifndef HEARSAY_SIM_COMPARISON_SCORE_H
#define HEARSAY_SIM_COMPARISON_SCORE_H

#include "comparison/plan.h"

#define TARGETS_MAX 3

/* When, and after how many bytes of a node, a target was reached; NAN = never. */
struct reach {
    double at_s;
    double bytes;
};

/* Statistics over the seeds. */
struct band {
    double mean; /* mean over the seeds; NAN = some seed has no value */
    double least;
    double most;
    uint32_t count; /* number of seeds with a value */
};

double score_value(const struct record_point *point, enum measure measure);

/* Returns whether a is better than b. NAN is never better. */
bool score_is_better(enum measure measure, double a, double b);

/* Finds when the target was reached, linearly interpolated between two evaluations. */
struct reach score_reach(const struct record *record, enum measure measure, double target);

/* Returns the mean over the evaluations, which rewards early progress. NAN = there were none. */
double score_curve(const struct record *record, enum measure measure);

struct band score_band(const double *values, uint32_t count);

/* Returns true if no seed's nodes have sent anything, though the strategy needs a network: its
 * first round took longer than the scenario. Such a strategy has no end, no time and no place in a
 * rank. */
bool score_is_idle(const struct plan *plan, uint32_t strategy);

/* Returns statistics over the seeds of a strategy: its final result. */
struct band score_end(const struct plan *plan, uint32_t strategy);
struct band score_times(const struct plan *plan, uint32_t strategy, double target);
struct band score_bytes(const struct plan *plan, uint32_t strategy, double target);

/* Chooses three targets at 90, 95 and 98 % of the best final accuracy of all strategies except
 * ideal; for a loss, of the way down from the start. Returns their number. */
uint32_t score_targets(const struct plan *plan, double targets[static TARGETS_MAX]);

/* The first and the second strategy to reach a target on average, `ideal` excluded; UINT32_MAX =
 * none. */
struct winner {
    uint32_t first;
    uint32_t second;
    struct band margin; /* time of the second over that of the first, for each seed */
};
struct winner score_winner(const struct plan *plan, double target);

#endif
