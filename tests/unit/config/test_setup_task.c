/* All sites of a swarm have one task: its classes and its normalisation, whatever their own files
 * contain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backend/device.h"
#include "config/setup.h"
#include "config/shared_settings.h"
#include "support/config/config_story.h"

static struct config config;
static struct problem problem;

/* Returns the layers of the model for samples of this shape, with classes or numeric targets.
 * Returns the error text if the setup is rejected. */
static const char *layers_of(struct shape shape, const char *setting, int classes,
                             bool is_regression)
{
    static char line[MODEL_LINE_MAX];
    static float target;
    struct arena arena;
    struct setup_model made;
    struct backend *backend = backend_cpu(1);
    const struct dataset train = {
        .count = 1, .shape = shape, .classes = classes, .targets = is_regression ? &target : NULL};
    config_defaults(&config);
    must_set(&config, "model.name=mlp");
    if (setting)
        must_set(&config, setting);
    arena_init(&arena, (size_t)64 << 20);
    const enum error error = setup_model(&config, 8, &train, &arena, backend, &made, &problem);
    (void)snprintf(line, sizeof line, "%s", error == OK ? model_line(made.model) : problem.text);
    if (error == OK)
        model_free(made.model);
    backend->close(backend);
    arena_release(&arena);
    return line;
}

static const char *layers_for(const char *setting, int classes, bool is_regression)
{
    return layers_of((struct shape){1, 12, 12, 0}, setting, classes, is_regression);
}

static void assert_ends(const char *line, const char *end)
{
    if (strlen(line) < strlen(end) || strcmp(line + strlen(line) - strlen(end), end) != 0)
        fail_msg("%s does not end with %s", line, end);
}

static void a_preset_has_as_many_outputs_as_the_data_need(void **state)
{
    (void)state;
    assert_ends(layers_for(NULL, 10, false), ", dense 10");
    assert_ends(layers_for(NULL, 47, false), ", dense 47");
    assert_ends(layers_for(NULL, 1, true), ", dense 1");
    assert_ends(layers_for(NULL, 12, true), ", dense 12");
    assert_ends(layers_for("model.name=lenet", 100, false), ", dense 100");
    for (int i = 0; model_preset_name(i); i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "model.name=%s", model_preset_name(i));
        if (model_line_tokens(model_preset(model_preset_name(i))) > 0)
            continue;
        assert_ends(layers_for(name, 100, false), ", dense 100");
    }
    assert_ends(layers_for("model.name=xor", 2, false), ", dense 2");
}

/* This site's labels lack the highest class. Its model must still equal that of other sites. */
static void a_preset_keeps_its_ten_outputs_where_labels_are_fewer(void **state)
{
    (void)state;
    assert_ends(layers_for(NULL, 9, false), ", dense 10");
    assert_ends(layers_for("data.classes=9", 9, false), ", dense 9");
}

static void layers_may_have_more_outputs_than_labels_and_not_fewer(void **state)
{
    (void)state;
    assert_ends(layers_for("model.layers=dense 4, relu, dense 12", 9, false), ", dense 12");
    assert_non_null(strstr(layers_for("model.layers=dense 4, relu, dense 8", 9, false),
                           "the last layer must be 'dense 9'"));
    assert_non_null(strstr(layers_for("model.layers=dense 4, relu, dense 3", 2, true),
                           "the last layer must be 'dense 2'"));
}

static void a_preset_for_other_samples_is_answered_with_one_that_fits(void **state)
{
    const struct shape table = {1, 1, 6, 0}, text = {1, 1, 1, 16};
    (void)state;
    assert_ends(layers_of(table, "model.name=lenet", 3, false),
                "the window is larger than its input of 1x6; at most 'maxpool 1'; for these "
                "samples, set model.name = mlp, or write model.layers");
    assert_ends(layers_of(text, "model.name=lenet", 256, false),
                "tokens are embedded first: 'embed TOKENS N'; for these samples, set model.name = "
                "gpt-char, or write model.layers");
    assert_null(
        strstr(layers_of(table, "model.layers=maxpool 2, dense 3", 3, false), "model.name"));
    assert_ends(layers_of(table, "model.name=mlp", 3, false), ", dense 10");
}

static enum error load(const char *setting, struct dataset *train, struct dataset *test)
{
    static const char *const few[] = {"data.source=generated", "data.train_count=50",
                                      "data.test_count=20"};
    *train = *test = (struct dataset){0};
    config_defaults(&config);
    for (size_t i = 0; i < 3; i++)
        must_set(&config, few[i]);
    must_set(&config, setting);
    return setup_data(&config, train, test, &problem);
}

