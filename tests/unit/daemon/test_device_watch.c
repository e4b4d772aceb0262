/* The device watch: the GPU's memory, its speed, and steps that do not end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time_units.h"
#include "daemon/device_watch.h"

static struct device_watch watch;
static struct event_log report;

static int begin(void **state)
{
    const struct device_watch_options options = {
        .report = &report, .sample_flops = 1e6, .peak_flops = 1e9};
    (void)state;
    report = (struct event_log){.is_quiet = true};
    device_watch_init(&watch, &options);
    return 0;
}

/* Reports steps of 2 s each. */
static void make_steps(uint32_t steps, size_t total)
{
    struct learner_event event = {.kind = LEARNER_STEPPED,
                                  .steps = steps,
                                  .samples = 10 * steps,
                                  .memory = {.free = total / 4, .total = total}};
    for (uint32_t i = 0; i < steps; i++)
        time_spent_step(&event.spent, 2 * SECOND_NS);
    device_watch_on_step(&watch, &event);
}

static double number(const char *key)
{
    json_t *object = device_watch_json(&watch);
    const json_t *value = json_object_get(object, key);
    const double number = json_is_null(value) ? -1 : json_number_value(value);
    json_decref(object);
    return number;
}

static void memory_and_rate_are_unknown_before_the_first_step(void **state)
{
    (void)state;
    assert_true(number("memory_bytes") == -1 && number("memory_free_bytes") == -1);
    assert_true(number("model_flops_per_s") == -1 && number("peak_part") == -1);
}

static void the_rate_follows_the_samples_of_a_second(void **state)
{
    (void)state;
    make_steps(10, 4000);
    device_watch_on_second(&watch, SECOND_NS, 0);
    assert_true(number("memory_bytes") == 4000 && number("memory_free_bytes") == 1000);
    assert_true(number("model_flops_per_s") == 1e8 && number("peak_part") == 0.1);
    device_watch_on_second(&watch, 2 * SECOND_NS, 0); /* a second without a step is ignored */
    assert_true(number("model_flops_per_s") == 1e8);
    make_steps(20, 4000);
    device_watch_on_second(&watch, 3 * SECOND_NS, 0);
    assert_true(number("model_flops_per_s") == 1.2e8);
}

static void a_gpu_hangs_after_ten_times_the_usual_step(void **state)
{
    (void)state;
    make_steps(16, 4000);
    device_watch_on_second(&watch, 120 * SECOND_NS, 100 * SECOND_NS);
    assert_false(watch.is_hung); /* a step may take 20 s */
    device_watch_on_second(&watch, 121 * SECOND_NS, 100 * SECOND_NS);
    assert_true(watch.is_hung);
    device_watch_on_second(&watch, 122 * SECOND_NS, 0);
    assert_false(watch.is_hung);
}

static void nothing_hangs_on_a_cpu_or_before_steps_are_known(void **state)
{
    (void)state;
    make_steps(15, 4000);
    device_watch_on_second(&watch, 500 * SECOND_NS, 100 * SECOND_NS);
    assert_false(watch.is_hung);
    assert_int_equal(begin(state), 0);
    make_steps(16, 0);
    device_watch_on_second(&watch, 500 * SECOND_NS, 100 * SECOND_NS);
    assert_false(watch.is_hung);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(memory_and_rate_are_unknown_before_the_first_step, begin),
        cmocka_unit_test_setup(the_rate_follows_the_samples_of_a_second, begin),
        cmocka_unit_test_setup(a_gpu_hangs_after_ten_times_the_usual_step, begin),
        cmocka_unit_test_setup(nothing_hangs_on_a_cpu_or_before_steps_are_known, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
