/* The training watch, which records the learner's reports: loss, evaluations, and use of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "base/time_units.h"
#include "daemon/training_watch.h"

static struct training_watch watch;
static struct event_log report;

static int begin(void **state)
{
    const struct training_watch_options options = {
        .report = &report, .folder = "some/folder", .classes = 10};
    (void)state;
    report = (struct event_log){.is_quiet = true};
    training_watch_init(&watch, &options, 1);
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
    const struct learner_event event = {.kind = LEARNER_EVALUATED,
                                        .evaluation = {.samples = 10, .correct = 4, .loss = 1.5}};
    (void)state;
    training_watch_on_evaluation(&watch, 1000 * MS_NS, &event);
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
    time_spent_step(&event.spent, MS_NS);          /* bin of steps up to 0.001 s */
    time_spent_step(&event.spent, MS_NS + 1);      /* bin of steps up to 0.0025 s */
    time_spent_step(&event.spent, 100000 * MS_NS); /* longer than all bounds of the histogram */
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

static uint32_t events;
static char said[EVENT_LOG_LINE_BYTES];

/* Copies the event log's number of warnings, and the last one. */
static void look_at_report(void)
{
    events = report.notes;
    if (events > 0)
        (void)snprintf(said, sizeof said, "%s", report.last[(events - 1) % EVENT_LOG_LAST]);
}

static void evaluated(uint32_t correct)
{
    const struct learner_event event = {
        .kind = LEARNER_EVALUATED,
        .evaluation = {.samples = 2000, .correct = correct, .loss = 1},
    };
    watch.guard.steps += 100;
    training_watch_on_evaluation(&watch, 60000 * MS_NS, &event);
    look_at_report();
}

static void a_worse_base_is_noted_once_with_its_best(void **state)
{
    (void)state;
    begin(NULL);
    evaluated(1800);
    evaluated(1700);
    assert_int_equal(events, 0); /* one low score may be chance */
    evaluated(1700);
    assert_int_equal(events, 1);
    assert_non_null(strstr(said, "the base has 85.0 % on the test set, and had 90.0 %"));
    /* no best base is on disk, so rewinding is not suggested */
    assert_null(strstr(said, "rewind"));
    evaluated(1600);
    assert_int_equal(events, 1);
    evaluated(1800);
    assert_int_equal(events, 2);
    assert_non_null(strstr(said, "recovered"));
}

static void a_finding_names_the_best_base_that_is_on_disk(void **state)
{
    const struct evaluation score = {.samples = 2000, .correct = 1800, .loss = 1};
    (void)state;
    begin(NULL);
    evaluated(1800);
    training_watch_on_kept(&watch, &score);
    evaluated(1700);
    evaluated(1700);
    assert_non_null(strstr(said, "hearsay rewind --state some/folder --to best"));
}

static const char *remedy_for(const char *folder)
{
    const struct evaluation score = {.samples = 2000, .correct = 1800, .loss = 1};
    begin(NULL);
    watch.options.folder = folder;
    evaluated(1800);
    training_watch_on_kept(&watch, &score);
    evaluated(1700);
    evaluated(1700);
    return said;
}

static void a_remedy_can_be_pasted_into_a_shell_whatever_the_folder(void **state)
{
    (void)state;
    assert_non_null(strstr(remedy_for("my runs/a"), "rewind --state 'my runs/a' --to best"));
    assert_non_null(strstr(remedy_for("$HOME;x"), "rewind --state '$HOME;x' --to best"));
    assert_non_null(strstr(remedy_for("it's"), "rewind --state STATE_DIR --to best"));
    assert_non_null(strstr(remedy_for("état"), "rewind --state 'état' --to best"));
    assert_non_null(strstr(remedy_for("state"), "rewind --to best"));
}

/* Twenty steps a second for a minute, with a loss of 0.1 at first and then of 2.3. */
static uint32_t warnings_of_a_rising_loss(void)
{
    struct learner_event event = {.kind = LEARNER_STEPPED, .steps = 1, .samples = 1};
    for (uint32_t step = 0; step < 1200; step++) {
        event.loss_sum = step < 200 ? 0.1 : 2.3;
        training_watch_on_step(&watch, step * SECOND_NS / 20, &event);
    }
    look_at_report();
    return events;
}

static void a_loss_against_wrong_labels_lowers_no_rate(void **state)
{
    (void)state;
    watch.labels_contradict = true;
    assert_int_equal(warnings_of_a_rising_loss(), 0);
    assert_true(guard_rate_factor(&watch.guard) == 1);
    begin(NULL);
    assert_true(warnings_of_a_rising_loss() > 0);
}

/* Returns the warning of a node that leaves with 39.5 % after a best evaluation of 65.8 %. The last
 * evaluation is already as low. */
