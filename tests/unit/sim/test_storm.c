/* Storms are drawn from a seed and reproducible, and many can run at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "storm/storm_plan.h"

/* The first seeds, large storms, and seeds that once found a mistake. */
static const uint64_t SEEDS[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,   10,  11, 12, 13,
                                 14, 15, 16, 17, 18, 19, 20, 21, 22,  23,  24, 25, 26,
                                 27, 28, 29, 30, 31, 32, 33, 34, 35,  36,  37, 38, 39,
                                 40, 41, 42, 43, 44, 45, 46, 67, 118, 134, 145};

static struct storm played(uint64_t seed)
{
    struct storm storm;
    storm_play(seed, NULL, &storm);
    return storm;
}

static void the_same_seed_plays_the_same_storm(void **state)
{
    (void)state;
    for (uint64_t seed = 3; seed <= 6; seed++) {
        const struct storm once = played(seed), again = played(seed);
        assert_int_equal(once.trace, again.trace);
        assert_int_equal(once.events, again.events);
        assert_int_equal(once.nodes, again.nodes);
        assert_memory_equal(once.faults, again.faults, sizeof once.faults);
        assert_true(once.virtual_s == again.virtual_s);
    }
}

static void another_seed_plays_another_storm(void **state)
{
    (void)state;
    const struct storm one = played(3), another = played(4);
    assert_int_not_equal(one.trace, another.trace);
    assert_int_not_equal(one.events, another.events);
}

static void fifty_storms_pass_and_leave_one_version(void **state)
{
    (void)state;
    assert_int_equal(sizeof SEEDS / sizeof *SEEDS, 50);
    for (size_t i = 0; i < sizeof SEEDS / sizeof *SEEDS; i++) {
        const struct storm storm = played(SEEDS[i]);
        if (storm.why[0])
            fail_msg("seed %llu: %s", (unsigned long long)SEEDS[i], storm.why);
        assert_true(storm.heal_s >= 0 && storm.heal_s <= (double)STORM_HEAL_NS * 1e-9);
        assert_true(storm.virtual_s > 35 && storm.events > 1000);
    }
}

static void a_trace_describes_the_plan_and_changes_nothing(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    struct storm storm;
    storm_play(3, file, &storm);
    assert_int_equal(storm.trace, played(3).trace);
    rewind(file);
    char line[256];
    uint32_t nodes = 0, faults = 0, sends = 0, drawn = 0;
    while (fgets(line, sizeof line, file)) {
        nodes += strncmp(line, "# node ", 7) == 0;
        faults += line[0] == '#' && strstr(line, " from ") && strstr(line, " to ");
        sends += strstr(line, " send ") != NULL;
    }
    (void)fclose(file);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        drawn += storm.faults[kind];
    assert_int_equal(nodes, storm.nodes);
    assert_int_equal(faults, drawn);
    assert_true(sends > 100);
}

/* Returns the nodes that node 0 can learn of, one bit each. Known addresses count in both
 * directions. */
static uint32_t reached_from_first(const struct storm_plan *plan)
{
    uint32_t reached = 1;
    for (uint32_t round = 0; round < plan->nodes; round++)
        for (uint32_t i = 0; i < plan->nodes; i++)
            for (uint32_t j = 0; j < plan->nodes; j++)
                if (plan->node[i].knows >> j & 1 && (reached >> i & 1 || reached >> j & 1))
                    reached |= 1u << i | 1u << j;
    return reached;
}

static void every_node_of_a_plan_is_reachable(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct storm_plan plan;
        storm_draw(&plan, seed);
        assert_true(plan.nodes >= 2 && plan.nodes <= STORM_NODES_MAX);
        assert_true(plan.node[0].trains && !plan.node[0].dials_only && !plan.node[0].leave_ns);
        assert_true(plan.options.limits.peers_max > plan.nodes);
        assert_int_equal(reached_from_first(&plan), (1u << plan.nodes) - 1);
        for (uint32_t i = 0; i < plan.nodes; i++) {
            assert_true(i == 0 || plan.node[i].knows);
            for (uint32_t j = 0; j < plan.nodes; j++)
                if (plan.node[i].knows >> j & 1)
                    assert_true(i != j && !plan.node[j].dials_only && !plan.node[j].leave_ns);
            assert_true(plan.node[i].start_ns < plan.faulty_ns);
        }
    }
}

