/* Comparisons of strategies: records of plays, times of targets, winners, trials. */
#include <math.h>

#include "comparison/comparison_report.h"
#include "comparison/progress.h"
#include "crypto/secret.h"
#include "support/sim/scenario_text.h"
#include "support/sim/strategy_play.h"

#define SEEDS 2

static struct record_point curve_a[] = {{0, 0.1, 2.3, 0, NAN},
                                        {10, 0.5, 1.5, 1e6, 0.1},
                                        {20, 0.7, 1.0, 2e6, 0.1},
                                        {30, 0.6, 1.2, 3e6, 0.2}};
static struct record_point curve_b[] = {{5, 0.8, 0.7, 0, 0}, {15, 0.9, 0.5, 0, 0}};

static struct record record_with(struct record_point *points, uint32_t count)
{
    return (struct record){.points = points,
                           .count = count,
                           .accuracy = points[count - 1].accuracy,
                           .loss = points[count - 1].loss,
                           .sent_bytes = points[count - 1].sent_bytes,
                           .computing = 0.5};
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%.10g is not %.10g", value, expected);
}

static void a_target_is_reached_between_two_evaluations(void **state)
{
    (void)state;
    const struct record a = record_with(curve_a, 4), b = record_with(curve_b, 2);
    const struct reach half = score_reach(&a, MEASURE_ACCURACY, 0.6);
    assert_near(half.at_s, 15);
    assert_near(half.bytes, 1.5e6);
    assert_near(score_reach(&a, MEASURE_ACCURACY, 0.5).at_s, 10);
    assert_near(score_reach(&a, MEASURE_LOSS, 1.25).at_s, 15);
    assert_true(isnan(score_reach(&a, MEASURE_ACCURACY, 0.71).at_s));
    assert_near(score_reach(&b, MEASURE_ACCURACY, 0.3).at_s,
                5); /* nothing is known before the first evaluation */
    assert_near(score_curve(&a, MEASURE_ACCURACY), (0.1 + 0.5 + 0.7 + 0.6) / 4);
}

static void a_band_has_a_mean_only_if_every_seed_has_a_value(void **state)
{
    (void)state;
    const double all[] = {1, 4, 1}, some[] = {1, NAN, 2};
    const struct band band = score_band(all, 3), lacks = score_band(some, 3);
    assert_near(band.mean, 2);
    assert_true(band.least == 1 && band.most == 4 && band.count == 3);
    assert_true(isnan(lacks.mean) && lacks.count == 2 && lacks.most == 2);
}

/* Two strategies and `ideal` with two seeds each, made by hand. */
static struct play plays[3 * SEEDS];

static struct scenario three_nodes = {.nodes_count = 3, .span_ns = 60000000000};

static struct plan by_hand(void)
{
    static struct record_point fast[] = {{0, 0, 2, 0, 0}, {10, 1, 1, 4e6, 0}};
    static struct record_point slow[] = {{0, 0, 2, 0, 0}, {20, 1, 1, 9e6, 0}};
    static struct record_point slower[] = {{0, 0, 2, 0, 0}, {30, 1, 1, 9e6, 0}};
    struct record_point *const curves[] = {slow, fast, fast, slower, fast, fast};
    struct plan plan = {.seeds = SEEDS,
                        .measure = MEASURE_ACCURACY,
                        .kinds = {STRATEGY_AKO, STRATEGY_GOSSIP, STRATEGY_IDEAL},
                        .kinds_count = 3,
                        .scenario = &three_nodes,
                        .plays = plays,
                        .plays_count = 3 * SEEDS};
    for (uint32_t i = 0; i < 3 * SEEDS; i++)
        plays[i] =
            (struct play){.strategy = i % 3, .is_read = true, .record = record_with(curves[i], 2)};
    return plan;
}

