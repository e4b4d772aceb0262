/* The training guard: which losses and scores it considers a collapse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "training/guard.h"

#define BATCH 32

static struct guard guard;
static uint64_t now_ns;
static enum guard_event found[GUARD_EVENTS * 8];
static uint32_t found_count;

static int begin(void **state)
{
    (void)state;
    guard_init(&guard, 10);
    now_ns = 0;
    found_count = 0;
    return 0;
}

static void note(enum guard_event event)
{
    if (event == GUARD_NOTHING)
        return;
    assert_true(found_count < sizeof found / sizeof *found);
    found[found_count++] = event;
}

/* Makes `steps` steps with this loss, 20 a second. */
static void learn(uint32_t steps, double loss)
{
    for (uint32_t i = 0; i < steps; i++) {
        now_ns += SECOND_NS / 20;
        note(guard_on_steps(&guard, now_ns, 1, BATCH, BATCH * loss));
    }
}

static void evaluate(uint32_t correct, uint32_t of, double loss)
{
    const struct evaluation evaluation = {.samples = of, .correct = correct, .loss = loss};
    now_ns += 60 * SECOND_NS;
    guard.steps += 100;
    note(guard_on_evaluation(&guard, now_ns, &evaluation));
}

static const char *text(enum guard_event event)
{
    static char said[GUARD_TEXT_BYTES];
    const struct guard_saved saved = {"", {.samples = 2000, .correct = 1700}};
    guard_text(&guard, event, now_ns, &saved, true, said);
    return said;
}

static void a_falling_loss_is_no_finding(void **state)
{
    (void)state;
    for (double loss = 2.3; loss > 0.001; loss *= 0.999)
        learn(1, loss);
    assert_int_equal(found_count, 0);
    assert_string_equal(guard_state(&guard), "");
}

/* Every fifth step of a trained model has a difficult batch. */
static void noise_about_a_small_loss_is_no_finding(void **state)
{
    (void)state;
    learn(500, 0.01);
    for (int i = 0; i < 2000; i++)
        learn(1, i % 5 == 0 ? 0.3 : 0.005);
    assert_int_equal(found_count, 0);
}

static void a_loss_that_doubles_is_reported_within_500_steps(void **state)
{
    (void)state;
    learn(990, 0.31);
    learn(10, 0.3);
    learn(350, 0.8);
    assert_int_equal(found_count, 0);
    learn(150, 0.8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0], GUARD_RISING);
    assert_string_equal(guard_state(&guard), "rising");
    assert_non_null(strstr(text(GUARD_RISING), "has risen to 0.79"));
    assert_non_null(strstr(text(GUARD_RISING), "from 0.309 (25.0 s ago)"));
    assert_non_null(strstr(text(GUARD_RISING), "hearsay rewind --to best"));
    assert_true(guard_rate_factor(&guard) == 1);
}

/* A high loss must last for five seconds, because updates of other nodes may arrive meanwhile. */
static void steps_that_take_no_time_have_to_last_for_five_seconds(void **state)
{
    (void)state;
    learn(1000, 0.1);
    for (int i = 0; i < 4000; i++) {
        now_ns += SECOND_NS / 1000;
        note(guard_on_steps(&guard, now_ns, 1, BATCH, BATCH * 2.3));
    }
    assert_int_equal(found_count, 0);
    for (int i = 0; i < 1100; i++) {
        now_ns += SECOND_NS / 1000;
        note(guard_on_steps(&guard, now_ns, 1, BATCH, BATCH * 2.3));
    }
    assert_int_equal(found[found_count - 1], GUARD_SLOWED);
    assert_int_equal(guard.halvings, 1); /* the next halving needs GUARD_AGAIN_STEPS more steps */
}

static void a_collapse_halves_the_rate_and_is_reported_once_as_rising(void **state)
{
    (void)state;
    learn(1000, 0.1);
    learn(300, 2.3);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0], GUARD_SLOWED);
    assert_true(guard_rate_factor(&guard) == 0.5);
    learn(900, 2.3);
    assert_int_equal(found_count, 1);
    learn(100, 2.3);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[1], GUARD_SLOWED);
    assert_true(guard_rate_factor(&guard) == 0.25);
    assert_non_null(strstr(text(GUARD_SLOWED), "this node learns at 0.25 of train.rate"));
}

