/* Each strategy is charged exactly the steps and bytes that its machines and links allow. */
#include <math.h>

#include "crypto/secret.h"
#include "support/sim/strategy_play.h"

static void an_ideal_cluster_is_as_fast_as_all_its_nodes_together(void **state)
{
    (void)state;
    struct played played = play("ideal", NULL);
    assert_int_equal(played.experiment.batch, 96);
    assert_int_equal(last_moment(&played)->samples,
                     66u * 96); /* 640 samples/s, so a step takes 0.15 s */
    assert_int_equal(last_moment(&played)->sent_bytes, 0);
    assert_true(played.outcome.accuracy > 0.25);
    assert_int_equal(played.outcome.tested, 200);
    assert_true(isfinite(played.outcome.moments[4].accuracy)); /* at 5 s */
    assert_true(!isfinite(played.outcome.moments[5].accuracy));
    play_end(&played);
}

/* The ideal cluster's steps equal those of one machine with its speed, its batch and all data. */
static void an_ideal_cluster_equals_one_machine_with_all_batches(void **state)
{
    (void)state;
    static const char one[] = "[scenario]\n"
                              "seconds = 2\n"
                              "nodes = 1 alone, 480 samples/s\n"
                              "[model]\n"
                              "layers = dense 10\n"
                              "[data]\n"
                              "source = generated\n"
                              "train_count = 600\n"
                              "test_count = 200\n"
                              "[train]\n"
                              "batch = 96\n"
                              "momentum = 0\n"
                              "weight_decay = 0\n"
                              "clip = 0\n"
                              "rate = 0.2\n";
    const char *seconds = "scenario.seconds=2";
    struct played ideal = play_text(strategy_free, "ideal", &seconds, 1);
    struct played alone = play_text(one, "single", NULL, 0);
    assert_int_equal(last_moment(&ideal)->samples, 10 * 96);
    assert_int_equal(alone.outcome.nodes[0].steps, 10);
    assert_same_weights(&ideal, &alone, 1e-6f);
    play_end(&ideal);
    play_end(&alone);
}

static void single_nodes_make_the_steps_their_speed_allows(void **state)
{
    (void)state;
    struct played played = play("single", NULL);
    const struct node_total *nodes = played.outcome.nodes;
    assert_int_equal(nodes[0].steps, 50);
    assert_int_equal(nodes[1].steps, 50);
    assert_int_equal(nodes[2].steps, 100);
    assert_int_equal(last_moment(&played)->samples, 200 * 32);
    const double mean = (nodes[0].accuracy + nodes[1].accuracy + nodes[2].accuracy) / 3;
    assert_true(fabs(played.outcome.accuracy - mean) < 1e-12);
    assert_true(nodes[0].accuracy != nodes[2].accuracy);
    play_end(&played);
}

/* Of 50 possible steps, `late` misses the first 15 and `early` the last 25. */
static void single_nodes_learn_only_while_they_run(void **state)
{
    (void)state;
    static const char text[] = "[scenario]\n"
                               "seconds = 10\n"
                               "nodes = 1 late, 160 samples/s, from 3 s\n"
                               "nodes = 1 early, 160 samples/s, until 5 s\n"
                               "nodes = 1 relay\n"
                               "[model]\n"
                               "layers = dense 10\n"
                               "[data]\n"
                               "source = generated\n"
                               "train_count = 600\n"
                               "test_count = 200\n";
    struct played played = play_text(text, "single", NULL, 0);
    const struct node_total *nodes = played.outcome.nodes;
    assert_int_equal(nodes[0].steps, 35);
    assert_int_equal(nodes[1].steps, 25);
    assert_int_equal(nodes[2].steps, 0);
    /* mean of the nodes that train */
    const double mean = (nodes[0].accuracy + nodes[1].accuracy) / 2;
    assert_true(fabs(played.outcome.accuracy - mean) < 1e-12);
    play_end(&played);
}

/* A round takes 2.495 s, so four fit 10 s. Ten steps of the slowest node take 2 s. Then 4 transfers
 * of a third of the weights over 1 Mbit/s and 40 ms take 0.495 s. */
