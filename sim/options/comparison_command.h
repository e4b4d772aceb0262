/* hearsay compare: plays every strategy under the same nodes, links, data, seeds and computing.
 * hearsay-sim has the strategies (sim_command.h). */
#ifndef HEARSAY_SIM_OPTIONS_COMPARISON_COMMAND_H
#define HEARSAY_SIM_OPTIONS_COMPARISON_COMMAND_H

#include "options/assignments.h"

#define COMPARISON_SEEDS_USUAL 3
#define COMPARISON_SEEDS_MAX   100

struct comparison_options {
    const char *file; /* scenario file */
    struct assignments sets;
    const char *dir;        /* folder of the comparison; NULL = named after the scenario */
    uint32_t jobs;          /* number of processes; 0 = one for each processor */
    uint32_t seeds;         /* plays of each strategy; 0 = COMPARISON_SEEDS_USUAL */
    const char *strategies; /* comma-separated names; NULL = all */
    const char *targets;    /* comma-separated levels; NULL = derived from the final results */
    const char *metric;     /* "accuracy" or "loss"; NULL = chosen by the data */
    const char *settings;   /* path of another comparison's compare.json; NULL = none */
    bool tune;
    bool as_json;
};

extern const struct command comparison_command;

#endif
