/* Nodes follow one schedule of the learning rate, which counts the samples of all members. They
 * keep it when a node joins, returns, or takes over a base. tests/unit/model/test_optimizer.c tests
 * a single learner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiment/experiment.h"
#include "support/sim/fetch_story.h"

/* Memory for a model that the learners of all nodes share. */
static struct arena arena;
static struct dataset cases;
static struct model *model;

static void make_learner(void *self, uint32_t i, struct sim_learner *sim_learner)
{
    (void)self;
    const struct learner_options options = {.optimizer = {.sgd = {.rate = 0.001f}},
                                            .batch = 32,
                                            .model_seed = 1,
                                            .data_node = i,
                                            .density_max = 20};
    arena_init(&sim_learner->arena, (size_t)1 << 20);
    sim_learner->parameters = model_parameters(model);
    sim_learner->learner = learner_new(&sim_learner->arena, backend, model, &cases, NULL, &options);
}

static int begin(void **state)
{
    (void)state;
    const struct dataset_options source = {.source = DATASET_XOR, .shards = 1};
    struct problem problem;
    begin_world(1);
    world.maker.make = make_learner;
    arena_init(&arena, (size_t)1 << 20);
    assert_int_equal(dataset_load_train(&cases, &source, &problem), OK);
    assert_int_equal(model_new(&model, &arena, backend, model_preset("xor"), cases.shape,
                               cases.classes, 32, &problem),
                     OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    world_free(&world);
    model_free(model);
    dataset_free(&cases);
    arena_release(&arena);
    return 0;
}

/* Returns node i's position in the schedule, in samples. */
static uint64_t place_of(uint32_t i)
{
    return learner_swarm_samples(world.nodes[i].sim_learner.learner);
}

static uint64_t learned_by(uint32_t i)
{
    return learner_samples(world.nodes[i].sim_learner.learner);
}

static uint64_t learned_by_all(void)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i < world.nodes_count; i++)
        samples += world_is_running(&world, i) ? learned_by(i) : 0;
    return samples;
}

/* Checks that node i is not ahead of the swarm in the schedule, and at most 1.5 s of the swarm's
 * training behind. This covers the publishing interval of 0.5 s and forwarding. */
static void must_be_where_the_swarm_is(uint32_t i)
{
    const uint64_t a_second = 50 * 32 * world_running(&world);
    assert_true(place_of(i) <= learned_by_all());
    assert_true(place_of(i) + a_second * 3 / 2 >= learned_by_all());
}

static void two_nodes_share_a_schedule_and_each_learns_half(void **state)
{
    (void)state;
    start_usual_swarm(2);
    run(40 * SECOND_NS);
    for (uint32_t i = 0; i < 2; i++) {
        must_be_where_the_swarm_is(i);
        assert_true(learned_by(i) > 40000);
        assert_true(place_of(i) > 19 * learned_by(i) / 10);
    }
}

static void a_single_node_follows_its_own_samples(void **state)
{
    (void)state;
    start_usual_swarm(1);
    run(20 * SECOND_NS);
    assert_true(learned_by(0) > 10000);
    assert_int_equal(place_of(0), learned_by(0));
}

static void a_joiner_has_the_swarms_position_from_its_first_step(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    start_usual_swarm(2);
    run(40 * SECOND_NS);
    const uint32_t late = add(&options);
    world_introduce(&world, late, 0);
    world_start(&world, late);
    while (world.nodes[late].steps < 1)
        run(5 * MS_NS);
    assert_true(learned_by(late) <= 64);
    must_be_where_the_swarm_is(late);
    run(5 * SECOND_NS);
    for (uint32_t i = 0; i < 3; i++)
        must_be_where_the_swarm_is(i);
}

static void a_returning_node_keeps_its_position(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.save_ns = 5 * SECOND_NS;
    start_swarm(1, &options);
    run(30 * SECOND_NS);
    world_kill(&world, 0, false);
    world_start(&world, 0);
    assert_true(place_of(0) > 30000);
    assert_int_equal(place_of(0), learned_by(0));
}

/* The samples that a node learned before its takeover belong to an earlier incarnation. They must
 * count only once. */
static void samples_before_a_takeover_count_once(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.block_entries = 100;
    options.partition_s = 5;
    start_swarm(3, &options);
    run(10 * SECOND_NS);
    for (uint32_t i = 1; i < 3; i++)
        cut(0, i);
    run(60 * SECOND_NS);
    for (uint32_t i = 1; i < 3; i++)
        heal_cut(0, i);
    run(40 * SECOND_NS);
    assert_int_equal(bases_of(0), 1);
    for (uint32_t i = 0; i < 3; i++)
        must_be_where_the_swarm_is(i);
}

/* Returns node i's position in the schedule, divided by the samples that all running nodes have
 * really learned. */
static double times_too_far(uint32_t i)
{
    return (double)place_of(i) / (double)learned_by_all();
}

static void must_be_near_what_was_learned(uint32_t i)
{
    print_message("node %u: %.3f times as far as all have learned\n", (unsigned)i,
                  times_too_far(i));
    assert_true(times_too_far(i) > 0.75);
    assert_true(times_too_far(i) < 2);
}

