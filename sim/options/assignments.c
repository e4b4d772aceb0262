#include "options/assignments.h"

enum error assignments_add(void *self, const struct command_option *option, const char *set,
                           struct problem *problem)
{
    struct assignments *sets = self;
    (void)option;
    if (sets->count == ASSIGNMENTS_MAX)
        return problem_set(problem, TOO_BIG, "more than %d times --set; use a file",
                           ASSIGNMENTS_MAX);
    sets->set[sets->count++] = set;
    return OK;
}

enum error assignments_set_seed(void *self, const struct command_option *option, const char *seed,
                                struct problem *problem)
{
    struct assignments *sets = self;
    (void)snprintf(sets->seed, sizeof sets->seed, "scenario.seed=%.40s", seed);
    return assignments_add(sets, option, sets->seed, problem);
}

enum error assignments_set_seconds(void *self, const struct command_option *option,
                                   const char *seconds, struct problem *problem)
{
    struct assignments *sets = self;
    (void)snprintf(sets->seconds, sizeof sets->seconds, "scenario.seconds=%.40s", seconds);
    return assignments_add(sets, option, sets->seconds, problem);
}
