/* Scenarios on a GPU: learners end as on the CPU, except for rounding. */
#include <math.h>

#include "backend/cuda/cuda_module.h"
#include "support/sim/scenario_text.h"
#include "support/sim/strategy_play.h"

/* distance between two runs' weights, relative to their distance from the first weights */
#define ROUNDING 1e-4

static struct played play_on(const char *device, const char *strategy)
{
    char word[64];
    const char *sets[] = {word, "scenario.seconds=3"};
    (void)snprintf(word, sizeof word, "train.device=%s", device);
    return play_with(strategy, sets, 2);
}

static void assert_same_play(const struct played *a, const struct played *b)
{
    const struct moment *of_a = last_moment(a), *of_b = last_moment(b);
    assert_int_equal(of_a->samples, of_b->samples);
    assert_true(fabs(a->outcome.loss - b->outcome.loss) < ROUNDING * a->outcome.loss);
    assert_true(weights_apart(a, b) < ROUNDING);
}

static void a_gpu_computes_what_the_cpu_does(void **state)
{
    (void)state;
    static const char *const strategies[] = {"gossip", "ideal", "allreduce"};
    if (cuda_module()->devices() == 0)
        skip();
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++) {
        struct played cpu = play_on("cpu", strategies[i]), gpu = play_on("cuda:0", strategies[i]);
        assert_string_equal(gpu.experiment.backend->name, "cuda");
        assert_same_play(&cpu, &gpu);
        play_end(&cpu);
        play_end(&gpu);
    }
}

static void refuses_a_gpu_that_is_not_there(void **state)
{
    (void)state;
    const char *sets[] = {"train.device=cuda:99"};
    struct experiment experiment;
    struct problem problem = {""};
    struct scenario *scenario = calloc(1, sizeof *scenario);
    assert_non_null(scenario);
    assert_int_equal(
        load_bytes(scenario, strategy_three, strlen(strategy_three), sets, 1, &problem), OK);
    assert_int_equal(experiment_open(&experiment, scenario, &problem), MISSING);
    assert_non_null(strstr(problem.text, "[train] device: there is no GPU"));
    experiment_close(&experiment);
    free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_computes_what_the_cpu_does),
        cmocka_unit_test(refuses_a_gpu_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
