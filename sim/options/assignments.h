/* Assignments of keys on a command line: --set KEY=VALUE, and options that stand for an
 * assignment. */
#ifndef HEARSAY_SIM_OPTIONS_ASSIGNMENTS_H
#define HEARSAY_SIM_OPTIONS_ASSIGNMENTS_H

#include "config/command.h"

#define ASSIGNMENTS_MAX 64

struct assignments {
    const char *set[ASSIGNMENTS_MAX]; /* [count] assignments, such as "scenario.seed=3" */
    int count;
    char seed[64];    /* the assignment of --seed */
    char seconds[64]; /* the assignment of --seconds */
};

/* Setters of options whose member is a struct assignments. They return TOO_BIG for more than
 * ASSIGNMENTS_MAX assignments. */
enum error assignments_add(void *self, const struct command_option *option, const char *set,
                           struct problem *problem);
enum error assignments_set_seed(void *self, const struct command_option *option, const char *seed,
                                struct problem *problem);
enum error assignments_set_seconds(void *self, const struct command_option *option,
                                   const char *seconds, struct problem *problem);

#endif
