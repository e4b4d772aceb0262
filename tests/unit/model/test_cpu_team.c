/* The CPU's threads: each does its part once per run. Convolutions do not depend on the number of
 * threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cpu/cpu_team.h"
#include "base/rng.h"
#include "support/model/operands.h"

#define THREADS_MAX 9
#define RUNS        200

struct tally {
    int calls[THREADS_MAX];
    int run[THREADS_MAX]; /* last run that each thread has seen */
    int now;
};

static void count_call(void *state, int thread)
{
    struct tally *tally = state;
    tally->calls[thread]++;
    tally->run[thread] = tally->now;
}

static void each_thread_works_once_in_each_run(void **state)
{
    (void)state;
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
        struct team *team = team_new(threads);
        struct tally tally = {{0}, {0}, 0};
        assert_int_equal(team_threads(team), threads);
        for (tally.now = 1; tally.now <= RUNS; tally.now++) {
            team_run(team, count_call, &tally);
            for (int i = 0; i < THREADS_MAX; i++)
                assert_int_equal(tally.run[i], i < threads ? tally.now : 0);
        }
        for (int i = 0; i < threads; i++)
            assert_int_equal(tally.calls[i], RUNS);
        team_free(team);
    }
}

static void a_team_that_never_ran_can_be_ended(void **state)
{
    (void)state;
    team_free(team_new(4));
}

#define BATCH 7

/* Computes a convolution's y, dx, dw and db into `results`, one after the other. Returns the count
 * of numbers. */
static size_t compute(int threads, const struct conv *conv, float *results)
{
    struct backend *cpu = backend_cpu(threads);
    const size_t in = BATCH * shape_size(conv->in), out = BATCH * shape_size(conv_output(conv));
    const size_t filters = (size_t)conv->filters, weights = filters * (size_t)conv_patch(conv);
    float *made_dx = results + out, *made_dw = made_dx + in, *made_db = made_dw + weights;
    static float gradient[ROOM];
    assert_true(in <= ROOM && out <= ROOM);
    memcpy(gradient, dy, sizeof gradient);
    cpu->conv->forward(cpu, conv, BATCH, x, w, b, TANH, results);
    cpu->conv->backward(cpu, conv, BATCH, x, w, results, TANH, gradient, made_dx, made_dw, made_db);
    cpu->close(cpu);
    return out + in + weights + filters;
}

static void convolutions_are_the_same_bits_with_any_number_of_threads(void **state)
{
    static float alone[4 * ROOM], together[4 * ROOM];
    const struct conv convs[] = {
        {{3, 14, 14, 0}, 5, 3, 1, 1, 1},
        {{4, 12, 13, 0}, 18, 5, 2, 2, 2},
        {{6, 9, 9, 0}, 6, 3, 1, 1, 6},
        {{1, 1, 1, 0}, 1, 1, 0, 1, 1},
    };
    for (size_t i = 0; i < sizeof convs / sizeof convs[0]; i++) {
        case_begin(state);
        const size_t count = compute(1, &convs[i], alone);
        for (int threads = 2; threads <= THREADS_MAX; threads++) {
            memset(together, 0xFF, sizeof together);
            assert_int_equal(compute(threads, &convs[i], together), count);
            assert_memory_equal(alone, together, count * sizeof *alone);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_works_once_in_each_run),
        cmocka_unit_test(a_team_that_never_ran_can_be_ended),
        cmocka_unit_test(convolutions_are_the_same_bits_with_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