static void each_class_of_fault_is_present_in_half_of_all_storms(void **state)
{
    (void)state;
    static struct storm_plan plan;
    uint32_t with[FAULT_KINDS] = {0};
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint32_t of[FAULT_KINDS] = {0};
        storm_draw(&plan, seed);
        for (uint32_t i = 0; i < plan.faults_count; i++) {
            const struct fault *fault = &plan.faults[i];
            assert_true(fault->from_ns <= fault->to_ns && fault->to_ns <= plan.faulty_ns);
            with[fault->kind] += of[fault->kind]++ == 0;
        }
        for (int kind = 0; kind < FAULT_KINDS; kind++)
            assert_true(of[kind] <= STORM_EACH_MAX + (kind == FAULT_CRASH));
        assert_int_equal(plan.twins, of[FAULT_DUPLICATE]);
    }
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        if (kind == FAULT_RUIN) /* few storms have data for training */
            assert_int_equal(with[kind], 0);
        else
            assert_in_range(with[kind], 900, 1100);
}

static void faults_strike_existing_nodes(void **state)
{
    (void)state;
    static struct storm_plan plan;
    static const struct node_set nobody;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        storm_draw(&plan, seed);
        for (uint32_t i = 0; i < plan.faults_count; i++) {
            const struct fault *fault = &plan.faults[i];
            const uint64_t both = fault->a.bits[0] & fault->b.bits[0];
            assert_memory_not_equal(&fault->a, &nobody, sizeof nobody);
            assert_int_equal(fault->a.bits[0] >> plan.nodes, 0);
            assert_int_equal(fault->b.bits[0] >> plan.nodes, 0);
            assert_int_equal(both, 0);
            if (fault->kind == FAULT_PARTITION)
                assert_memory_not_equal(&fault->b, &nobody, sizeof nobody);
        }
    }
}

static void a_seed_is_a_number_or_any_text(void **state)
{
    (void)state;
    uint64_t seed = 0, other = 0;
    assert_true(storm_seed_of("42", &seed));
    assert_int_equal(seed, 42);
    assert_true(storm_seed_of("0x2A", &seed));
    assert_int_equal(seed, 42);
    assert_true(storm_seed_of("0xffffffffffffffff", &seed));
    assert_int_equal(seed, UINT64_MAX);
    assert_true(storm_seed_of("9999999999999999999", &seed));
    assert_int_equal(seed, 9999999999999999999u);
    const char *texts[] = {"cc511ca0b2d4", "0x",   "0x1ffffffffffffffff",  "-1",
                           "4 2",          "0xgg", "99999999999999999999", "seed"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_true(storm_seed_of(texts[i], &seed));
        assert_true(seed > UINT32_MAX);
        for (size_t k = 0; k < i; k++) {
            assert_true(storm_seed_of(texts[k], &other));
            assert_int_not_equal(seed, other);
        }
    }
    assert_false(storm_seed_of("", &seed));
}

static void the_summary_counts_the_seeds_played(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    assert_true(before >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
    const int code =
        storm_command(&(struct storm_options){.from = 3, .to = 6, .jobs = 2, .twice = true});
    (void)fflush(stdout);
    assert_true(dup2(before, STDOUT_FILENO) >= 0);
    (void)close(before);
    rewind(file);
    char text[4096];
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    (void)fclose(file);
    assert_int_equal(code, 0);
    assert_ptr_equal(strstr(text, "4 seeds, 0 failed"), text);
    assert_non_null(strstr(text, "CPU per seed: median "));
    assert_non_null(strstr(text, "one version after: median "));
    assert_non_null(strstr(text, "seeds with crash "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_plays_the_same_storm),
        cmocka_unit_test(another_seed_plays_another_storm),
        cmocka_unit_test(fifty_storms_pass_and_leave_one_version),
        cmocka_unit_test(a_trace_describes_the_plan_and_changes_nothing),
        cmocka_unit_test(every_node_of_a_plan_is_reachable),
        cmocka_unit_test(each_class_of_fault_is_present_in_half_of_all_storms),
        cmocka_unit_test(faults_strike_existing_nodes),
        cmocka_unit_test(a_seed_is_a_number_or_any_text),
        cmocka_unit_test(the_summary_counts_the_seeds_played),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
