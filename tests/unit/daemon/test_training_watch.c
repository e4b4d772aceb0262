/* What is kept of what the learner says: loss, evaluation, and where its time went. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>

#include "daemon/training_watch.h"

#define MS_NS 1000000ull

static struct training_watch watch;

static int begin(void **state)
{
    (void)state;
    training_watch_init(&watch);
    return 0;
}

static json_t *page_at(uint64_t now_ns)
{
    json_t *page = json_object();
    training_watch_put(&watch, page, now_ns);
    return page;
}

static void nothing_is_known_before_the_first_step(void **state)
{
    (void)state;
    json_t *page = page_at(5);
    assert_true(isnan(training_watch_on_second(&watch)));
    assert_true(json_is_null(json_object_get(page, "loss")));
    assert_true(json_is_null(json_object_get(page, "evaluation")));
    assert_true(json_is_null(json_object_get(page, "last_step_age_s")));
    json_decref(page);
}

static void loss_is_the_mean_of_a_second_and_stays_while_nothing_is_learned(void **state)
{
    struct learner_event event = {.kind = LEARNER_STEPPED, .samples = 3, .loss_sum = 6};
    (void)state;
    training_watch_on_step(&watch, 1, &event);
    event.samples = 1;
    training_watch_on_step(&watch, 2, &event);
    assert_true(training_watch_on_second(&watch) == 3);
    assert_true(training_watch_on_second(&watch) == 3);
    json_t *page = page_at(2 + 500 * MS_NS);
    assert_true(json_real_value(json_object_get(page, "last_step_age_s")) == 0.5);
    json_decref(page);
}

static void an_evaluation_has_its_age(void **state)
{
    const struct evaluation evaluation = {.samples = 10, .correct = 4, .loss = 1.5};
    (void)state;
    assert_false(training_watch_on_evaluation(&watch, 1000 * MS_NS, &evaluation));
    json_t *page = page_at(3000 * MS_NS);
    const json_t *said = json_object_get(page, "evaluation");
    assert_true(json_real_value(json_object_get(said, "accuracy")) == 0.4);
    assert_true(json_real_value(json_object_get(said, "loss")) == 1.5);
    assert_true(json_real_value(json_object_get(said, "age_s")) == 2);
    json_decref(page);
}

static void steps_fall_into_their_bins(void **state)
{
    struct learner_event event = {.kind = LEARNER_STEPPED};
    (void)state;
    time_spent_step(&event.spent, MS_NS);          /* up to 0.001 s */
    time_spent_step(&event.spent, MS_NS + 1);      /* up to 0.0025 s */
    time_spent_step(&event.spent, 100000 * MS_NS); /* longer than all bounds */
    time_spent_exchange(&event.spent, 7 * MS_NS);
    training_watch_on_step(&watch, 1, &event);
    training_watch_on_step(&watch, 2, &event);
    json_t *page = page_at(3);
    const json_t *bins = json_object_get(page, "step_seconds");
    const json_t *spent = json_object_get(page, "spent");
    assert_int_equal(json_array_size(bins), TIME_SPENT_BINS);
    const int64_t first = json_integer_value(json_object_get(json_array_get(bins, 0), "steps"));
    const int64_t second = json_integer_value(json_object_get(json_array_get(bins, 1), "steps"));
    const json_t *last = json_array_get(bins, TIME_SPENT_BINS - 1);
    assert_int_equal(first, 2);
    assert_int_equal(second, 4);
    assert_int_equal(json_integer_value(json_object_get(last, "steps")), 6);
    assert_true(json_is_null(json_object_get(last, "up_to_s")));
    assert_true(fabs(json_real_value(json_object_get(spent, "exchange_s")) - 0.014) < 1e-9);
    assert_true(fabs(json_real_value(json_object_get(spent, "steps_s")) - 200.004) < 1e-6);
    json_decref(page);
}

static bool has_fallen_with(uint32_t correct)
{
    const struct evaluation evaluation = {.samples = 1000, .correct = correct, .loss = 1};
    return training_watch_on_evaluation(&watch, MS_NS, &evaluation);
}

static void who_loses_half_of_its_accuracy_has_come_apart(void **state)
{
    (void)state;
    training_watch_init(&watch);
    assert_false(has_fallen_with(100));
    assert_false(has_fallen_with(40)); /* it had learned nothing yet */
    assert_false(has_fallen_with(940));
    assert_false(has_fallen_with(480));
    assert_true(has_fallen_with(460));
    assert_false(has_fallen_with(100)); /* that was said */
    assert_false(has_fallen_with(900));
    assert_true(has_fallen_with(0));
    const struct evaluation none = {.samples = 0};
    assert_false(training_watch_on_evaluation(&watch, MS_NS, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_is_known_before_the_first_step, begin),
        cmocka_unit_test_setup(loss_is_the_mean_of_a_second_and_stays_while_nothing_is_learned,
                               begin),
        cmocka_unit_test_setup(an_evaluation_has_its_age, begin),
        cmocka_unit_test_setup(who_loses_half_of_its_accuracy_has_come_apart, begin),
        cmocka_unit_test_setup(steps_fall_into_their_bins, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