static void the_first_on_average_wins_without_ideal(void **state)
{
    (void)state;
    const struct plan plan = by_hand();
    const struct winner winner = score_winner(&plan, 0.5);
    assert_true(winner.first == 1 && winner.second == 0);
    assert_near(winner.margin.mean, 2.5);
    assert_true(fabs(winner.margin.least - 2) < 1e-9 && fabs(winner.margin.most - 3) < 1e-9);
    assert_near(score_times(&plan, 0, 0.5).mean, 12.5);
    assert_near(score_bytes(&plan, 1, 0.5).mean, 2e6);
    const struct comparison comparison = {.plan = &plan, .targets = {0.5, 2}, .targets_count = 2};
    char text[512];
    comparison_sentence(&comparison, 0, text, sizeof text);
    assert_string_equal(text,
                        "50 %: gossip first, after 5.0 s (5.0 to 5.0); 2.50 times faster than "
                        "ako (2.00 to 3.00).");
    comparison_sentence(&comparison, 1, text, sizeof text);
    assert_string_equal(text, "200 %: no strategy reaches it with every seed.");
}

static void a_strategy_that_fails_with_one_seed_does_not_win(void **state)
{
    (void)state;
    const struct plan plan = by_hand();
    plays[4].is_read = false; /* gossip with the second seed */
    const struct winner winner = score_winner(&plan, 0.5);
    assert_true(winner.first == 0 && winner.second == UINT32_MAX);
    assert_true(isnan(score_end(&plan, 1).mean));
}

/* The strategy sent nothing, because its first round took longer than the scenario. */
static void a_strategy_that_never_finished_a_round_is_reported_and_not_ranked(void **state)
{
    (void)state;
    char text[512];
    const struct plan plan = by_hand();
    const struct comparison comparison = {.plan = &plan, .targets = {0.5}, .targets_count = 1};
    assert_false(comparison_idle_sentence(&comparison, text, sizeof text));
    for (uint32_t i = 1; i < 3 * SEEDS; i += 3) /* gossip, which was the best */
        plays[i].record.sent_bytes = 0;
    for (uint32_t i = 2; i < 3 * SEEDS; i += 3) /* ideal needs no network */
        plays[i].record.sent_bytes = 0;
    assert_true(score_is_idle(&plan, 1) && !score_is_idle(&plan, 0) && !score_is_idle(&plan, 2));
    assert_int_equal(score_winner(&plan, 0.5).first, 0);
    assert_true(isnan(score_end(&plan, 1).mean) && isnan(score_times(&plan, 1, 0.5).mean));
    assert_true(comparison_idle_sentence(&comparison, text, sizeof text));
    assert_non_null(strstr(text, "gossip: no round was finished in these 60 seconds"));
}

static void targets_are_fractions_of_the_best_result(void **state)
{
    (void)state;
    double targets[TARGETS_MAX];
    struct plan plan = by_hand();
    assert_int_equal(score_targets(&plan, targets), 3);
    assert_near(targets[0], 0.9);
    assert_near(targets[2], 0.98);
    plan.measure = MEASURE_LOSS; /* losses fall from 2 to 1 */
    assert_int_equal(score_targets(&plan, targets), 3);
    assert_near(targets[0], 1.1);
    assert_near(targets[1], 1.05);
}

static void every_strategy_has_equally_many_different_trials(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < STRATEGIES_COUNT; kind++) {
        char all[TUNING_TRIALS][2 * TUNING_BYTES];
        for (uint32_t trial = 0; trial < TUNING_TRIALS; trial++) {
            char sets[2][TUNING_BYTES] = {"", ""};
            const uint32_t count = tuning_trial((enum strategy_kind)kind, trial, 0.02, sets);
            assert_in_range(count, 1, 2);
            (void)snprintf(all[trial], sizeof all[trial], "%s %s", sets[0], sets[1]);
            for (uint32_t other = 0; other < trial; other++)
                assert_string_not_equal(all[trial], all[other]);
        }
        assert_non_null(
            strstr(all[4], kind == STRATEGY_DEMO ? "error_decay=0.99 " : "train.rate=0.02 "));
    }
}

static void scenarios_accept_every_trial(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < STRATEGIES_COUNT; kind++)
        for (uint32_t trial = 0; trial < TUNING_TRIALS; trial++) {
            char sets[2][TUNING_BYTES];
            const uint32_t count = tuning_trial((enum strategy_kind)kind, trial, 0.02, sets);
            const char *list[] = {sets[0], sets[1]};
            struct played played = play_open(
                strategy_three, scenario_strategy_name((enum strategy_kind)kind), list, (int)count);
            play_end(&played);
        }
}