static void local_sgd_waits_for_the_slowest_node_and_the_ring(void **state)
{
    (void)state;
    struct played played = play("localsgd", NULL);
    assert_int_equal(last_moment(&played)->samples, 4 * 10 * 3 * 32);
    assert_int_equal(last_moment(&played)->sent_bytes, 4ull * 2 * 2 * 4 * PARAMETERS);
    assert_int_equal(played.outcome.moments[1].samples, 0);
    assert_int_equal(played.outcome.moments[2].samples, 10 * 3 * 32); /* at 3 s */
    play_end(&played);
    played = play("localsgd", "slow.up=0.5 Mbit/s"); /* a round takes 2.83 s, so three fit */
    assert_int_equal(last_moment(&played)->samples, 3 * 10 * 3 * 32);
    play_end(&played);
}

/* Adam's moments and the position in the schedule survive each of five rounds. */
static void rounds_of_one_node_equal_its_own_training(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.outer_rate=1", "strategy.outer_momentum=0"};
    struct played alone = play_text(strategy_one, "single", NULL, 0);
    struct played rounds = play_text(strategy_one, "diloco", sets, 2);
    assert_int_equal(alone.outcome.nodes[0].steps, 50);
    assert_int_equal(rounds.outcome.nodes[0].steps, 50);
    assert_int_equal(last_moment(&rounds)->samples, 50 * 32);
    assert_int_equal(last_moment(&rounds)->sent_bytes, 0);
    assert_same_weights(&alone, &rounds, 1e-5f);
    play_end(&alone);
    play_end(&rounds);
}

static void diloco_is_local_sgd_with_an_outer_step_of_rate_0_7_and_momentum_0_9(void **state)
{
    (void)state;
    const char *outer[] = {"strategy.outer_rate=0.7", "strategy.outer_momentum=0.9"};
    struct played diloco = play("diloco", NULL), local = play_with("localsgd", outer, 2);
    struct played plain = play("localsgd", NULL);
    assert_same_weights(&diloco, &local, 0);
    assert_int_equal(last_moment(&diloco)->sent_bytes, last_moment(&local)->sent_bytes);
    assert_true(diloco.outcome.loss == local.outcome.loss && isfinite(local.outcome.loss));
    assert_true(plain.outcome.loss != local.outcome.loss);
    play_end(&diloco);
    play_end(&local);
    play_end(&plain);
}

/* The first outer step is rate · (1 + μ) · d, which is 0.95 d for 0.5 and 0.9. d: mean movement of
 * the nodes' weights in the round. */
static void the_outer_step_is_a_nesterov_step(void **state)
{
    (void)state;
    const char *plain[] = {"scenario.seconds=2.6", "strategy.outer_rate=0.95",
                           "strategy.outer_momentum=0"};
    const char *outer[] = {"scenario.seconds=2.6", "strategy.outer_rate=0.5",
                           "strategy.outer_momentum=0.9"};
    struct played a = play_with("diloco", plain, 3), b = play_with("diloco", outer, 3);
    assert_int_equal(a.outcome.nodes[0].steps, 10);
    assert_true(fabs(last_moment(&a)->at_s - 2.6) < 1e-9); /* a moment at the end */
    assert_int_equal(last_moment(&a)->samples, 10 * 3 * 32);
    assert_same_weights(&a, &b, 1e-5f);
    play_end(&a);
    play_end(&b);
}

/* 7,850 parameters are chunks of 4,096 and 3,754. Each node sends its message to two nodes. */
static void sparseloco_sends_few_entries_to_all_and_learns(void **state)
{
    (void)state;
    const char *all[] = {"strategy.top_part=1", "strategy.error_decay=1"};
    struct played local = play("localsgd", NULL), whole = play_with("sparseloco", all, 2);
    struct played few = play("sparseloco", NULL);
    const uint64_t whole_bytes = (PARAMETERS * 14 + 7) / 8;
    const uint64_t few_bytes = ((128 + 117) * 14 + 7) / 8;
    assert_int_equal(last_moment(&whole)->sent_bytes, 4 * 3 * 2 * whole_bytes);
    assert_int_equal(last_moment(&few)->sent_bytes, 4 * 3 * 2 * few_bytes);
    assert_int_equal(few.outcome.nodes[1].sent_bytes, 4 * 2 * few_bytes);
    assert_true(fabs(whole.outcome.loss - local.outcome.loss) < 0.05 * local.outcome.loss);
    assert_true(few.outcome.loss > local.outcome.loss && few.outcome.loss < 2);
    play_end(&local);
    play_end(&whole);
    play_end(&few);
}

/* A round takes 5.011 s: ten steps of 0.2 s, and two transfers of a whole message over 9,375 B/s
 * and 40 ms. */