static void the_number_of_classes_is_the_swarms(void **state)
{
    struct dataset train, test;
    (void)state;
    assert_int_equal(load("data.classes=12", &train, &test), OK);
    assert_true(train.classes == 12 && test.classes == 12);
    dataset_free(&train);
    dataset_free(&test);
    assert_int_equal(load("data.classes=7", &train, &test), WRONG_SETTING);
    assert_non_null(strstr(problem.text, "data.classes = 7, but local labels go up to 9"));
    dataset_free(&train);
    dataset_free(&test);
    assert_int_equal(load("data.classes=1", &train, &test), WRONG_SETTING);
    assert_non_null(strstr(problem.text, "a model distinguishes at least two classes"));
    dataset_free(&train);
    dataset_free(&test);
}

static void a_number_of_classes_makes_whole_floats_labels(void **state)
{
    (void)state;
    config_defaults(&config);
    assert_int_equal(setup_dataset_options(&config.data).task, DATASET_TASK_AUTO);
    must_set(&config, "data.classes=5");
    assert_int_equal(setup_dataset_options(&config.data).task, DATASET_CLASSES);
    must_set(&config, "data.task=numbers");
    assert_int_equal(setup_dataset_options(&config.data).task, DATASET_NUMBERS);
}

static void warns_of_whole_numbers_that_are_predicted(void **state)
{
    static float targets[] = {4, 1, 2};
    char text[SETUP_DATA_TEXT];
    struct dataset train = {.count = 3, .targets = targets, .look = LOOK_WHOLE_NUMBERS};
    (void)state;
    setup_data_warnings(text, &train);
    assert_non_null(strstr(text, "data.y holds whole numbers 1 .. 4 and is learned as numbers"));
    assert_true(text[strlen(text) - 1] == '\n');
    train.look = LOOK_NUMBERS;
    setup_data_warnings(text, &train);
    assert_string_equal(text, "");
}

static void warns_of_floats_that_are_not_scaled(void **state)
{
    static float number[1];
    char text[SETUP_DATA_TEXT];
    struct dataset train = {.numbers = number, .input_mean = 127.5f, .input_deviation = 73.9f};
    (void)state;
    setup_data_warnings(text, &train);
    assert_non_null(strstr(text, "data.x holds floats of mean 127.5 and deviation 73.9, which are "
                                 "not normalised"));
    train.input_mean = 0.13f;
    train.input_deviation = 0.31f;
    setup_data_warnings(text, &train);
    assert_string_equal(text, "");
}

static void warns_of_targets_that_are_not_scaled(void **state)
{
    static float target[1];
    char text[SETUP_DATA_TEXT];
    struct dataset train = {.targets = target, .target_mean = 70000, .target_deviation = 12000};
    (void)state;
    setup_data_warnings(text, &train);
    assert_non_null(strstr(text, "data.y holds numbers of mean 7e+04 and deviation 1.2e+04, which "
                                 "are not normalised"));
    train.target_mean = 0.1f;
    train.target_deviation = 0.9f;
    setup_data_warnings(text, &train);
    assert_string_equal(text, "");
}

static void warns_of_one_hot_labels_that_are_predicted(void **state)
{
    static float target[1];
    char text[SETUP_DATA_TEXT];
    const struct dataset train = {.targets = target, .look = LOOK_ONE_HOT};
    (void)state;
    setup_data_warnings(text, &train);
    assert_non_null(strstr(text, "data.y holds one-hot labels"));
    assert_non_null(strstr(text, "for classes, save y.argmax(axis=1)"));
}

static void warns_of_labels_that_do_not_begin_at_0(void **state)
{
    static int32_t label[1];
    char text[SETUP_DATA_TEXT];
    struct dataset train = {.labels = label, .lowest_label = 1, .highest_label = 10};
    (void)state;
    setup_data_warnings(text, &train);
    assert_non_null(strstr(text, "no sample has label 0, only labels 1 .. 10: number the classes "
                                 "from 0 on all nodes"));
    train.lowest_label = 10;
    setup_data_warnings(text, &train);
    assert_non_null(strstr(text, "no sample has label 0, only label 10: number the classes"));
    train.lowest_label = 0;
    setup_data_warnings(text, &train);
    assert_string_equal(text, "");
}