static void a_record_is_read_back_only_with_its_fingerprint(void **state)
{
    (void)state;
    char path[] = "/tmp/test_comparison.XXXXXX";
    struct problem problem;
    struct record back, a = record_with(curve_a, 4);
    a.link_use = NAN;
    a.busiest_use = 0.25;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    assert_false(record_read(&back, path, "f")); /* an empty file */
    assert_int_equal(record_write(&a, path, "f", &problem), OK);
    assert_false(record_read(&back, path, "g"));
    assert_true(record_read(&back, path, "f"));
    assert_int_equal(back.count, 4);
    assert_true(back.points[1].loss == 1.5 && back.points[3].sent_bytes == 3e6);
    assert_true(isnan(back.points[0].distance) && isnan(back.link_use));
    assert_true(back.busiest_use == 0.25 && back.computing == 0.5);
    record_free(&back);
    assert_int_equal(truncate(path, 200), 0);
    assert_false(record_read(&back, path, "f"));
    (void)unlink(path);
    assert_false(record_read(&back, path, "f"));
    assert_int_equal(record_write(&a, "/nowhere/a.json", "f", &problem), FAILED);
    assert_non_null(strstr(problem.text, "cannot write /nowhere/a.json: No such file"));
}

static void a_record_has_the_evaluations_and_link_use_of_a_play(void **state)
{
    (void)state;
    struct played played = play("ako", NULL);
    struct record record;
    record_of(&played.outcome, &record);
    assert_int_equal(record.count, 2); /* at 5 and at 10 s */
    assert_true(record.points[0].at_s == 5 && record.points[1].at_s == 10);
    assert_true(record.accuracy == played.outcome.accuracy);
    assert_true(record.points[1].distance > 0);
    assert_near(record.sent_bytes, (double)last_moment(&played)->sent_bytes / 3);
    assert_true(record.busiest_use > 0.8 && record.busiest_use <= 1);
    assert_true(record.link_use > 0 && record.link_use < record.busiest_use);
    assert_near(record.computing, 1);
    record_free(&record);
    play_end(&played);
    played = play("localsgd", NULL);
    record_of(&played.outcome, &record);
    assert_near(record.computing, 3 * 40. / 200); /* 40 of 50, 50 and 100 possible steps */
    /* four rounds of 4/3 of the model, 31,400 bytes, at 125 kB/s uplink for 10 s */
    assert_true(fabs(record.busiest_use - 4 * 4 / 3. * 31400 / 1250000) < 1e-3);
    record_free(&record);
    play_end(&played);
}

/* The best trial is neither the first nor the last. All trials of the other strategy failed. */
static void the_trial_with_the_best_curve_is_chosen(void **state)
{
    (void)state;
    static struct record_point low[] = {{0, 0.1, 2, 0, 0}, {10, 0.2, 1, 0, 0}};
    static struct record_point high[] = {{0, 0.1, 2, 0, 0}, {10, 0.9, 1, 0, 0}};
    struct record_point *const curves[] = {low, high, low};
    struct play trials[6] = {{0}};
    struct plan plan = {.measure = MEASURE_ACCURACY,
                        .kinds = {STRATEGY_AKO, STRATEGY_GOSSIP},
                        .kinds_count = 2,
                        .plays = trials,
                        .plays_count = 6,
                        .is_trial = true};
    for (uint32_t i = 0; i < 6; i++) {
        trials[i] =
            (struct play){.strategy = i % 2, .sets_count = PLAN_OWN + 1, .is_read = i % 2 == 0};
        trials[i].record = record_with(curves[i / 2], 2);
        (void)snprintf(trials[i].sets[PLAN_OWN], TUNING_BYTES, "train.rate=%u", i / 2);
    }
    plan_choose(&plan);
    assert_int_equal(plan.settings_count[0], 1);
    assert_string_equal(plan.settings[0][0], "train.rate=1");
    assert_int_equal(plan.settings_count[1], 0);
}