static void sparse_messages_pass_every_link_of_the_ring(void **state)
{
    (void)state;
    const char *sets[] = {"strategy.top_part=1", "slow.up=75 kbit/s", "scenario.seconds=5.02"};
    struct played played = play_with("sparseloco", sets, 3);
    assert_int_equal(played.outcome.nodes[0].steps, 10);
    play_end(&played);
    sets[2] = "scenario.seconds=5";
    played = play_with("sparseloco", sets, 3);
    assert_int_equal(played.outcome.nodes[0].steps, 0);
    play_end(&played);
}

static void gossip_trains_at_full_speed_and_ends_with_one_version(void **state)
{
    (void)state;
    struct played played = play("gossip", NULL);
    const struct outcome *outcome = &played.outcome;
    assert_string_equal(outcome->violation, "");
    assert_true(isfinite(outcome->one_version_s) && outcome->one_version_s < 5);
    for (int i = 0; i < 3; i++) {
        const struct node_total *node = &outcome->nodes[i];
        assert_true(node->steps + 1 >= node->steps_possible);
        /* The nodes connect before they train. */
        assert_true(node->steps_possible >= (i < 2 ? 35u : 70u));
        assert_true(node->rumors_published > 0 && node->rumors_received > 0);
        assert_true(isfinite(node->up_use) && node->up_use > 0 && node->up_use < 1);
    }
    const struct moment *moment = last_moment(&played);
    assert_int_equal(moment->behind, 0);
    assert_int_equal(moment->running, 3);
    assert_int_equal(moment->members, 3);
    assert_true(moment->rumor_bytes_published > 0 &&
                moment->sent_bytes > 2 * moment->rumor_bytes_published);
    assert_true(outcome->accuracy > 0.25);
    assert_true(outcome->copies >= 1 && outcome->copies < 1.5);
    play_end(&played);
}

/* At 320 samples/s a step of 32 takes less than twice 60 ms, so the batch stays. At 160 samples/s
 * it takes longer, so the node chooses 8 at its first decision. This costs no time. */
static void slow_nodes_choose_smaller_batches(void **state)
{
    (void)state;
    struct played fixed = play("gossip", NULL);
    const char *sets[] = {"train.batch=auto", "train.step_ms=60"};
    struct played paced = play_with("gossip", sets, 2);
    assert_string_equal(paced.outcome.violation, "");
    for (int i = 0; i < 3; i++) {
        const struct node_total *node = &paced.outcome.nodes[i], *was = &fixed.outcome.nodes[i];
        assert_true(node->samples <= was->samples + 32 && was->samples <= node->samples + 32);
        assert_true(node->steps + 1 >= node->steps_possible);
        assert_true(node->steps <= node->steps_possible + 1);
        assert_true(i == 2 || node->steps > 2 * was->steps);
        assert_true(i < 2 || node->steps == node->samples / 32);
    }
    play_end(&fixed);
    play_end(&paced);
}

static void single_nodes_start_with_the_batch_of_their_speed(void **state)
{
    (void)state;
    const char *sets[] = {"train.batch=auto", "train.step_ms=60"};
    struct played played = play_with("single", sets, 2);
    assert_int_equal(played.outcome.nodes[0].steps, 200); /* steps of 8 samples at 160 samples/s */
    assert_int_equal(played.outcome.nodes[2].steps, 100); /* steps of 32 samples at 320 samples/s */
    assert_int_equal(last_moment(&played)->samples, 2 * 200 * 8 + 100 * 32);
    play_end(&played);
}

static void a_seed_determines_the_run(void **state)
{
    (void)state;
    struct played first = play("gossip", NULL), again = play("gossip", NULL);
    struct played other = play("gossip", "scenario.seed=2");
    assert_int_equal(first.outcome.trace, again.outcome.trace);
    assert_int_equal(first.outcome.events, again.outcome.events);
    assert_true(first.outcome.accuracy == again.outcome.accuracy &&
                first.outcome.loss == again.outcome.loss);
    assert_true(first.outcome.trace != other.outcome.trace);
    play_end(&first);
    play_end(&again);
    play_end(&other);
}

