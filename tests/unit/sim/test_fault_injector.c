/* Faults of processes, and all faults together. Each takes effect and ends, and the swarm reaches
 * one version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/sim/fault_story.h"

static void a_crashed_node_restarts_with_a_new_incarnation(void **state)
{
    (void)state;
    const struct fault crash = fault(FAULT_CRASH, 10, 15, 2);
    begin_faults(&crash, 1, 1);
    run_to(10.5);
    assert_false(world_is_running(&world, 2));
    assert_int_equal(neighbours(0), NODES - 2); /* neighbours are notified at once */
    run_to(14.9);
    assert_false(world_is_running(&world, 2));
    run_to(15.1);
    assert_true(world_is_running(&world, 2));
    assert_int_equal(world.nodes[2].incarnation, 2);
    end_well(20);
}

static void a_silent_crash_is_noticed_only_by_timeout(void **state)
{
    (void)state;
    struct fault crash = fault(FAULT_CRASH, 10, 0, 2);
    crash.value = 1;
    begin_faults(&crash, 1, 1);
    run_to(11.9); /* neighbours wait three seconds after node 2's last byte */
    assert_false(world_is_running(&world, 2));
    assert_int_equal(neighbours(0), NODES - 1);
    run_to(13.3);
    assert_int_equal(neighbours(0), NODES - 2);
    end_well(25);
}

static void a_crash_can_come_with_any_action(void **state)
{
    (void)state;
    for (uint32_t actions = 1; actions <= 40; actions++) {
        struct fault crash = fault(FAULT_CRASH, 8, 12, 1);
        crash.actions = actions;
        begin_faults(&crash, 1, actions);
        run_to(7.99);
        assert_true(world_is_running(&world, 1));
        run_to(11.9);
        assert_false(world_is_running(&world, 1));
        end_well(13);
    }
}

static void a_crash_still_pending_at_its_end_is_cancelled(void **state)
{
    (void)state;
    struct fault crash = fault(FAULT_CRASH, 8, 9, 1);
    crash.actions = 1000000;
    begin_faults(&crash, 1, 1);
    run_to(10);
    assert_int_equal(world.nodes[1].dies_in, 0);
    assert_int_equal(world.nodes[1].incarnation, 1);
    end_well(10);
}

static void a_permanent_crash_ends_with_the_faults(void **state)
{
    (void)state;
    const struct fault crash = fault(FAULT_CRASH, 10, 10, 2);
    begin_faults(&crash, 1, 1);
    run_to(30);
    assert_false(world_is_running(&world, 2));
    end_well(30);
}

static void a_fault_leaves_a_node_that_is_down_alone(void **state)
{
    (void)state;
    const struct fault crashes[2] = {fault(FAULT_CRASH, 10, 30, 2), fault(FAULT_CRASH, 12, 15, 2)};
    begin_faults(crashes, 2, 1);
    run_to(20);
    assert_false(world_is_running(&world, 2));
    run_to(31);
    assert_int_equal(world.nodes[2].incarnation, 2);
    end_well(31);
}

static void a_node_with_a_pending_crash_is_left_alone(void **state)
{
    (void)state;
    struct fault crashes[2] = {fault(FAULT_CRASH, 10, 30, 2), fault(FAULT_CRASH, 12, 15, 2)};
    crashes[0].actions = 1000000;
    begin_faults(crashes, 2, 1);
    run_to(13);
    assert_true(world_is_running(&world, 2));
    end_well(16);
}

static void any_strikes_one_node_drawn_by_the_seed(void **state)
{
    (void)state;
    uint32_t struck[6];
    struct fault crash = {
        .kind = FAULT_CRASH, .from_ns = seconds(5), .to_ns = seconds(9), .any = true};
    for (uint32_t i = 0; i < NODES; i++)
        node_set_add(&crash.a, i);
    for (uint32_t k = 0; k < 6; k++) {
        uint32_t down = 0;
        crash.seed = k / 2;
        begin_faults(&crash, 1, 1);
        run_to(6);
        for (uint32_t i = 0; i < NODES; i++)
            if (!world_is_running(&world, i)) {
                struck[k] = i;
                down++;
            }
        assert_int_equal(down, 1);
        end_well(10);
    }
    assert_int_equal(struck[0], struck[1]);
    assert_int_equal(struck[2], struck[3]);
    assert_true(struck[0] != struck[2] || struck[2] != struck[4]);
}

static void a_paused_node_makes_no_step(void **state)
{
    (void)state;
    const struct fault pause = fault(FAULT_PAUSE, 10, 16, 2);
    begin_faults(&pause, 1, 1);
    run_to(10.1);
    const uint64_t steps = world.nodes[2].steps;
    run_to(15.9);
    assert_int_equal(world.nodes[2].steps, steps);
    run_to(17);
    assert_in_range(world.nodes[2].steps, steps + 15, steps + 25);
    end_well(20);
}

static void a_short_pause_has_the_given_length(void **state)
{
    (void)state;
    const struct fault pause = fault(FAULT_PAUSE, 10, 10.25, 2);
    begin_faults(&pause, 1, 1);
    run_to(10.1);
    const uint64_t steps = world.nodes[2].steps;
    run_to(10.24);
    assert_int_equal(world.nodes[2].steps, steps);
    run_to(10.4);
    assert_true(world.nodes[2].steps > steps);
    end_well(12);
}

static void paused_nodes_resume_within_a_second_after_the_faults(void **state)
{
    (void)state;
    const struct fault pause = fault(FAULT_PAUSE, 10, 70, 2);
    begin_faults(&pause, 1, 1);
    run_to(20);
    const uint64_t steps = world.nodes[2].steps;
    fault_injector_end(injector);
    run_to(22);
    assert_true(world.nodes[2].steps > steps);
    end_well(22);
}

