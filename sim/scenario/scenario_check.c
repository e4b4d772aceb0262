#include "scenario/scenario_parts.h"

static bool anybody_trains(const struct scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        if (scenario->groups[i].samples_per_s > 0)
            return true;
    return false;
}

static bool expects(const struct scenario *scenario, enum metric metric)
{
    for (uint32_t i = 0; i < scenario->expects_count; i++)
        if (scenario->expects[i].metric == metric)
            return true;
    return false;
}

static enum error check_strategy(const struct scenario *scenario, struct problem *problem)
{
    bool gossip = scenario->strategy == STRATEGY_GOSSIP;
    if (!gossip && scenario->made_up)
        return problem_set(problem, MALFORMED,
                           "[scenario] strategy = %s needs updates = learned; made up updates are "
                           "for gossip",
                           scenario_strategy_name(scenario->strategy));
    if (scenario->strategy >= STRATEGY_AKO && scenario->nodes_count > SCENARIO_WORKERS_MAX)
        return problem_set(problem, MALFORMED,
                           "[scenario] strategy = %s plays up to %d nodes; there are %u",
                           scenario_strategy_name(scenario->strategy), SCENARIO_WORKERS_MAX,
                           scenario->nodes_count);
    bool needs_training = !gossip || expects(scenario, METRIC_ACCURACY) ||
                          expects(scenario, METRIC_STEPS) || expects(scenario, METRIC_COPIES) ||
                          expects(scenario, METRIC_ACCURACY_OF_ALL);
    if (needs_training && !anybody_trains(scenario))
        return problem_set(problem, MALFORMED,
                           "no node trains; give a group its speed, such as: nodes = 2 desk, "
                           "400 samples/s");
    return OK;
}

/* Refuses made-up updates on a GPU: the CPU draws them. */
static enum error check_device(const struct scenario *scenario, struct problem *problem)
{
    if (scenario->made_up && device_is_gpu(scenario->config.train.device))
        return problem_set(problem, MALFORMED,
                           "[train] device = %.60s needs updates = learned; made up updates are "
                           "drawn by the CPU",
                           scenario->config.train.device);
    return OK;
}

/* Checks, for streaming_diloco, that each fragment has a step of its own, and that the exchange of
 * a fragment ends no later than the next exchange starts. */
static enum error check_rounds(const struct scenario *scenario, struct problem *problem)
{
    const struct strategy_settings *rounds = &scenario->settings;
    const uint32_t steps = rounds->local_steps / rounds->fragments;
    if (scenario->strategy != STRATEGY_STREAMING_DILOCO)
        return OK;
    if (steps == 0)
        return problem_set(problem, MALFORMED,
                           "[strategy] fragments = %u is more than local_steps = %u; each needs a "
                           "step of its own",
                           rounds->fragments, rounds->local_steps);
    if (rounds->overlap_steps > steps)
        return problem_set(problem, MALFORMED,
                           "[strategy] overlap_steps = %u: %u steps after one fragment the next is "
                           "exchanged; allowed: up to that",
                           rounds->overlap_steps, steps);
    return OK;
}

static enum error check_reach(const struct scenario *scenario, struct problem *problem)
{
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        if (!scenario->groups[i].dials_only)
            return OK;
    if (scenario->nodes_count == 1 || scenario->strategy != STRATEGY_GOSSIP)
        return OK;
    return problem_set(
        problem, MALFORMED,
        "every group dials only, so no node accepts calls; remove it from one of them");
}

static enum error check_members(const struct scenario *scenario, struct problem *problem)
{
    uint32_t members = scenario->config.limits.members;
    if (members >= scenario->nodes_count)
        return OK;
    return problem_set(problem, MALFORMED,
                       "[limits] members = %u is fewer than the %u nodes; set it to %u or more",
                       members, scenario->nodes_count, scenario->nodes_count);
}

/* Checks that the partitions to which expectations refer exist, and the strategy has the metric. */
static enum error check_expects(const struct scenario *scenario, struct problem *problem)
{
    for (uint32_t i = 0; i < scenario->expects_count; i++) {
        const struct expect *expect = &scenario->expects[i];
        if (expect->bound != BOUND_NUMBER && !scenario_partition_until(scenario, expect->from_ns))
            return problem_set(problem, MALFORMED,
                               "expect = %s: no partition is over at %.10g s, so there are no "
                               "halves",
                               expect->text, (double)expect->from_ns / 1e9);
        if (expect->metric >= METRIC_COMPONENT && scenario->strategy != STRATEGY_GOSSIP)
            return problem_set(problem, MALFORMED, "expect = %s: is for strategy = gossip",
                               expect->text);
    }
    return OK;
}

/* Checks that all duplicate faults together need at most SCENARIO_TWINS_MAX spare nodes. */
static enum error check_duplicates(const struct scenario *scenario, struct problem *problem)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < scenario->faults_count; k++)
        for (uint32_t i = 0; i < scenario->nodes_count; i++)
            count += scenario->faults[k].kind == FAULT_DUPLICATE &&
                     node_set_has(&scenario->faults[k].a, i);
    if (count <= SCENARIO_TWINS_MAX)
        return OK;
    return problem_set(problem, MALFORMED,
                       "the lines fault = duplicate name %u nodes; at most %d can be duplicated",
                       count, SCENARIO_TWINS_MAX);
}

static enum error check_configs(const struct scenario *scenario, struct problem *problem)
{
    struct config config;
    struct problem why;
    enum error error = config_check(&scenario->config, problem);
    for (uint32_t i = 0; error == OK && i < scenario->groups_count; i++) {
        const struct group *group = &scenario->groups[i];
        scenario_node_config(scenario, group->first, &config);
        if (config_check(&config, &why) != OK)
            return problem_set(problem, MALFORMED, "group %s: %.400s", group->name, why.text);
    }
    return error;
}

enum error scenario_check(const struct scenario *scenario, struct problem *problem)
{
    enum error error = check_strategy(scenario, problem);
    if (error == OK)
        error = check_device(scenario, problem);
    if (error == OK)
        error = check_rounds(scenario, problem);
    if (error == OK)
        error = check_reach(scenario, problem);
    if (error == OK)
        error = check_members(scenario, problem);
    if (error == OK)
        error = check_expects(scenario, problem);
    if (error == OK)
        error = check_duplicates(scenario, problem);
    if (error == OK)
        error = check_configs(scenario, problem);
    return error;
}
