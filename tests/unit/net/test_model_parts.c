/* The first part in which two models differ, found in a list that another node sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/model_parts.h"

static char text[MODEL_PARTS_DIFFERENCE];

static bool differs(const char *theirs, const char *ours)
{
    return model_parts_difference(text, (const uint8_t *)theirs, strlen(theirs), ours);
}

static void names_the_first_part_that_differs(void **state)
{
    (void)state;
    assert_true(differs("run a\n0.weight [64, 20]\n0.bias [64]\n",
                        "run a\n0.weight [64, 20]\n0.bias [32]\n"));
    assert_string_equal(text, "other model: theirs 0.bias [64], ours 0.bias [32]; give all nodes "
                              "the same model");
    assert_true(differs("run a\n", "run b\n"));
    assert_string_equal(text,
                        "other model: theirs run a, ours run b; give all nodes the same model");
}

static void names_the_classes_of_a_last_layer(void **state)
{
    (void)state;
    assert_true(differs("1x28x28\nrelu\ndense 10\n", "1x28x28\nrelu\ndense 5\n"));
    assert_string_equal(text, "other model: theirs dense 10, ours dense 5; give all nodes the same "
                              "model, and data.classes if their labels differ");
    assert_true(differs("dense 10\nrelu\ndense 3\n", "dense 5\nrelu\ndense 3\n"));
    assert_null(strstr(text, "data.classes"));
    assert_true(differs("dense 10\n", "relu\n"));
    assert_null(strstr(text, "data.classes"));
    assert_true(differs("dense 10\n", "dense 10\ndense 5\n"));
    assert_null(strstr(text, "data.classes"));
}

static void names_the_task_if_only_one_side_learns_numbers(void **state)
{
    (void)state;
    assert_true(differs("1x1x4\nlayout 2\ndense 4\n", "1x1x4\nregression\nlayout 2\ndense 1\n"));
    assert_string_equal(text, "other model: theirs classes, ours regression; check the numbers in "
                              "data.y, and set the same data.task on all nodes");
    assert_true(differs("1x1x4\nregression\nlayout 2\ndense 1\n", "1x1x4\nlayout 2\ndense 4\n"));
    assert_non_null(strstr(text, "theirs regression, ours classes; "));
}

static void recognises_the_prefix_of_a_wrapper(void **state)
{
    (void)state;
    assert_true(differs("0.weight [64, 20]\n", "module.0.weight [64, 20]\n"));
    assert_string_equal(text, "other model: theirs 0.weight [64, 20], ours module.0.weight [64, "
                              "20]; give the model inside the wrapper on both");
    assert_true(differs("x.0.weight [64, 20]\n", "0.weight [64, 20]\n"));
    assert_non_null(strstr(text, "inside the wrapper"));
    assert_true(differs("x0.weight [64, 20]\n", "0.weight [64, 20]\n"));
    assert_null(strstr(text, "inside the wrapper"));
}

static void names_what_only_one_side_has(void **state)
{
    (void)state;
    assert_true(differs("a [1]\n", "a [1]\nb [2]\n"));
    assert_string_equal(text,
                        "other model: theirs nothing, ours b [2]; give all nodes the same model");
    assert_true(differs("a [1]\nb [2]\n", "a [1]\n"));
    assert_true(differs("", "a [1]\n"));
    assert_false(differs("a [1]\n", "a [1]\n"));
    assert_false(differs("", ""));
}

static void shows_no_control_characters_and_no_endless_lines(void **state)
{
    (void)state;
    static uint8_t theirs[MODEL_PARTS_MAX];
    memset(theirs, 27, sizeof theirs);
    assert_true(model_parts_difference(text, theirs, sizeof theirs, "a [1]\n"));
    assert_true(strlen(text) < MODEL_PARTS_DIFFERENCE - 1);
    assert_null(strchr(text, 27));
    theirs[0] = 0;
    assert_true(model_parts_difference(text, theirs, 1, "a [1]\n"));
    assert_non_null(strstr(text, "theirs ?, ours a [1]"));
}

static void sends_whole_lines_only(void **state)
{
    (void)state;
    char *ours = malloc(3 * MODEL_PARTS_MAX);
    memset(ours, 'x', 3 * MODEL_PARTS_MAX);
    ours[3 * MODEL_PARTS_MAX - 1] = '\0';
    assert_int_equal(model_parts_bytes(ours), 0);
    ours[99] = '\n';
    assert_int_equal(model_parts_bytes(ours), 100);
    assert_false(model_parts_difference(text, (uint8_t *)ours, model_parts_bytes(ours), ours));
    ours[MODEL_PARTS_MAX - 1] = '\n';
    assert_int_equal(model_parts_bytes(ours), MODEL_PARTS_MAX);
    free(ours);
}

static void splits_a_description_into_input_and_layers(void **state)
{
    (void)state;
    static const char of[] =
        "1x28x28, layout 2, companded: conv 16 5x5 pad 2, relu, dense 10; start 0011223344556677";
    char parts[sizeof of];
    model_parts_of(parts, of);
    assert_string_equal(parts, "1x28x28\nlayout 2\ncompanded\nconv 16 5x5 pad 2\nrelu\ndense 10");
    model_parts_of(parts, "dense 10");
    assert_string_equal(parts, "dense 10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_first_part_that_differs),
        cmocka_unit_test(names_the_classes_of_a_last_layer),
        cmocka_unit_test(names_the_task_if_only_one_side_learns_numbers),
        cmocka_unit_test(recognises_the_prefix_of_a_wrapper),
        cmocka_unit_test(names_what_only_one_side_has),
        cmocka_unit_test(shows_no_control_characters_and_no_endless_lines),
        cmocka_unit_test(sends_whole_lines_only),
        cmocka_unit_test(splits_a_description_into_input_and_layers),
    };
    return cmocka_run_group_tests_name("model_parts", tests, NULL, NULL);
}
