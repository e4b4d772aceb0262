/* Decides when a swarm on this machine has learned enough, or for long enough.
 *
 *   evaluations of all nodes ─► rounds ─► the target is held ─┐
 *   samples learned, seconds ──────────► the limit is used up ┴─► training ends
 *
 * Seconds mean little on a busy machine. So the default limit is used up when both GOAL_SECONDS
 * have passed and GOAL_SAMPLES have been learned. Rumors in transit still move the model, so the
 * score must be a little above the target. Tests: tests/unit/commands/test_swarm_goal.c.
 */
#ifndef HEARSAY_COMMANDS_SWARM_SWARM_GOAL_H
#define HEARSAY_COMMANDS_SWARM_SWARM_GOAL_H

#include "commands/swarm/swarm.h"

#define GOAL_SECONDS 300
#define GOAL_SAMPLES 400000
#define GOAL_ROUNDS  3 /* consecutive rounds of evaluations that must exceed the target a little */
/* A round is ignored if some samples, but fewer than this, were learned since the last judged
 * round. */
#define GOAL_APART  2000
#define GOAL_IDLE_S 300 /* without a time limit: idle seconds after which training ends */

enum swarm_end {
    SWARM_GOES_ON,
    SWARM_TARGET_HELD,
    SWARM_TIME_OVER,
    SWARM_SAMPLES_OVER,
    SWARM_LIMIT_OVER, /* both the seconds and the samples of the default limit are used up */
    SWARM_IDLE        /* no sample was learned for GOAL_IDLE_S */
};

struct swarm_goal {
    double target; /* target score, 0 .. 1 (swarm_score.h) */
    enum score_kind kind;
    double seconds;   /* time limit; 0 = not set */
    uint64_t samples; /* limit on the sum of all nodes' samples; 0 = not set */

    uint64_t rounds_seen; /* number of the last judged round of evaluations */
    /* Samples that had been learned when the last round of evaluations was judged. */
    uint64_t samples_judged;
    int rounds_above; /* consecutive rounds that were a little above the target, up to now */
    /* Samples that had been learned at the last call of swarm_goal_judge. */
    uint64_t samples_learned;
    double learned_s; /* time of the last call of swarm_goal_judge that saw a new sample */
};

/* Returns the samples learned by all nodes, including those that have ended. */
uint64_t swarm_goal_samples(const struct swarm_node *nodes, int count);

/* Decides whether training ends; call it repeatedly. seconds: time since the start. */
enum swarm_end swarm_goal_judge(struct swarm_goal *goal, const struct swarm_node *nodes, int count,
                                double seconds);

/* Returns why training ends, as words before ": training ends". */
const char *swarm_goal_why(enum swarm_end end);

/* Returns the used part of the limit, 0 .. 1, once the swarm has learned `samples` samples in
 * `seconds` seconds. */
double swarm_goal_used(const struct swarm_goal *goal, uint64_t samples, double seconds);

/* Writes the limit in words, such as "300 s and 400000 samples". */
void swarm_goal_limit(const struct swarm_goal *goal, char *out, size_t bytes);

#endif
