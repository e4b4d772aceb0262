/* The scenarios shipped with the program are complete, and each trains on a limited number of
 * samples. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "events/event_queue.h"
#include "scenario/scenario.h"

static void load_shipped(struct scenario *scenario, const char *file)
{
    char path[1024];
    struct problem problem = {""};
    (void)snprintf(path, sizeof path, HEARSAY_CONFIGS "/%s", file);
    if (scenario_load(scenario, path, NULL, 0, &problem) != OK)
        fail_msg("%s", problem.text);
}

/* Returns how many samples all nodes together train on. */
static double samples_of(const struct scenario *scenario)
{
    double samples = 0;
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        samples += scenario->groups[i].count * scenario->groups[i].samples_per_s *
                   (double)scenario->span_ns / 1e9;
    return samples;
}

static double samples_of_fastest(const struct scenario *scenario)
{
    double most = 0;
    for (uint32_t i = 0; i < scenario->groups_count; i++)
        most = fmax(most, scenario->groups[i].samples_per_s);
    return most;
}

static void every_shipped_scenario_is_described_and_takes_about_a_minute(void **state)
{
    (void)state;
    static struct scenario scenario;
    int found = 0;
    DIR *dir = opendir(HEARSAY_CONFIGS);
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (strncmp(entry->d_name, "sim-", 4) != 0)
            continue;
        found++;
        load_shipped(&scenario, entry->d_name);
        assert_true(strncmp(scenario.name, entry->d_name, strlen(scenario.name)) == 0);
        assert_true(scenario.about[0] && scenario.source[0]);
        assert_true(scenario.expects_count >= 3);
        const bool is_long =
            scenario.span_ns == 3600 * SECOND_NS || samples_of_fastest(&scenario) > 1e4;
        const double most = is_long                           ? 4000000
                            : scenario.config.model.layers[0] ? 480000 /* a small model */
                            : strcmp(scenario.config.model.name, "mlp") == 0 ? 2000000
                                                                             : 160000;
        assert_true(scenario.made_up || samples_of(&scenario) <= most);
    }
    assert_int_equal(closedir(dir), 0);
    assert_true(found >= 24);
}

static void two_sites_loads_as_written(void **state)
{
    (void)state;
    static struct scenario scenario;
    load_shipped(&scenario, "sim-two-sites.conf");
    assert_string_equal(scenario.name, "sim-two-sites");
    assert_int_equal(scenario.nodes_count, 8);
    assert_int_equal(scenario.groups_count, 2);
    assert_int_equal(scenario.regions_count, 2);
    assert_string_equal(scenario.regions[1], "east");
    assert_true(scenario.groups[0].samples_per_s == 160);
    assert_true(scenario.groups[0].up.bytes_per_s == 125000000);
    assert_int_equal(scenario.groups[1].first, 4);
    assert_true(scenario.paths[0][0].delay_ns == 250000);
    assert_true(scenario.paths[1][0].delay_ns == 40 * MS_NS);
    assert_true(scenario.paths[0][1].jitter_ns == 4 * MS_NS);
    assert_true(scenario.paths[0][1].loss == 0.001);
    assert_true(scenario.paths[1][0].rate.bytes_per_s == 2500000);
    assert_true(scenario.span_ns == 120 * SECOND_NS);
    assert_true(scenario.settle_ns == 60 * SECOND_NS);
    assert_int_equal(scenario.strategy, STRATEGY_GOSSIP);
    assert_string_equal(scenario.config.model.name, "lenet");
    assert_true(scenario.config.exchange.bytes_per_s == 30000);
    assert_true(scenario.expects[0].metric == METRIC_ACCURACY && scenario.expects[0].at_least);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_scenario_is_described_and_takes_about_a_minute),
        cmocka_unit_test(two_sites_loads_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