static const char *final_warning(uint32_t averaged_correct, bool has_best, bool is_kept)
{
    static char text[GUARD_TEXT_BYTES];
    const struct evaluation best = {.samples = 2000, .correct = 1315, .loss = 1};
    const struct evaluation saved = {.samples = 2000, .correct = 790, .loss = 1};
    const struct evaluation averaged = {.samples = 2000, .correct = averaged_correct, .loss = 1};
    begin(NULL);
    evaluated(best.correct);
    if (has_best)
        training_watch_on_kept(&watch, &best);
    evaluated(saved.correct);
    assert_true(training_watch_final_warning(&watch, &saved, &averaged, is_kept, text));
    assert_false(training_watch_final_warning(&watch, &best, &averaged, is_kept, text));
    return text;
}

static void a_base_below_the_best_evaluation_at_the_end_names_the_better_remedy(void **state)
{
    (void)state;
    assert_string_equal(final_warning(1200, true, false),
                        "the saved base has 39.5 % on the test set, and the best evaluation had "
                        "65.8 %; to return to the best base (65.8 %, base-best.safetensors): "
                        "hearsay rewind --state some/folder --to best");
    assert_non_null(strstr(final_warning(1320, true, false),
                           "65.8 %; use the averaged base (66.0 %): base-averaged.safetensors"));
    /* without a best base on the disk, or after this base has replaced it */
    assert_non_null(strstr(final_warning(1200, false, false), "use the averaged base (60.0 %)"));
    assert_non_null(strstr(final_warning(1200, true, true), "use the averaged base (60.0 %)"));
    assert_non_null(strstr(final_warning(700, false, false),
                           "may be better: hearsay rewind --state some/folder"));
}

/* Its test samples may be labelled as wrongly, so no other base is better. */
static void wrong_labels_of_this_node_are_the_reason_at_the_end(void **state)
{
    char text[GUARD_TEXT_BYTES];
    const struct evaluation saved = {.samples = 2000, .correct = 790, .loss = 1};
    (void)state;
    (void)final_warning(1200, true, false);
    (void)strcpy(watch.guard.mislabelled, "this node");
    assert_true(training_watch_final_warning(&watch, &saved, &saved, false, text));
    assert_string_equal(text, "the saved base has 39.5 % on the test set, and the best evaluation "
                              "had 65.8 %; first check the labels of this node, which contradict "
                              "the shared model");
}

/* An evaluation that ended before the save began is of an older base. */
static void a_save_has_the_score_of_an_evaluation_since_it_began(void **state)
{
    const struct evaluation better = {.samples = 2000, .correct = 1900, .loss = 1};
    (void)state;
    begin(NULL);
    assert_null(training_watch_best(&watch));
    evaluated(1800);
    /* the node is configured neither to evaluate nor to keep the best base */
    assert_null(training_watch_best(&watch));
    watch.options.keeps_best = true;
    watch.options.evaluate_every_ns = SECOND_NS;
    assert_int_equal(training_watch_best(&watch)->correct, 1800);
    training_watch_before_save(&watch, 60000 * MS_NS + 1);
    assert_null(training_watch_best(&watch));
    training_watch_before_save(&watch, 60000 * MS_NS);
    evaluated(1700);
    assert_int_equal(training_watch_best(&watch)->correct, 1700);
    training_watch_on_kept(&watch, &better);
    assert_null(training_watch_best(&watch));
}

static bool is_evaluating(void)
{
    return watch.evaluate_ns == UINT64_MAX;
}

static void evaluated_at(uint64_t now_s, uint64_t took_s)
{
    const struct learner_event event = {
        .kind = LEARNER_EVALUATED, .evaluation = {.samples = 10}, .took_ns = took_s * SECOND_NS};
    assert_true(is_evaluating());
    training_watch_on_evaluation(&watch, now_s * SECOND_NS, &event);
    assert_false(is_evaluating());
}

/* Sets up evaluations every 60 s that may take a hundredth of the time, and saves every 300 s. */
static void begin_evaluations(void)
{
    const struct training_watch_options options = {.report = &report,
                                                   .folder = "no/folder",
                                                   .evaluate_every_ns = 60 * SECOND_NS,
                                                   .evaluates_little = true,
                                                   .save_every_ns = 300 * SECOND_NS,
                                                   .keeps_best = true};
    training_watch_init(&watch, &options, 0);
}

static void evaluates_at(uint64_t now_s, uint64_t took_s)
{
    training_watch_on_time(&watch, (now_s - 1) * SECOND_NS, true);
    assert_false(is_evaluating());
    training_watch_on_time(&watch, now_s * SECOND_NS, true);
    evaluated_at(now_s, took_s);
}

