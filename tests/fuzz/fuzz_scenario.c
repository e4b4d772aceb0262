/* Scenarios: an accepted scenario has groups, faults and rates within their bounds. */
#include "fuzz/file.h"
#include "fuzz/fuzz.h"
#include "scenario/scenario.h"

static struct file file;

void fuzz_begin(void)
{
    file_init(&file);
}

static void look_at_nodes(const struct scenario *scenario)
{
    static struct config config;
    uint32_t nodes = 0;
    CHECK(scenario->groups_count >= 1 && scenario->groups_count <= SCENARIO_GROUPS_MAX);
    for (uint32_t i = 0; i < scenario->groups_count; i++) {
        CHECK(scenario->groups[i].first == nodes && scenario->groups[i].count > 0);
        nodes += scenario->groups[i].count;
    }
    CHECK(nodes == scenario->nodes_count);
    for (uint32_t i = 0; i < scenario->groups_count; i++) {
        char name[SCENARIO_NAME_BYTES + 16];
        const uint32_t node = scenario->groups[i].first;
        CHECK(scenario_group(scenario, node) == &scenario->groups[i]);
        CHECK(scenario_region(scenario, node) < scenario->regions_count);
        scenario_node_config(scenario, node, &config);
        scenario_node_name(scenario, node, name, sizeof name);
        CHECK(rate_at(&scenario->groups[i].up, scenario->span_ns) <= UINT64_MAX / 2);
    }
}

void fuzz_one(const uint8_t *data, size_t bytes)
{
    static struct scenario scenario;
    struct problem problem = {""};
    file_put(&file, data, bytes);
    const enum error error = scenario_load(&scenario, file.path, NULL, 0, &problem);
    CHECK((error == OK) == (problem.text[0] == 0));
    if (error != OK)
        return;
    CHECK(scenario.span_ns > 0 && scenario.faults_count <= SCENARIO_FAULTS_MAX);
    for (uint32_t i = 0; i < scenario.faults_count; i++)
        CHECK(scenario.faults[i].from_ns <= scenario.faults[i].to_ns);
    look_at_nodes(&scenario);
}