static void the_rate_is_halved_six_times_at_most(void **state)
{
    (void)state;
    learn(1000, 0.1);
    learn(20000, 2.3);
    assert_int_equal(found_count, GUARD_HALVINGS);
    assert_true(guard_rate_factor(&guard) == 1.0 / 64);
}

static void a_loss_that_falls_again_has_recovered_and_keeps_its_rate(void **state)
{
    (void)state;
    learn(1000, 0.1);
    learn(400, 2.3);
    learn(600, 0.1);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[1], GUARD_RECOVERED);
    assert_string_equal(guard_state(&guard), "");
    assert_true(guard_rate_factor(&guard) == 0.5);
}

static void single_losses_that_are_no_numbers_are_no_finding_and_many_are(void **state)
{
    (void)state;
    learn(1, 5000); /* a script's first loss may be large */
    learn(1000, 0.1);
    learn(1, (double)NAN);
    learn(1, (double)INFINITY);
    assert_true(isfinite(guard.loss));
    learn(300, 0.1);
    assert_int_equal(found_count, 0);
    learn(300, (double)NAN);
    assert_int_equal(found[0], GUARD_SLOWED);
    assert_true(isfinite(guard.loss));
}

/* A script may minimise a negative loss. */
static void a_loss_below_zero_is_held_against_its_size(void **state)
{
    (void)state;
    learn(1000, -50);
    assert_int_equal(found_count, 0);
    learn(1000, -20);
    assert_int_equal(found_count, 0);
    learn(1000, 30);
    assert_true(found_count > 0);
}

static void a_loss_that_nobody_said_is_not_looked_at(void **state)
{
    (void)state;
    learn(5000, 0);
    assert_true(isnan(guard.loss));
    assert_false(guard_wants_vitals(&guard));
}

static void a_model_that_guesses_without_a_gradient_is_dead(void **state)
{
    const struct vitals alive = {.weight_norm = 9, .gradient_norm = 1, .input_norm = 0.1};
    const struct vitals dead = {.weight_norm = 9, .gradient_norm = 1, .input_norm = 0};
    (void)state;
    learn(20, 2.3);
    assert_false(guard_wants_vitals(&guard));
    learn(5, 2.3);
    assert_true(guard_wants_vitals(&guard));
    note(guard_on_vitals(&guard, &alive));
    assert_int_equal(found_count, 0);
    learn(1000, 0.1);
    learn(300, 2.3);
    assert_true(guard_wants_vitals(&guard));
    note(guard_on_vitals(&guard, &dead));
    assert_int_equal(found[found_count - 1], GUARD_DEAD);
    assert_string_equal(guard_state(&guard), "dead");
    assert_non_null(strstr(text(GUARD_DEAD), "the model is dead"));
    const uint32_t before = found_count;
    learn(5000, 2.3);
    assert_int_equal(found_count, before); /* the guard does not lower the rate further */
}

/* A batch may silence all units for a moment. */
static void a_model_without_a_gradient_that_does_not_guess_is_not_dead(void **state)
{
    const struct vitals silent = {.weight_norm = 9, .input_norm = 0};
    (void)state;
    learn(1000, 0.1);
    note(guard_on_vitals(&guard, &silent));
    assert_int_equal(found_count, 0);
}

static void a_base_below_its_best_twice_is_worse(void **state)
{
    (void)state;
    evaluate(1800, 2000, 0.3);
    evaluate(1750, 2000, 0.3);
    assert_int_equal(found_count, 0);
    evaluate(1762, 2000, 0.3); /* less than 2 points below the best score */
    evaluate(1750, 2000, 0.3);
    assert_int_equal(found_count, 0);
    evaluate(1750, 2000, 0.3);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0], GUARD_WORSE);
    assert_non_null(
        strstr(text(GUARD_WORSE), "has 87.5 % on the test set, and had 90.0 % 4m00s ago"));
    assert_non_null(strstr(text(GUARD_WORSE), "return to the best base (85.0 %): hearsay rewind"));
    guard.best_ns = 0; /* the state folder has told the best score, but not when it was reached */
    assert_non_null(strstr(text(GUARD_WORSE), "had 90.0 % before this node started: lower"));
    evaluate(1790, 2000, 0.3);
    assert_int_equal(found[1], GUARD_RECOVERED);
}

