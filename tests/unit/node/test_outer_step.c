/* How often a node publishes, and with which gain, from its measurements. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/rate/outer_step.h"

/* Returns measurements of four nodes 200 ms apart, with 80 steps a second and a fast line. */
static struct outer_step_measured usual(void)
{
    return (struct outer_step_measured){.learners = 4,
                                        .delay_s = 0.2,
                                        .hops = 1,
                                        .step_s = 0.0125,
                                        .bytes_per_s = 1e6,
                                        .momentum = 0.9,
                                        .publications = 100,
                                        .is_cut = true};
}

static void assert_near(double is, double should_be)
{
    if (fabs(is - should_be) > 1e-9)
        fail_msg("%g is not %g", is, should_be);
}

static void the_interval_is_as_long_as_news_takes(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    assert_near(outer_step_of(&measured).interval_s, 0.2 + 8 * 0.0125);
    measured.delay_s = 0.8;
    assert_near(outer_step_of(&measured).interval_s, 0.8 + 8 * 0.0125);
    measured.hops = 2;
    assert_near(outer_step_of(&measured).interval_s, 1.6 + 8 * 0.0125);
    measured.step_s = 1;
    assert_near(outer_step_of(&measured).interval_s, 1.6 + 8);
}

static void up_to_four_average_and_more_are_bolder_and_tell_more_rarely(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    for (measured.learners = 2; measured.learners <= 4; measured.learners++)
        assert_near(outer_step_of(&measured).gain, 1);
    measured.learners = 16;
    assert_near(outer_step_of(&measured).gain, 2);
    assert_near(outer_step_of(&measured).interval_s, 2 * (0.2 + 8 * 0.0125));
    measured.learners = 64;
    assert_near(outer_step_of(&measured).gain, 4);
    assert_near(outer_step_of(&measured).interval_s, 4 * (0.2 + 8 * 0.0125));
}

static void uncut_publications_use_shorter_intervals_and_less_gain(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.is_cut = false;
    for (measured.learners = 1; measured.learners <= 4; measured.learners++)
        assert_near(outer_step_of(&measured).gain, 1);
    measured.learners = 64;
    assert_near(outer_step_of(&measured).gain, 2);
    assert_near(outer_step_of(&measured).interval_s, 2 * (0.2 + 8 * 0.0125));
    assert_near(outer_step_of(&measured).beta, 0.3 / 2);
}

static void many_tell_often_at_first_and_as_boldly(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.learners = 64;
    static const double intervals[] = {1, 4 / 3.0, 2, 8 / 3.0, 10 / 3.0, 4, 4};
    for (measured.publications = 0; measured.publications < 7; measured.publications++) {
        const double usual_s = intervals[measured.publications] * (0.2 + 8 * 0.0125);
        const bool is_beginning = measured.publications < OUTER_STEP_BEGINNING;
        assert_near(outer_step_of(&measured).interval_s, is_beginning ? fmin(usual_s, 1) : usual_s);
        assert_near(outer_step_of(&measured).gain, 4);
        assert_near(outer_step_of(&measured).beta, 0.3 / 4);
    }
    measured.publications = 0;
    /* A rumor's head is a twentieth of what the line sends in 1 s. */
    measured.bytes_per_s = 3000;
    assert_near(outer_step_of(&measured).interval_s, 1);
    measured.learners = 4;
    measured.bytes_per_s = 1e6;
    assert_near(outer_step_of(&measured).interval_s, 0.2 + 8 * 0.0125);
}

/* Cutting a publication takes 12.5 ms, an eightieth of an interval of 1 s. */
static void slow_cuts_lengthen_the_interval(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.publish_s = 0.001;
    assert_near(outer_step_of(&measured).interval_s, 0.2 + 8 * 0.0125);
    measured.publish_s = 0.0125;
    assert_near(outer_step_of(&measured).interval_s, 1);
    assert_near(outer_step_of(&measured).gain, 2); /* at most the square root of four */
    measured.publications = 3;
    assert_near(outer_step_of(&measured).interval_s, 1);
    measured.publish_s = 10;
    measured.publications = 100;
    assert_near(outer_step_of(&measured).interval_s, 60);
}

