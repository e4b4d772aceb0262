/* When a swarm on this machine has learned enough, or for long enough.
 *
 *   evaluations of all nodes ─► rounds ─► the target is held ─┐
 *   samples learned, seconds ──────────► the limit is used up ┴─► training ends
 *
 * Seconds alone say nothing on a machine that has other work, so a limit that nobody has set is
 * used up when GOAL_SECONDS have passed and GOAL_SAMPLES have been learned as well. The rumors that
 * are still on their way move the model, so the target is held a little above itself.
 * Held by tests/unit/commands/test_swarm_goal.c.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_GOAL_H
#define HEARSAY_COMMANDS_SWARM_SWARM_GOAL_H

#include "commands/swarm/swarm.h"

#define GOAL_SECONDS 300
#define GOAL_SAMPLES 400000
#define GOAL_ROUNDS  3    /* in a row that must reach the target */
#define GOAL_APART   2000 /* samples learned between two rounds */
#define GOAL_IDLE_S  300  /* without a new sample: none will come */

enum swarm_end {
    SWARM_GOES_ON,
    SWARM_TARGET_HELD,
    SWARM_TIME_OVER,
    SWARM_SAMPLES_OVER,
    SWARM_LIMIT_OVER, /* nobody has set one, and both of it are over */
    SWARM_IDLE        /* nothing new is learned */
};

struct swarm_goal {
    double target;        /* score, 0 .. 1 (swarm_score.h) */
    enum score_kind kind; /* what the score is of */
    double seconds;       /* limit; 0: none was set */
    uint64_t samples;     /* limit, of all nodes together; 0: none was set */

    uint64_t rounds_seen;     /* evaluations that all nodes have finished and that were judged */
    uint64_t samples_judged;  /* learned when the last round was judged */
    int rounds_above;         /* in a row */
    uint64_t samples_learned; /* when asked last */
    double learned_s;         /* when the last new sample was seen */
};

/* Samples learned by all nodes, including ended ones. */
uint64_t swarm_goal_samples(const struct swarm_node *nodes, int count);

/* Called repeatedly; now_s: seconds since the start. */
enum swarm_end swarm_goal_judge(struct swarm_goal *goal, const struct swarm_node *nodes, int count,
                                double seconds);

/* Why training ends, as words that ": training ends" can follow. */
const char *swarm_goal_why(enum swarm_end end);

/* The part of the limit that is used up, 0 .. 1. */
double swarm_goal_used(const struct swarm_goal *goal, uint64_t samples, double seconds);

/* The limit in words: "300 s and 400000 samples". */
void swarm_goal_limit(const struct swarm_goal *goal, char *out, size_t bytes);

#endif