/* A node that only relays evaluates its base but makes no steps. */
static void a_node_without_steps_finds_a_base_worse_at_the_second_evaluation(void **state)
{
    const struct evaluation best = {.samples = 2000, .correct = 1800, .loss = 0.3},
                            worse = {.samples = 2000, .correct = 1700, .loss = 0.4};
    (void)state;
    assert_int_equal(guard_on_evaluation(&guard, 1, &best), GUARD_NOTHING);
    assert_int_equal(guard_on_evaluation(&guard, 2, &worse), GUARD_NOTHING);
    assert_int_equal(guard_on_evaluation(&guard, 3, &worse), GUARD_WORSE);
    assert_int_equal(guard_on_evaluation(&guard, 4, &best), GUARD_RECOVERED);
    assert_string_equal(text(GUARD_RECOVERED), "training has recovered: the base has 90.0 %");
}

static void a_base_is_below_an_earlier_score_only_on_the_same_samples(void **state)
{
    const struct evaluation last = {.samples = 2000, .correct = 1800, .loss = 0.3},
                            less = {.samples = 2000, .correct = 1755, .loss = 0.4},
                            little_less = {.samples = 2000, .correct = 1770, .loss = 0.4},
                            others = {.samples = 10000, .correct = 8000, .loss = 0.4};
    (void)state;
    assert_false(guard_is_below(&guard, &guard.last, &less)); /* no earlier score to compare with */
    assert_int_equal(guard_on_evaluation(&guard, 1, &last), GUARD_NOTHING);
    assert_true(guard_is_below(&guard, &guard.last, &less));
    assert_false(guard_is_below(&guard, &guard.last, &little_less));
    assert_false(guard_is_below(&guard, &guard.last, &others));
    assert_false(guard_is_below(&guard, &guard.last, &last));
}

/* The fall from 1315 to 790 also raises the fall that the guard considers usual. It must not hide
 * that `spoiled` is below the best. */
static void a_base_stays_below_the_best_after_a_large_fall(void **state)
{
    const struct evaluation spoiled = {.samples = 2000, .correct = 840, .loss = 1.7},
                            recovered = {.samples = 2000, .correct = 1300, .loss = 1.0};
    (void)state;
    evaluate(1315, 2000, 1.0);
    evaluate(790, 2000, 1.8);
    assert_true(guard_is_below(&guard, &guard.best, &spoiled));
    assert_false(guard_is_below(&guard, &guard.best, &recovered));
}

static void a_recovered_loss_says_that_the_base_is_still_worse(void **state)
{
    (void)state;
    learn(1000, 0.1);
    guard.last = (struct evaluation){.samples = 2000, .correct = 1700};
    guard.is_worse = true;
    assert_non_null(strstr(text(GUARD_RECOVERED), "85.0 %, which is still below its best"));
}

/* The scores vary as in a swarm that begins to train with a high rate. */
static void a_score_that_always_varies_is_no_event_and_a_collapse_is(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        evaluate(i % 4 < 2 ? 1500 : 1420, 2000, 0.8);
    for (uint32_t i = 0; i < found_count; i++)
        found[i] = GUARD_NOTHING; /* discard: the first drop may have been reported */
    found_count = 0;
    for (int i = 0; i < 20; i++)
        evaluate(i % 4 < 2 ? 1500 : 1420, 2000, 0.8);
    assert_int_equal(found_count, 0);
    evaluate(200, 2000, 2.3);
    evaluate(200, 2000, 2.3);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0], GUARD_WORSE);
}

static void a_small_test_set_needs_a_larger_fall(void **state)
{
    (void)state;
    evaluate(90, 100, 0.3);
    for (int i = 0; i < 5; i++)
        evaluate(82, 100, 0.3);
    assert_int_equal(found_count, 0);
    evaluate(70, 100, 0.3);
    evaluate(70, 100, 0.3);
    assert_int_equal(found_count, 1);
}