static void a_restarted_node_is_neither_paused_nor_a_slow_reader(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        const struct fault faults[2] = {
            fault(slow ? FAULT_SLOW_READER : FAULT_PAUSE, 10, 40, 2),
            fault(FAULT_CRASH, 12.1, 12.3, 2)};
        begin_faults(faults, 2, 1);
        run_to(12.35);
        const struct party *party = &world.wire.parties[2];
        assert_true(party->paused_ns < world_now_ns(&world));
        assert_true(party->deaf_ns < world_now_ns(&world));
        run_to(20);
        assert_int_equal(world.nodes[2].incarnation, 2);
        assert_true(world.nodes[2].steps > 0);
        end_well(20);
    }
}

static void churn_crashes_and_restarts_one_node_after_another(void **state)
{
    (void)state;
    struct fault churn = fault(FAULT_CHURN, 4, 30, 1);
    node_set_add(&churn.a, 2);
    node_set_add(&churn.a, 3);
    churn.every_ns = seconds(5);
    churn.away_ns = seconds(3);
    begin_faults(&churn, 1, 1);
    uint32_t incarnations = 0;
    for (double t = 9; t < 30; t += 5) {
        run_to(t + 1);
        assert_int_equal(world_is_running(&world, 1) + world_is_running(&world, 2) +
                             world_is_running(&world, 3),
                         2);
        run_to(t + 3.5);
        for (uint32_t i = 0; i < NODES; i++)
            assert_true(world_is_running(&world, i));
    }
    for (uint32_t i = 0; i < NODES; i++)
        incarnations += world.nodes[i].incarnation;
    assert_int_equal(incarnations, NODES + 5);
    end_well(35);
}

static void a_clock_jump_affects_the_next_incarnation(void **state)
{
    (void)state;
    struct fault faults[2] = {fault(FAULT_CLOCK, 8, 8, 2), fault(FAULT_CRASH, 10, 11, 2)};
    faults[0].value = 100;
    begin_faults(faults, 2, 1);
    const uint64_t before = world.nodes[2].options.incarnation;
    run_to(12);
    assert_int_equal(world.nodes[2].options.incarnation, before + 11000 + 100000);
    end_well(12);
}

static void the_original_of_a_duplicate_is_refused_and_restarts(void **state)
{
    (void)state;
    const struct fault duplicate = fault(FAULT_DUPLICATE, 10, 20, 0);
    begin_faults(&duplicate, 1, 1);
    run_to(19);
    assert_true(world_is_running(&world, 0) && world_is_running(&world, TWIN));
    assert_true(world.nodes[0].notes[NOTE_IDENTITY_TAKEN] > 0);
    run_to(21);
    assert_false(world_is_running(&world, TWIN));
    assert_int_equal(world.nodes[0].incarnation, 2);
    end_well(22);
}

static uint64_t play_all(uint64_t seed)
{
    struct fault faults[FAULT_KINDS];
    for (uint32_t kind = 0; kind < FAULT_KINDS; kind++) {
        faults[kind] = fault((enum fault_kind)kind, 5 + 1.7 * kind, 12 + 1.7 * kind, kind % NODES);
        faults[kind].every_ns = seconds(3);
        faults[kind].away_ns = seconds(2);
        faults[kind].any = kind != FAULT_DUPLICATE;
        faults[kind].seed = seed;
        for (uint32_t i = 0; i < NODES && faults[kind].any; i++)
            node_set_add(&faults[kind].a, i);
    }
    begin_faults(faults, FAULT_KINDS, seed);
    end_well(40);
    return world.trace;
}

static void all_faults_together_heal_and_are_reproducible(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++)
        assert_int_equal(play_all(seed), play_all(seed));
    assert_true(play_all(1) != play_all(2));
}

static void faults_that_have_not_begun_never_do(void **state)
{
    (void)state;
    const struct fault crash = fault(FAULT_CRASH, 10, 60, 2);
    begin_faults(&crash, 1, 1);
    heal(9);
    assert_int_equal(world.nodes[2].incarnation, 1);
    leave_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crashed_node_restarts_with_a_new_incarnation),
        cmocka_unit_test(a_silent_crash_is_noticed_only_by_timeout),
        cmocka_unit_test(a_crash_can_come_with_any_action),
        cmocka_unit_test(a_crash_still_pending_at_its_end_is_cancelled),
        cmocka_unit_test(a_permanent_crash_ends_with_the_faults),
        cmocka_unit_test(a_fault_leaves_a_node_that_is_down_alone),
        cmocka_unit_test(a_node_with_a_pending_crash_is_left_alone),
        cmocka_unit_test(any_strikes_one_node_drawn_by_the_seed),
        cmocka_unit_test(a_paused_node_makes_no_step),
        cmocka_unit_test(a_short_pause_has_the_given_length),
        cmocka_unit_test(paused_nodes_resume_within_a_second_after_the_faults),
        cmocka_unit_test(a_restarted_node_is_neither_paused_nor_a_slow_reader),
        cmocka_unit_test(churn_crashes_and_restarts_one_node_after_another),
        cmocka_unit_test(a_clock_jump_affects_the_next_incarnation),
        cmocka_unit_test(the_original_of_a_duplicate_is_refused_and_restarts),
        cmocka_unit_test(all_faults_together_heal_and_are_reproducible),
        cmocka_unit_test(faults_that_have_not_begun_never_do),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
