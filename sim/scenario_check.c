#include "scenario_parts.h"

static const char *strategy_text(enum strategy_kind strategy)
{
    static const char *const names[] = {"gossip", "single", "ideal", "localsgd"};
    return names[strategy];
}

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

static enum status check_strategy(const struct scenario *scenario, struct problem *problem)
{
    bool gossip = scenario->strategy == STRATEGY_GOSSIP;
    if (!gossip && scenario->made_up)
        return problem_set(problem, MALFORMED,
                           "[scenario] strategy = %s needs updates = learned; made up updates are "
                           "for gossip",
                           strategy_text(scenario->strategy));
    bool needs_training = !gossip || expects(scenario, METRIC_ACCURACY) ||
                          expects(scenario, METRIC_STEPS) || expects(scenario, METRIC_COPIES);
    if (needs_training && !anybody_trains(scenario))
        return problem_set(problem, MALFORMED,
                           "no node trains; give a group its speed, such as: nodes = 2 desk, "
                           "400 samples/s");
    return OK;
}

/* Whoever calls others must find somebody who can be called. */
static enum status check_reach(const struct scenario *scenario, struct problem *problem)
{
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        if (!scenario->groups[i].dials_only)
            return OK;
    if (scenario->nodes_count == 1 || scenario->strategy != STRATEGY_GOSSIP)
        return OK;
    return problem_set(problem, MALFORMED,
                       "every group dials only, so nobody can be met; take it from one of them");
}

static enum status check_members(const struct scenario *scenario, struct problem *problem)
{
    uint32_t members = scenario->config.limits.members;
    if (members >= scenario->nodes_count)
        return OK;
    return problem_set(problem, MALFORMED,
                       "[limits] members = %u is fewer than the %u nodes; set it to %u or more",
                       members, scenario->nodes_count, scenario->nodes_count);
}

static enum status check_configs(const struct scenario *scenario, struct problem *problem)
{
    struct config config;
    struct problem why;
    enum status status = config_check(&scenario->config, problem);
    for (uint32_t i = 0; status == OK && i < scenario->groups_count; i++) {
        const struct group *group = &scenario->groups[i];
        scenario_node_config(scenario, group->first, &config);
        if (config_check(&config, &why) != OK)
            return problem_set(problem, MALFORMED, "group %s: %.400s", group->name, why.text);
    }
    return status;
}

enum status scenario_check(const struct scenario *scenario, struct problem *problem)
{
    enum status status = check_strategy(scenario, problem);
    if (status == OK)
        status = check_reach(scenario, problem);
    if (status == OK)
        status = check_members(scenario, problem);
    if (status == OK)
        status = check_configs(scenario, problem);
    return status;
}
