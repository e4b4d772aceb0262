/* How soon a model was how good, and with how many bytes. */
#ifndef HEARSAY_SIM_COMPARISON_SCORE_H
#define HEARSAY_SIM_COMPARISON_SCORE_H

#include "comparison/plan.h"

#define TARGETS_MAX 3

/* When and after how many bytes of a node a target was reached; NAN: it was not. */
struct reach {
    double at_s;
    double bytes;
};

/* Values over seeds. */
struct band {
    double mean; /* NAN: not all seeds have a value */
    double least;
    double most;
    uint32_t count; /* seeds that have a value */
};

double score_value(const struct record_point *point, enum measure measure);

/* True: a is better than b, which may be no number. */
bool score_is_better(enum measure measure, double a, double b);

/* Between the last evaluation before and the first one at which it is there, by a straight line. */
struct reach score_reach(const struct record *record, enum measure measure, double target);

/* Mean over the evaluations: the better, the sooner it was good. NAN: there were none. */
double score_curve(const struct record *record, enum measure measure);

struct band score_band(const double *values, uint32_t count);

/* Over the seeds of a strategy. */
struct band score_end(const struct plan *plan, uint32_t strategy);
struct band score_times(const struct plan *plan, uint32_t strategy, double target);
struct band score_bytes(const struct plan *plan, uint32_t strategy, double target);

/* Three targets between the beginning and the best end of those that networks allow (all but
 * ideal): at nine tenths, 95 and 98 % of it; of a loss, of what it went down. Returns how many. */
uint32_t score_targets(const struct plan *plan, double targets[static TARGETS_MAX]);

/* Who reaches it first on average, ideal left out, and who is next; UINT32_MAX: nobody. */
struct winner {
    uint32_t first;
    uint32_t second;
    struct band margin; /* time of the second over that of the first, seed by seed */
};
struct winner score_winner(const struct plan *plan, double target);

#endif
