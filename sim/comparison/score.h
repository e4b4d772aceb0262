/* Scores of a play: how fast it reached a quality, and with how many bytes. */
#ifndef HEARSAY_SIM_COMPARISON_SCORE_H
#define HEARSAY_SIM_COMPARISON_SCORE_H

#include "comparison/plan.h"

#define TARGETS_MAX 3

/* When a play reached a target. Both members are NAN if it never did. */
struct reach {
    double at_s;
    double bytes; /* bytes sent until at_s, mean over the nodes */
};

/* Statistics of one value over the seeds of a strategy. */
struct band {
    double mean; /* NAN = at least one seed has no value */
    double least;
    double most;
    uint32_t count; /* number of seeds with a value */
};

double score_value(const struct record_point *point, enum measure measure);

/* NAN is never better, and any number is better than NAN. */
bool score_is_better(enum measure measure, double a, double b);

/* Returns when the play first reached the target, interpolated linearly between the evaluations
 * before and after. */
struct reach score_reach(const struct record *record, enum measure measure, double target);

/* Returns the mean over a play's evaluations, which rewards early progress; NAN = no evaluation. */
double score_curve(const struct record *record, enum measure measure);

struct band score_band(const double *values, uint32_t count);

/* Returns true if the strategy needs a network, but its nodes sent nothing with any seed, because
 * its first round takes longer than the scenario. Such a strategy has no result and no times. */
bool score_is_idle(const struct plan *plan, uint32_t strategy);

/* Statistics over a strategy's seeds: the final result, seconds to the target, bytes to the target.
 */
struct band score_end(const struct plan *plan, uint32_t strategy);
struct band score_times(const struct plan *plan, uint32_t strategy, double target);
struct band score_bytes(const struct plan *plan, uint32_t strategy, double target);

/* Chooses three targets: 90, 95 and 98 % of the best final accuracy, or of the drop from the median
 * first loss to the best final loss. Ignores the final result of `ideal`. Returns 0 if no other
 * strategy has a final result, else TARGETS_MAX. */
uint32_t score_targets(const struct plan *plan, double targets[static TARGETS_MAX]);

/* The strategies that reach a target first and second on average, ignoring `ideal`; UINT32_MAX = no
 * strategy does with every seed. */
struct winner {
    uint32_t first;
    uint32_t second;
    struct band margin; /* time of `second` divided by that of `first` */
};
struct winner score_winner(const struct plan *plan, double target);

#endif