static void slow_steps_do_not_delay_the_first_six_publications(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.step_s = 0.5;
    for (measured.publications = 0; measured.publications < 8; measured.publications++)
        assert_near(outer_step_of(&measured).interval_s, measured.publications < 6 ? 1 : 0.2 + 4);
    measured.publications = 0;
    measured.bytes_per_s = 1000; /* a rumor's head is a twentieth of what the line sends in 3 s */
    assert_near(outer_step_of(&measured).interval_s, 3);
    measured.interval_s = 7;
    assert_near(outer_step_of(&measured).interval_s, 7);
}

/* Returns measurements of three nodes 1 ms apart. This node makes 4,000 steps a second. The line
 * carries 1 MB/s. */
static struct outer_step_measured fast(void)
{
    struct outer_step_measured measured = usual();
    measured.learners = 3;
    measured.delay_s = 0.001;
    measured.step_s = 0.00025;
    measured.part = 0.1;
    return measured;
}

static void a_fast_node_publishes_every_256_steps_while_it_leaves_most_entries(void **state)
{
    (void)state;
    struct outer_step_measured measured = fast();
    assert_near(outer_step_of(&measured).interval_s, 256 * 0.00025);
    assert_near(outer_step_of(&measured).gain, 1);
    measured.part = 0.3;
    assert_near(outer_step_of(&measured).interval_s, 0.25);
    measured.part = 0.1;
    measured.step_s = 0.001; /* 256 steps then take longer than the shortest interval */
    assert_near(outer_step_of(&measured).interval_s, 0.25);
}

static void many_steps_do_not_outweigh_heads_and_cutting(void **state)
{
    (void)state;
    struct outer_step_measured measured = fast();
    /* A rumor's head is a twentieth of what the line sends in 0.2 s. */
    measured.bytes_per_s = 15000;
    assert_near(outer_step_of(&measured).interval_s, 0.2);
    measured.bytes_per_s = 1e6;
    measured.publish_s = 0.00125; /* an eightieth of 0.1 s */
    assert_near(outer_step_of(&measured).interval_s, 0.1);
}

static void a_fast_node_begins_with_256_steps_however_small_its_budget(void **state)
{
    (void)state;
    struct outer_step_measured measured = fast();
    measured.bytes_per_s = 2000;
    for (measured.publications = 0; measured.publications < 6; measured.publications++)
        assert_near(outer_step_of(&measured).interval_s, 256 * 0.00025);
    assert_near(outer_step_of(&measured).interval_s, 1.5);
    measured.publications = 0;
    measured.step_s = 0; /* unknown until a step was made */
    assert_near(outer_step_of(&measured).interval_s, 1.5);
}

static void the_less_momentum_learners_have_the_more_has_the_swarm(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    for (measured.momentum = 0; measured.momentum < 1; measured.momentum += 0.3)
        for (measured.learners = 2; measured.learners <= 256; measured.learners *= 2) {
            const struct outer_step outer_step = outer_step_of(&measured);
            assert_near(outer_step.gain * outer_step.beta, 0.6 - measured.momentum / 3);
        }
}

static void on_a_thin_line_it_waits_for_something_worth_a_head_and_is_bolder(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    /* A head of 150 bytes is a twentieth of what the line sends in 0.5 s. */
    measured.bytes_per_s = 6000;
    assert_near(outer_step_of(&measured).interval_s, 0.5);
    assert_near(outer_step_of(&measured).gain, 0.5 / 0.3);
}

static void the_gain_is_at_most_the_root_of_how_many_train(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.bytes_per_s = 1000;
    assert_near(outer_step_of(&measured).gain, 2);
    measured.learners = 81;
    assert_near(outer_step_of(&measured).gain, 9);
}

static void member_gossip_that_takes_no_time_makes_nobody_bolder(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.delay_s = 0.001;
    measured.step_s = 0.001;
    assert_near(outer_step_of(&measured).interval_s, 0.25);
    assert_near(outer_step_of(&measured).gain, 1);
}