static void sequences_and_numbers_are_judged_by_loss(void **state)
{
    struct evaluation evaluation = {
        .samples = 30000, .correct = 10000, .loss = 1.5, .is_sequence = true};
    (void)state;
    note(guard_on_evaluation(&guard, 1, &evaluation));
    evaluation.correct = 5000;
    evaluation.loss = 1.54;
    note(guard_on_evaluation(&guard, 2, &evaluation));
    note(guard_on_evaluation(&guard, 3, &evaluation));
    assert_int_equal(found_count, 0);
    evaluation.loss = 1.55;
    note(guard_on_evaluation(&guard, 4, &evaluation));
    guard.steps = 49;
    note(guard_on_evaluation(&guard, 5, &evaluation));
    /* the base must be below its best for 50 steps, however many evaluations there are */
    assert_int_equal(found_count, 0);
    guard.steps = 50;
    note(guard_on_evaluation(&guard, 6, &evaluation));
    assert_int_equal(found_count, 1);
    assert_non_null(strstr(text(GUARD_WORSE), "has a loss of 1.55 on the test set"));
}

static void a_base_with_a_loss_that_is_no_number_is_worse_and_never_the_best(void **state)
{
    const struct evaluation lost = {.samples = 2000, .correct = 1900, .loss = (double)NAN};
    (void)state;
    evaluate(1800, 2000, 0.3);
    assert_false(guard_is_better(&lost, &guard.best));
}

static void a_script_is_told_to_lower_its_own_rate(void **state)
{
    char said[GUARD_TEXT_BYTES];
    (void)state;
    learn(1000, 0.1);
    learn(300, 2.3);
    guard_text(&guard, GUARD_SLOWED, now_ns, NULL, false, said);
    assert_non_null(strstr(said, "try 0.5 of the optimizer's learning rate"));
    assert_null(strstr(said, "rewind"));
}

static void known_wrong_labels_come_before_the_rate(void **state)
{
    static const char *const remedy =
        "first check the labels of this node, which contradict the shared model";
    (void)state;
    learn(1000, 0.1);
    learn(300, 2.3);
    for (enum guard_event event = GUARD_RISING; event <= GUARD_WORSE; event++)
        assert_non_null(
            strstr(text(event), "lower train.rate on all nodes, and look at their data"));
    (void)strcpy(guard.mislabelled, "this node");
    for (enum guard_event event = GUARD_RISING; event <= GUARD_WORSE; event++) {
        assert_non_null(strstr(text(event), remedy));
        assert_null(strstr(text(event), "lower"));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(a_falling_loss_is_no_finding),
        TEST(noise_about_a_small_loss_is_no_finding),
        TEST(a_loss_that_doubles_is_reported_within_500_steps),
        TEST(steps_that_take_no_time_have_to_last_for_five_seconds),
        TEST(a_collapse_halves_the_rate_and_is_reported_once_as_rising),
        TEST(the_rate_is_halved_six_times_at_most),
        TEST(a_loss_that_falls_again_has_recovered_and_keeps_its_rate),
        TEST(single_losses_that_are_no_numbers_are_no_finding_and_many_are),
        TEST(a_loss_below_zero_is_held_against_its_size),
        TEST(a_loss_that_nobody_said_is_not_looked_at),
        TEST(a_model_that_guesses_without_a_gradient_is_dead),
        TEST(a_model_without_a_gradient_that_does_not_guess_is_not_dead),
        TEST(a_base_below_its_best_twice_is_worse),
        TEST(a_node_without_steps_finds_a_base_worse_at_the_second_evaluation),
        TEST(a_base_is_below_an_earlier_score_only_on_the_same_samples),
        TEST(a_base_stays_below_the_best_after_a_large_fall),
        TEST(a_recovered_loss_says_that_the_base_is_still_worse),
        TEST(a_score_that_always_varies_is_no_event_and_a_collapse_is),
        TEST(a_small_test_set_needs_a_larger_fall),
        TEST(sequences_and_numbers_are_judged_by_loss),
        TEST(a_base_with_a_loss_that_is_no_number_is_worse_and_never_the_best),
        TEST(a_script_is_told_to_lower_its_own_rate),
        TEST(known_wrong_labels_come_before_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
