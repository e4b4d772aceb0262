/* Scores of a play: how fast it reached a quality, and with how many bytes. */
#ifndef HEARSAY_SIM_COMPARISON_SCORE_H
#define HEARSAY_SIM_COMPARISON_SCORE_H

#include "comparison/plan.h"

#define TARGETS_MAX 3

/* Time at which a target was reached, and bytes that each node had sent by then (mean over the
 * nodes); NAN = never. */
struct reach {
    double at_s;
    double bytes;
};

/* Statistics of one value over the seeds of a strategy. */
struct band {
    double mean; /* mean over the seeds; NAN = at least one seed has no value */
    double least;
    double most;
    uint32_t count; /* number of seeds with a value */
};

double score_value(const struct record_point *point, enum measure measure);

/* Returns true if a is better than b. NAN is never better. */
bool score_is_better(enum measure measure, double a, double b);

/* Returns when the record reached the target, interpolated linearly between two evaluations. */
struct reach score_reach(const struct record *record, enum measure measure, double target);

/* Returns the mean over a play's evaluations, which rewards early progress; NAN if there are none.
 */
double score_curve(const struct record *record, enum measure measure);

struct band score_band(const double *values, uint32_t count);

/* Returns true if the strategy needs a network, but no node has sent a byte with any seed,
 * because its first round takes longer than the scenario. Such a strategy has no final result and
 * no times, and is not ranked. */
bool score_is_idle(const struct plan *plan, uint32_t strategy);

/* Each function returns statistics over a strategy's seeds: of its final result, of the seconds
 * to the target, or of the bytes to the target. */
struct band score_end(const struct plan *plan, uint32_t strategy);
struct band score_times(const struct plan *plan, uint32_t strategy, double target);
struct band score_bytes(const struct plan *plan, uint32_t strategy, double target);

/* Chooses three targets: 90, 95 and 98 % of the best final accuracy, or of the drop from the first
 * loss to the best loss. Ignores the strategy `ideal`. Returns the number of targets: 0 if no
 * strategy has a final result. */
uint32_t score_targets(const struct plan *plan, double targets[static TARGETS_MAX]);

/* The strategies that reach a target first and second on average, `ideal` ignored. UINT32_MAX =
 * no strategy does. */
struct winner {
    uint32_t first;
    uint32_t second;
    /* Time of the second strategy divided by that of the first: statistics over the seeds. */
    struct band margin;
};
struct winner score_winner(const struct plan *plan, double target);

#endif