/* After training, hearsay's nodes publish the remaining residuals and are evaluated once more. */
static void a_record_ends_with_training(void **state)
{
    (void)state;
    const char *sets[] = {"scenario.evaluate_s=4",
                          "scenario.evaluate_samples=1"}; /* an accuracy on one sample is 0 or 1 */
    struct played played = play_with("gossip", sets, 2);
    struct record record;
    record_of(&played.outcome, &record);
    assert_int_equal(record.count, 3);                       /* at 4, 8 and 10 s */
    assert_true(record.accuracy > 0 && record.accuracy < 1); /* mean over more than one sample */
    assert_true(last_moment(&played)->at_s > 10 && isfinite(last_moment(&played)->accuracy));
    assert_true(record.points[record.count - 1].at_s == 10);
    for (uint32_t i = 0; i < record.count; i++) /* the last evaluation also uses that one sample */
        assert_true(record.points[i].accuracy == 0 || record.points[i].accuracy == 1);
    assert_true(last_moment(&played)->accuracy == 0 || last_moment(&played)->accuracy == 1);
    assert_true(record.sent_bytes * 3 <= (double)played.outcome.moments[9].sent_bytes + 1);
    record_free(&record);
    play_end(&played);
}

static void an_estimate_counts_the_parts_of_running_plays(void **state)
{
    (void)state;
    char text[PROGRESS_BYTES];
    _Atomic uint32_t parts[84] = {0};
    struct progress progress = {
        .count = 84, .parts = parts, .word = "plays", .begin_s = 100, .said_s = 100};
    assert_false(progress_is_due(&progress, 110)); /* no part of a play is known yet */
    parts[0] = 300;
    parts[1] = 120;
    assert_false(progress_is_due(&progress, 104));
    assert_true(progress_is_due(&progress, 110));
    progress_text(&progress, 110, true, text);
    assert_string_equal(text, "[#.......................] 0.4 of 84 plays, about 33m10s left");
    progress_text(&progress, 101, true, text); /* too early for an estimate */
    assert_string_equal(text, "[#.......................] 0.4 of 84 plays");
    progress.said_s = 110;
    assert_false(progress_is_due(&progress, 169));
    assert_true(progress_is_due(&progress, 170));
    progress.is_terminal = true;
    assert_true(progress_is_due(&progress, 111));
    progress.done = 42;
    parts[0] = parts[1] = 0;
    progress_text(&progress, 200, false, text);
    assert_string_equal(text, "[############............] 42 of 84 plays, about 1m40s left");
}

static void leaves_out_faults_and_late_nodes(void **state)
{
    (void)state;
    static struct scenario scenario;
    scenario = *played("[scenario]\nnodes = 2 desk, 400 samples/s\n"
                       "nodes = 1 late, 400 samples/s, from 10 s, until 50 s\n");
    assert_true(scenario_leave_out(&scenario));
    assert_true(scenario.groups[1].start_ns == 0 && scenario.groups[1].stop_ns == 0);
    assert_false(scenario_leave_out(&scenario));
    scenario = *played("[scenario]\nnodes = 2 desk, 400 samples/s\n"
                       "fault = crash desk/1, at 40 s, back at 60 s\n");
    assert_true(scenario_leave_out(&scenario));
    assert_int_equal(scenario.faults_count, 0);
    assert_false(scenario_leave_out(&scenario));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_is_reached_between_two_evaluations),
        cmocka_unit_test(a_band_has_a_mean_only_if_every_seed_has_a_value),
        cmocka_unit_test(the_first_on_average_wins_without_ideal),
        cmocka_unit_test(a_strategy_that_fails_with_one_seed_does_not_win),
        cmocka_unit_test(a_strategy_that_never_finished_a_round_is_reported_and_not_ranked),
        cmocka_unit_test(targets_are_fractions_of_the_best_result),
        cmocka_unit_test(every_strategy_has_equally_many_different_trials),
        cmocka_unit_test(scenarios_accept_every_trial),
        cmocka_unit_test(an_estimate_counts_the_parts_of_running_plays),
        cmocka_unit_test(leaves_out_faults_and_late_nodes),
        cmocka_unit_test(the_trial_with_the_best_curve_is_chosen),
        cmocka_unit_test(a_record_ends_with_training),
        cmocka_unit_test(a_record_is_read_back_only_with_its_fingerprint),
        cmocka_unit_test(a_record_has_the_evaluations_and_link_use_of_a_play),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
