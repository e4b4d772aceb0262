/* Lines that a scenario accepts, and their meaning. */
#ifndef HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_TAKEN_H
#define HEARSAY_TESTS_SUPPORT_SIM_SCENARIO_TAKEN_H

#include <stddef.h>

#include "scenario/scenario.h"

/* strikes: which nodes of SCENARIO_BASE the fault strikes. A digit per node: 0 = in neither set of
 * the fault, 1 = in set a, 2 = in set b, 3 = in both. */
struct taken_fault {
    const char *line;
    enum fault_kind kind;
    double from_s, to_s;
    const char *strikes;
};

extern const struct taken_fault taken_faults[];
extern const size_t taken_faults_count;

struct taken_expect {
    const char *line;
    enum metric metric;
    bool at_least;
    double value;
    double by_s;
    double from_s;
    enum bound bound;
    bool once;
    uint32_t group;
};

extern const struct taken_expect taken_expects[];
extern const size_t taken_expects_count;

/* Returns a scenario with one line of every kind. */
const char *everything(void);

#endif
