#include "commands/swarm/swarm_goal.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"

uint64_t swarm_goal_samples(const struct swarm_node *nodes, int count)
{
    uint64_t samples = 0;
    for (int i = 0; i < count; i++)
        samples += nodes[i].samples;
    return samples;
}

/* Returns the score at which training ends. It is above the target by 1/20 of the distance from the
 * target to the best score, 1. */
static double held_at(const struct swarm_goal *goal)
{
    return goal->target + (1 - goal->target) / 20;
}

/* Judges a round of evaluations and returns true if the target is held. A round is complete when
 * every running node has evaluated its part again. GOAL_APART says which rounds are ignored. */
static bool is_target_held(struct swarm_goal *goal, const struct swarm_node *nodes, int count)
{
    uint64_t tested = 0, rounds = UINT64_MAX;
    double score = 0; /* sum over all tested samples of the score of the node that tested them */
    for (int i = 0; i < count; i++) {
        if (nodes[i].pid == 0)
            continue;
        tested += nodes[i].tested;
        if (nodes[i].tested > 0)
            score += swarm_node_score(&nodes[i], goal->kind) * (double)nodes[i].tested;
        rounds = nodes[i].evaluations < rounds ? nodes[i].evaluations : rounds;
    }
    const uint64_t learned = swarm_goal_samples(nodes, count) - goal->samples_judged;
    if (tested == 0 || rounds <= goal->rounds_seen || (learned > 0 && learned < GOAL_APART))
        return false;
    goal->rounds_seen = rounds;
    goal->samples_judged += learned;
    const bool above = score >= held_at(goal) * (double)tested;
    goal->rounds_above = above ? goal->rounds_above + 1 : 0;
    return goal->rounds_above >= GOAL_ROUNDS;
}

enum swarm_end swarm_goal_judge(struct swarm_goal *goal, const struct swarm_node *nodes, int count,
                                double seconds)
{
    CHECK(goal->target >= 0 && goal->target <= 1);
    const uint64_t samples = swarm_goal_samples(nodes, count);
    if (samples != goal->samples_learned) {
        goal->samples_learned = samples;
        goal->learned_s = seconds;
    }
    if (is_target_held(goal, nodes, count))
        return SWARM_TARGET_HELD;
    if (goal->seconds > 0 && seconds >= goal->seconds)
        return SWARM_TIME_OVER;
    if (goal->samples > 0 && samples >= goal->samples)
        return SWARM_SAMPLES_OVER;
    if (goal->seconds > 0)
        return SWARM_GOES_ON;
    if (goal->samples == 0 && seconds >= GOAL_SECONDS && samples >= GOAL_SAMPLES)
        return SWARM_LIMIT_OVER;
    return seconds - goal->learned_s >= GOAL_IDLE_S ? SWARM_IDLE : SWARM_GOES_ON;
}

const char *swarm_goal_why(enum swarm_end end)
{
    static const char *const WHY[] = {[SWARM_TARGET_HELD] = "above the target three times in a row",
                                      [SWARM_TIME_OVER] = "the time is over",
                                      [SWARM_SAMPLES_OVER] = "all samples are learned",
                                      [SWARM_LIMIT_OVER] = "the limit is reached",
                                      [SWARM_IDLE] = "no sample was learned for five minutes"};
    CHECK(end > SWARM_GOES_ON && end <= SWARM_IDLE);
    return WHY[end];
}

double swarm_goal_used(const struct swarm_goal *goal, uint64_t samples, double seconds)
{
    const bool is_set = goal->seconds > 0 || goal->samples > 0;
    const double most_s = is_set ? goal->seconds : GOAL_SECONDS;
    const double most = is_set ? (double)goal->samples : GOAL_SAMPLES;
    const double of_time = most_s > 0 ? seconds / most_s : 0;
    const double of_samples = most > 0 ? (double)samples / most : 0;
    return fmin(1, is_set ? fmax(of_time, of_samples) : fmin(of_time, of_samples));
}

void swarm_goal_limit(const struct swarm_goal *goal, char *out, size_t bytes)
{
    if (goal->seconds > 0 && goal->samples > 0)
        (void)snprintf(out, bytes, "%.0f s or %" PRIu64 " samples", goal->seconds, goal->samples);
    else if (goal->seconds > 0)
        (void)snprintf(out, bytes, "%.0f s", goal->seconds);
    else if (goal->samples > 0)
        (void)snprintf(out, bytes, "%" PRIu64 " samples", goal->samples);
    else
        (void)snprintf(out, bytes, "%d s and %d samples", GOAL_SECONDS, GOAL_SAMPLES);
}