static void an_interrupted_play_ends_at_once_without_verdicts(void **state)
{
    (void)state;
    stop_after = 6;
    for (int kind = 0; kind < STRATEGIES_COUNT; kind++) {
        struct played played = play(scenario_strategy_name((enum strategy_kind)kind), NULL);
        const struct outcome *outcome = &played.outcome;
        assert_int_equal(watched, 6);
        assert_true(outcome_is_stopped(outcome) && !outcome_is_met(outcome));
        assert_true(fabs(outcome_span_s(outcome) - 6) < 1e-9);
        assert_true(fabs(last_moment(&played)->at_s - 6) < 1e-9);
        assert_string_equal(outcome->verdicts[0].text, "steps >= 0 %: interrupted before the end");
        assert_true(isnan(outcome->verdicts[0].value));
        assert_true(isfinite(outcome->moments[4].accuracy)); /* the usual evaluation at 5 s */
        assert_true(isnan(outcome->one_version_s) && isnan(outcome->copies));
        play_end(&played);
    }
    stop_after = 0;
    struct played whole = play("single", NULL);
    assert_true(!outcome_is_stopped(&whole.outcome) && outcome_is_met(&whole.outcome));
    assert_true(outcome_span_s(&whole.outcome) == 10);
    play_end(&whole);
}

#define CHANGING(west, line)                                                                       \
    "[scenario]\nseconds = 12\nevaluate_s = 0\n"                                                   \
    "nodes = 1 west, 160 samples/s" west "\nnodes = 1 east, 160 samples/s\n"                       \
    "link = west east" line "\n"                                                                   \
    "[model]\nlayers = dense 10\n[data]\nsource = generated\ntrain_count = 600\ntest_count = "     \
    "200\n"

/* Until 6 s one node has almost no link, so it meets no other node. */
static void rates_change_at_the_times_of_the_scenario(void **state)
{
    (void)state;
    static const char *const texts[] = {CHANGING(", up 0.1 kbit/s, at 6 s up 10 Mbit/s", ""),
                                        CHANGING("", ", rate 0.1 kbit/s, at 6 s rate 10 Mbit/s")};
    for (int i = 0; i < 2; i++) {
        struct played played = play_text(texts[i], "gossip", NULL, 0);
        assert_int_equal(played.outcome.moments[4].members, 1); /* at 5 s */
        assert_int_equal(played.outcome.moments[11].members, 2);
        play_end(&played);
    }
}

/* In a ring of four nodes that alternate between two regions, two senders cross the line in each
 * direction. A round takes 2.7536 s: 2 s of steps, and six transfers of a fourth of the model at
 * 0.5 Mbit/s. */
static void senders_share_a_line_that_they_cross_in_a_round(void **state)
{
    (void)state;
    static const char text[] = "[scenario]\n"
                               "seconds = 10\n"
                               "nodes = 1 a, 160 samples/s, region here\n"
                               "nodes = 1 b, 160 samples/s, region there\n"
                               "nodes = 1 c, 160 samples/s, region here\n"
                               "nodes = 1 d, 160 samples/s, region there\n"
                               "link = here there, rate 1 Mbit/s\n"
                               "[model]\n"
                               "layers = dense 10\n"
                               "[data]\n"
                               "source = generated\n"
                               "train_count = 600\n"
                               "test_count = 200\n"
                               "[strategy]\n"
                               "local_steps = 10\n";
    struct played played = play_text(text, "localsgd", NULL, 0);
    assert_int_equal(played.outcome.nodes[0].steps,
                     3 * 10); /* without sharing, four rounds would fit */
    play_end(&played);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ideal_cluster_is_as_fast_as_all_its_nodes_together),
        cmocka_unit_test(an_ideal_cluster_equals_one_machine_with_all_batches),
        cmocka_unit_test(single_nodes_make_the_steps_their_speed_allows),
        cmocka_unit_test(single_nodes_learn_only_while_they_run),
        cmocka_unit_test(rates_change_at_the_times_of_the_scenario),
        cmocka_unit_test(senders_share_a_line_that_they_cross_in_a_round),
        cmocka_unit_test(local_sgd_waits_for_the_slowest_node_and_the_ring),
        cmocka_unit_test(rounds_of_one_node_equal_its_own_training),
        cmocka_unit_test(diloco_is_local_sgd_with_an_outer_step_of_rate_0_7_and_momentum_0_9),
        cmocka_unit_test(the_outer_step_is_a_nesterov_step),
        cmocka_unit_test(sparseloco_sends_few_entries_to_all_and_learns),
        cmocka_unit_test(sparse_messages_pass_every_link_of_the_ring),
        cmocka_unit_test(gossip_trains_at_full_speed_and_ends_with_one_version),
        cmocka_unit_test(slow_nodes_choose_smaller_batches),
        cmocka_unit_test(single_nodes_start_with_the_batch_of_their_speed),
        cmocka_unit_test(an_interrupted_play_ends_at_once_without_verdicts),
        cmocka_unit_test(a_seed_determines_the_run),
    };
    secret_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