static void configured_values_are_kept_and_the_rest_follows(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.learners = 16;
    measured.interval_s = 0.45;
    assert_near(outer_step_of(&measured).interval_s, 0.45);
    assert_near(outer_step_of(&measured).gain, 1.5);
    assert_near(outer_step_of(&measured).beta, 0.45 / 0.6 * 0.3 / 1.5);
    measured.interval_s = 5;
    assert_near(outer_step_of(&measured).gain, 2);
    measured.gain = 4;
    assert_near(outer_step_of(&measured).gain, 4);
    assert_near(outer_step_of(&measured).beta, 0.3 / 4);
}

static void an_interval_below_the_reaction_time_averages_with_less_momentum(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.learners = 16;
    measured.interval_s = 0.12;
    assert_near(outer_step_of(&measured).gain, 1);
    assert_near(outer_step_of(&measured).beta, 0.12 / 0.6 * 0.3);
}

static void unknown_measurements_give_a_cautious_step(void **state)
{
    (void)state;
    const struct outer_step_measured measured = {.learners = 64, .hops = 1, .bytes_per_s = 1000};
    assert_near(outer_step_of(&measured).interval_s, 3);
    assert_near(outer_step_of(&measured).gain, 1);
    assert_near(outer_step_of(&measured).beta, 0);
}

static void a_lone_node_uses_no_gain(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.learners = 1;
    assert_near(outer_step_of(&measured).gain, 1);
    assert_near(outer_step_of(&measured).beta, 0);
}

static void the_interval_has_bounds(void **state)
{
    (void)state;
    struct outer_step_measured measured = usual();
    measured.delay_s = 0;
    measured.step_s = 1e-6;
    assert_near(outer_step_of(&measured).interval_s, 0.0625);
    measured.part = 1;
    assert_near(outer_step_of(&measured).interval_s, 0.25);
    measured.step_s = 1e6;
    assert_near(outer_step_of(&measured).interval_s, 60);
}

static void a_partial_mesh_takes_more_hops(void **state)
{
    (void)state;
    assert_near(outer_step_hops(2, 10, 8), 1);
    assert_near(outer_step_hops(10, 10, 8), 1);
    assert_near(outer_step_hops(80, 10, 8), 2);
    assert_near(outer_step_hops(640, 10, 8), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_is_as_long_as_news_takes),
        cmocka_unit_test(up_to_four_average_and_more_are_bolder_and_tell_more_rarely),
        cmocka_unit_test(uncut_publications_use_shorter_intervals_and_less_gain),
        cmocka_unit_test(many_tell_often_at_first_and_as_boldly),
        cmocka_unit_test(slow_cuts_lengthen_the_interval),
        cmocka_unit_test(slow_steps_do_not_delay_the_first_six_publications),
        cmocka_unit_test(a_fast_node_publishes_every_256_steps_while_it_leaves_most_entries),
        cmocka_unit_test(many_steps_do_not_outweigh_heads_and_cutting),
        cmocka_unit_test(a_fast_node_begins_with_256_steps_however_small_its_budget),
        cmocka_unit_test(the_less_momentum_learners_have_the_more_has_the_swarm),
        cmocka_unit_test(on_a_thin_line_it_waits_for_something_worth_a_head_and_is_bolder),
        cmocka_unit_test(the_gain_is_at_most_the_root_of_how_many_train),
        cmocka_unit_test(member_gossip_that_takes_no_time_makes_nobody_bolder),
        cmocka_unit_test(configured_values_are_kept_and_the_rest_follows),
        cmocka_unit_test(an_interval_below_the_reaction_time_averages_with_less_momentum),
        cmocka_unit_test(unknown_measurements_give_a_cautious_step),
        cmocka_unit_test(a_lone_node_uses_no_gain),
        cmocka_unit_test(the_interval_has_bounds),
        cmocka_unit_test(a_partial_mesh_takes_more_hops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