static uint32_t join_and_begin_to_learn(void)
{
    const struct node_options options = usual_options();
    const uint32_t late = add(&options);
    world_introduce(&world, late, 0);
    world_start(&world, late);
    while (world.nodes[late].steps < 1)
        run(5 * MS_NS);
    return late;
}

static void start_four_and_a_liar(const struct node_options *options)
{
    start_swarm(5, options);
    world_poison(&world, 4, POISON_CLAIMS, 1e4, 1);
}

/* Node 4 claims ten thousand times its samples. */
static void one_liar_of_five_moves_no_schedule_twice_as_far(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    start_four_and_a_liar(&options);
    for (uint32_t second = 0; second < 40; second++) {
        run(SECOND_NS);
        for (uint32_t i = 0; i < 4 && second > 3; i++)
            assert_true(times_too_far(i) > 0.75 && times_too_far(i) < 2);
    }
    for (uint32_t i = 0; i < 4; i++)
        must_be_near_what_was_learned(i);
    must_be_near_what_was_learned(join_and_begin_to_learn());
    run(20 * SECOND_NS);
    must_be_near_what_was_learned(5);
}

static void claims_of_one_liar_do_not_move_a_returning_node(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.save_ns = 5 * SECOND_NS;
    start_four_and_a_liar(&options);
    run(30 * SECOND_NS);
    const uint64_t learned = learned_by(0);
    world_kill(&world, 0, false);
    run(20 * SECOND_NS);
    world_start(&world, 0);
    for (uint32_t second = 0; second < 20; second++) {
        run(SECOND_NS);
        assert_true(place_of(0) > 4 * learned);
        /* node 0 lost few samples of its previous incarnation */
        assert_true(times_too_far(0) < 2.2);
    }
}

/* Node 0 claims samples that are new to the returning node 1. No third node confirms them. */
static void a_returning_node_follows_the_one_that_continued(void **state)
{
    (void)state;
    struct node_options options = usual_options();
    options.save_ns = 5 * SECOND_NS;
    start_swarm(2, &options);
    run(30 * SECOND_NS);
    world_kill(&world, 1, false);
    run(600 * SECOND_NS);
    world_start(&world, 1);
    run(10 * SECOND_NS);
    for (uint32_t i = 0; i < 2; i++)
        assert_true(times_too_far(i) > 0.95 && times_too_far(i) < 1.01); /* few samples were lost */
}

/* Runs for two and a half hours, in which each node begins a new counting period twice. */
static void hours_of_honesty_do_not_make_a_lie_credible(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    add_swarm(5, &options);
    for (uint32_t i = 0; i < 5; i++)
        world.nodes[i].step_ns = SECOND_NS;
    start_all();
    run(9000 * SECOND_NS);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(times_too_far(i) > 0.98 && times_too_far(i) <= 1);
    world_poison(&world, 4, POISON_CLAIMS, 1e4, 1);
    run(100 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(times_too_far(i) < 1 + 1800.0 * 4 / (9000 * 5));
}

/* The joiner has never seen claims of the older node. No third node can confirm them. */
static void a_late_joiner_of_two_starts_at_the_older_count(void **state)
{
    (void)state;
    start_usual_swarm(1);
    world.nodes[0].step_ns = 200 * MS_NS;
    run(5000 * SECOND_NS);
    world.nodes[0].step_ns = 20 * MS_NS;
    const uint32_t second = join_and_begin_to_learn();
    must_be_where_the_swarm_is(second);
    run(20 * SECOND_NS);
    const uint32_t third = join_and_begin_to_learn();
    must_be_where_the_swarm_is(third);
    run(20 * SECOND_NS);
    const uint32_t fourth = join_and_begin_to_learn();
    must_be_where_the_swarm_is(fourth);
    run(20 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++)
        must_be_where_the_swarm_is(i);
}

/* Node 3 moves the base in proportion to its samples. */
static void a_tenfold_learner_counts_fully(void **state)
{
    (void)state;
    const struct node_options options = usual_options();
    add_swarm(4, &options);
    world.nodes[3].step_ns = 2 * MS_NS;
    start_all();
    run(60 * SECOND_NS);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(times_too_far(i) > 0.9 && times_too_far(i) <= 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(two_nodes_share_a_schedule_and_each_learns_half),
        TEST(a_single_node_follows_its_own_samples),
        TEST(a_joiner_has_the_swarms_position_from_its_first_step),
        TEST(a_returning_node_keeps_its_position),
        TEST(samples_before_a_takeover_count_once),
        TEST(one_liar_of_five_moves_no_schedule_twice_as_far),
        TEST(claims_of_one_liar_do_not_move_a_returning_node),
        TEST(a_returning_node_follows_the_one_that_continued),
        TEST(hours_of_honesty_do_not_make_a_lie_credible),
        TEST(a_late_joiner_of_two_starts_at_the_older_count),
        TEST(a_tenfold_learner_counts_fully),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
