/* Queries of a loaded scenario. */
#include "config/config_resolve.h"
#include "scenario/scenario.h"

#include <stdio.h>
#include <string.h>

const struct group *scenario_group(const struct scenario *scenario, uint32_t i)
{
    CHECK(i < scenario->nodes_count);
    const struct group *group = scenario->groups;
    while (i >= group->first + group->count)
        group++;
    return group;
}

const struct fault *scenario_partition_until(const struct scenario *scenario, uint64_t at_ns)
{
    for (uint32_t i = 0; i < scenario->faults_count; i++)
        if (scenario->faults[i].kind == FAULT_PARTITION && scenario->faults[i].to_ns == at_ns)
            return &scenario->faults[i];
    return NULL;
}

void scenario_warn(const struct scenario *scenario)
{
    if (scenario->unlinked[0] && scenario->strategy != STRATEGY_IDEAL)
        (void)fprintf(
            stderr,
            "hearsay: no link is given between regions (%s): between these nothing is "
            "delayed or limited; add lines such as link = west east, rtt 40 ms, or link = "
            "all, rtt 40 ms for the rest\n",
            scenario->unlinked);
}

void scenario_node_config(const struct scenario *scenario, uint32_t i, struct config *config)
{
    const struct group *group = scenario_group(scenario, i);
    struct problem problem;
    *config = scenario->config;
    for (uint32_t k = 0; k < group->sets; k++)
        CHECK(config_set(config, group->set[k], &problem) == OK);
    config_resolve(config);
}

uint32_t scenario_region(const struct scenario *scenario, uint32_t i)
{
    const char *name = scenario_group(scenario, i)->region;
    uint32_t region = 0;
    while (strcmp(scenario->regions[region], name) != 0)
        region++;
    return region;
}

void scenario_node_name(const struct scenario *scenario, uint32_t i, char *out, size_t bytes)
{
    const struct group *group = scenario_group(scenario, i);
    (void)snprintf(out, bytes, "%s/%u", group->name, i - group->first + 1);
}

const char *scenario_strategy_name(enum strategy_kind kind)
{
    static const char *const names[] = {"gossip", STRATEGIES(STRATEGY_NAME)};
    return names[kind];
}

uint64_t rate_at(const struct rate *rate, uint64_t now_ns)
{
    uint64_t bytes_per_s = rate->bytes_per_s;
    for (uint32_t i = 0; i < rate->changes && rate->change[i].at_ns <= now_ns; i++)
        bytes_per_s = rate->change[i].bytes_per_s;
    return bytes_per_s;
}

bool scenario_leave_out(struct scenario *scenario)
{
    bool is_there = scenario->faults_count > 0;
    scenario->faults_count = 0;
    for (uint32_t i = 0; i < scenario->groups_count; i++) {
        struct group *group = &scenario->groups[i];
        is_there |= group->start_ns > 0 || group->stop_ns > 0;
        group->start_ns = group->stop_ns = 0;
    }
    return is_there;
}
