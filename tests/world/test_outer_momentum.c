/* Outer momentum moves weights beyond the base along recent updates of the swarm, but not along old
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/sim/swarm_world.h"

static struct node_options options_with_momentum(void)
{
    struct node_options options = usual_options();
    options.beta = 0.3;
    return options;
}

/* Numbers of updates that a node has applied: in all, and with momentum. */
struct counted {
    uint64_t applied, moved_on;
};

static struct counted count(uint32_t i)
{
    return (struct counted){world.nodes[i].applied, world.nodes[i].moved_on};
}

static struct counted since(uint32_t i, struct counted before)
{
    const struct counted now = count(i);
    return (struct counted){now.applied - before.applied, now.moved_on - before.moved_on};
}

static void a_publishing_node_follows_others_with_momentum(void **state)
{
    (void)state;
    const struct node_options options = options_with_momentum();
    start_swarm(3, &options);
    run(10 * SECOND_NS);
    const struct counted before = count(0);
    run(20 * SECOND_NS);
    const struct counted seen = since(0, before);
    assert_true(seen.applied > 10);
    assert_int_equal(seen.moved_on, seen.applied);
}

static void a_node_without_training_stays_at_the_base(void **state)
{
    (void)state;
    static float weights[PARAMETERS];
    static int32_t units[PARAMETERS];
    struct node_options options = options_with_momentum();
    start_swarm(2, &options);
    options.trains = false;
    world_introduce(&world, add(&options), 0);
    world_start(&world, 2);
    run(30 * SECOND_NS);
    assert_true(count(2).applied > 10);
    assert_int_equal(count(2).moved_on, 0);
    sim_learner_read_weights(&world.nodes[2].sim_learner, weights);
    sim_learner_read_units(&world.nodes[2].sim_learner, units);
    for (int c = 0; c < PARAMETERS; c++)
        assert_true(weights[c] == QUANTUM * (float)units[c]);
}

static void updates_for_catching_up_have_no_momentum(void **state)
{
    (void)state;
    const struct node_options options = options_with_momentum();
    start_swarm(3, &options);
    run(10 * SECOND_NS);
    cut(2, 0);
    cut(2, 1);
    run(20 * SECOND_NS);
    heal_cut(2, 0);
    heal_cut(2, 1);
    const struct counted before = count(2);
    while (since(2, before).applied < 5)
        run(SECOND_NS / 10);
    assert_int_equal(since(2, before).moved_on, 0);
    run(20 * SECOND_NS);
    assert_true(since(2, before).moved_on > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(a_publishing_node_follows_others_with_momentum),
        STORY(a_node_without_training_stays_at_the_base),
        STORY(updates_for_catching_up_have_no_momentum),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
