/* Mean, deviation and median of times. The times of a model's layers add up to the model's time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/model_time.h"

static void test_mean_deviation_and_median(void **state)
{
    (void)state;
    uint64_t odd[] = {9, 2, 4}, even[] = {10, 1, 3, 2}, one[] = {7};
    const struct timing of_odd = timing_of(odd, 3), of_even = timing_of(even, 4),
                        of_one = timing_of(one, 1);
    assert_true(of_odd.mean == 5 && of_odd.median == 4);
    assert_true(fabs(of_odd.deviation - sqrt(13)) < 1e-12); /* the variance is (16 + 9 + 1) / 2 */
    assert_true(of_even.mean == 4 && of_even.median == 2.5);
    assert_true(of_one.mean == 7 && of_one.deviation == 0 && of_one.median == 7);
}

static void test_layers_add_up_to_the_sample(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        struct shape in;
    } models[] = {{"conv 8 5x5, relu, maxpool 2, dense 9", {1, 20, 20, 0}},
                  {"embed 9 8, residual(norm, attention 2), dropout 0.1, logits", {1, 1, 1, 12}}};
    for (int m = 0; m < 2; m++) {
        struct problem problem;
        struct arena arena;
        struct model *model;
        struct model_times times;
        struct backend *backend = backend_cpu(1);
        double sum = 0;
        arena_init_growing(&arena);
        assert_int_equal(
            model_new(&model, &arena, backend, models[m].line, models[m].in, 9, 1, &problem), OK);
        model_time(model, backend, 5, &arena, &times);
        assert_int_equal(times.passes, 5);
        for (int i = 0; i < model_layers(model); i++) {
            const struct layer *layer = model_layer_at(model, i);
            const bool computes = layer->kind->forward && !layer->absorbed;
            assert_true(times.layer[i].mean >= 0 && (computes || times.layer[i].mean == 0));
            sum += times.layer[i].mean;
        }
        assert_true(times.sample.mean > 0 && fabs(sum - times.sample.mean) < 1e-6 * sum);
        model_free(model);
        backend->close(backend);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mean_deviation_and_median),
                                       cmocka_unit_test(test_layers_add_up_to_the_sample)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