static void bytes_are_normalised_as_the_swarm_says(void **state)
{
    struct dataset train, test;
    (void)state;
    assert_int_equal(load("data.mean=100", &train, &test), OK);
    assert_true(train.mean == 100 && test.mean == 100 && train.scale != 0);
    assert_true(train.input_mean < 0 && train.input_deviation == 1);
    dataset_free(&train);
    dataset_free(&test);
    assert_int_equal(load("data.deviation=50", &train, &test), OK);
    assert_true(train.scale == 0.02f && test.scale == 0.02f && train.mean > 0);
    assert_true(train.input_mean == 0 && train.input_deviation > 1);
    dataset_free(&train);
    dataset_free(&test);
    assert_int_equal(load("data.source=xor", &train, &test), OK);
    must_set(&config, "data.mean=1");
    dataset_free(&train);
    dataset_free(&test);
    train = test = (struct dataset){0};
    const enum error error = setup_data(&config, &train, &test, &problem);
    assert_true(error == OK || strstr(problem.text, "data.mean applies to byte samples only"));
    dataset_free(&train);
    dataset_free(&test);
}

/* Sites have different images, so automatic normalisations differ. Neighbours therefore compare
 * the mean and deviation in use, configured or automatic. */
static void neighbours_compare_how_bytes_are_normalised(void **state)
{
    char text[SETTINGS_MAX + 1];
    (void)state;
    config_defaults(&config);
    static uint8_t pixels[1];
    const struct dataset bytes = {
        .pixels = pixels, .mean = 72.9403381f, .scale = 1 / 90.0211f, .input_deviation = 1};
    static float number[1];
    const struct dataset floats = {
        .numbers = number, .input_mean = 127.5f, .input_deviation = 73.9f};
    shared_settings_text(&config, NULL, text);
    assert_null(strstr(text, "data.mean"));
    shared_settings_text(&config, &(struct dataset){.pixels = NULL}, text);
    assert_null(strstr(text, "data.mean"));
    shared_settings_text(&config, &bytes, text);
    assert_non_null(strstr(text, "\ndata.mean=72.9403\ndata.deviation=90.0211\n"
                                 "data.inputs=mean 0 and deviation 1 of normalised bytes\n"));
    shared_settings_text(&config, &floats, text);
    assert_null(strstr(text, "data.mean"));
    assert_non_null(strstr(text, "\ndata.inputs=mean 127.5 and deviation 73.9 of floats\n"));
}

static void neighbours_compare_labels_and_targets(void **state)
{
    static float target[1];
    static int32_t label[1];
    char text[SETTINGS_MAX + 1];
    struct dataset train = {.labels = label, .lowest_label = 1, .highest_label = 10};
    (void)state;
    config_defaults(&config);
    shared_settings_text(&config, &train, text);
    assert_non_null(strstr(text, "\ndata.labels=1 .. 10\n"));
    assert_null(strstr(text, "data.targets"));
    train = (struct dataset){.targets = target, .target_mean = 0.7f, .target_deviation = 1.2f};
    shared_settings_text(&config, &train, text);
    assert_non_null(strstr(text, "\ndata.targets=mean 0.7 and deviation 1.2 of targets\n"));
    assert_null(strstr(text, "data.labels"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preset_has_as_many_outputs_as_the_data_need),
        cmocka_unit_test(a_preset_keeps_its_ten_outputs_where_labels_are_fewer),
        cmocka_unit_test(layers_may_have_more_outputs_than_labels_and_not_fewer),
        cmocka_unit_test(a_preset_for_other_samples_is_answered_with_one_that_fits),
        cmocka_unit_test(the_number_of_classes_is_the_swarms),
        cmocka_unit_test(a_number_of_classes_makes_whole_floats_labels),
        cmocka_unit_test(warns_of_whole_numbers_that_are_predicted),
        cmocka_unit_test(warns_of_floats_that_are_not_scaled),
        cmocka_unit_test(warns_of_targets_that_are_not_scaled),
        cmocka_unit_test(warns_of_one_hot_labels_that_are_predicted),
        cmocka_unit_test(warns_of_labels_that_do_not_begin_at_0),
        cmocka_unit_test(bytes_are_normalised_as_the_swarm_says),
        cmocka_unit_test(neighbours_compare_how_bytes_are_normalised),
        cmocka_unit_test(neighbours_compare_labels_and_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