/* The machine may have been busy or suspended during one evaluation. */
static void one_slow_evaluation_delays_no_others(void **state)
{
    (void)state;
    begin_evaluations();
    const uint32_t notes = report.notes;
    evaluates_at(60, 15);
    evaluates_at(120, 0);
    evaluates_at(180, 15);
    evaluates_at(240, 0);
    assert_int_equal(report.notes, notes);
    evaluates_at(300, 15);
    evaluates_at(360, 12);
    evaluates_at(360 + 1200, 12);
}

static void the_time_for_a_test_sample_is_the_least_that_was_measured(void **state)
{
    struct learner_event event = {.kind = LEARNER_STEPPED};
    (void)state;
    begin_evaluations();
    assert_int_equal(training_watch_sample_ns(&watch, 10, 0), 0);
    evaluates_at(60, 20);
    assert_int_equal(training_watch_sample_ns(&watch, 10, 0), 2 * SECOND_NS);
    time_spent_step(&event.spent, 6 * SECOND_NS);
    training_watch_on_step(&watch, 61 * SECOND_NS, &event);
    assert_int_equal(training_watch_sample_ns(&watch, 10, 6), SECOND_NS);
    evaluates_at(120, 1);
    evaluates_at(220, 20);
    assert_int_equal(training_watch_sample_ns(&watch, 10, 6), SECOND_NS / 10);
}

/* An evaluation takes 10 s, so evaluations are due every 1,000 s to take a hundredth of the time.
 */
static void an_evaluation_due_before_the_next_save_is_made_with_this_one(void **state)
{
    (void)state;
    begin_evaluations();
    evaluates_at(60, 10);
    const uint32_t notes = report.notes;
    evaluates_at(120, 10);
    look_at_report();
    assert_int_equal(events, notes + 1);
    assert_non_null(strstr(said,
                           "an evaluation takes 10.0 s, so the next one is due in 1000 s: "
                           "evaluations may take a hundredth of the time; for one every 60 s, "
                           "set train.evaluate_part"));
    for (uint64_t save_s = 300; save_s < 900; save_s += 300) {
        training_watch_before_save(&watch, save_s * SECOND_NS);
        assert_false(is_evaluating());
    }
    training_watch_before_save(&watch, 900 * SECOND_NS);
    evaluated_at(910, 10); /* it was due at 1,120 s */
    assert_int_equal(report.notes, notes + 1);
    evaluates_at(2120, 10);
}

static void an_evaluation_waits_for_the_whole_base(void **state)
{
    const struct training_watch_options options = {
        .report = &report, .folder = "no/folder", .evaluate_every_ns = 60 * SECOND_NS};
    (void)state;
    training_watch_init(&watch, &options, 0);
    training_watch_on_time(&watch, 59 * SECOND_NS, false);
    const uint32_t notes = report.notes;
    training_watch_on_time(&watch, 60 * SECOND_NS, false);
    training_watch_on_time(&watch, 70 * SECOND_NS, false);
    assert_false(is_evaluating());
    assert_int_equal(report.notes, notes + 1); /* one note says why */
    training_watch_on_time(&watch, 71 * SECOND_NS, true);
    assert_true(is_evaluating());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_evaluation_waits_for_the_whole_base, begin),
        cmocka_unit_test_setup(nothing_is_known_before_the_first_step, begin),
        cmocka_unit_test_setup(loss_is_the_mean_of_a_second_and_stays_while_nothing_is_learned,
                               begin),
        cmocka_unit_test_setup(an_evaluation_has_its_age, begin),
        cmocka_unit_test_setup(a_worse_base_is_noted_once_with_its_best, begin),
        cmocka_unit_test_setup(a_finding_names_the_best_base_that_is_on_disk, begin),
        cmocka_unit_test_setup(a_remedy_can_be_pasted_into_a_shell_whatever_the_folder, begin),
        cmocka_unit_test_setup(a_base_below_the_best_evaluation_at_the_end_names_the_better_remedy,
                               begin),
        cmocka_unit_test_setup(wrong_labels_of_this_node_are_the_reason_at_the_end, begin),
        cmocka_unit_test_setup(a_loss_against_wrong_labels_lowers_no_rate, begin),
        cmocka_unit_test_setup(a_save_has_the_score_of_an_evaluation_since_it_began, begin),
        cmocka_unit_test_setup(one_slow_evaluation_delays_no_others, begin),
        cmocka_unit_test_setup(the_time_for_a_test_sample_is_the_least_that_was_measured, begin),
        cmocka_unit_test_setup(an_evaluation_due_before_the_next_save_is_made_with_this_one, begin),
        cmocka_unit_test_setup(steps_fall_into_their_bins, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
