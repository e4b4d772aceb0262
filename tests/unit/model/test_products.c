/* The choice of algorithms for matrix products on a GPU. The stand-in for cuBLASLt lists
 * algorithms, invents their times and counts their launches. A real GPU counts nothing.
 * test_dense.c checks results. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "fakes/cuda_on_cpu/cublasLt.h"
#include "support/model/host_backend.h"

enum { TIMED = 4 }; /* launches of an algorithm while it is timed */

static uint64_t (*launches_of)(int algorithm);
static uint64_t before[STAND_IN_ALGORITHMS];

/* Returns the launches of an algorithm since the last call. */
static uint64_t launches(int algorithm)
{
    const uint64_t all = launches_of(algorithm), since = all - before[algorithm];
    before[algorithm] = all;
    return since;
}

static void forget_launches(void)
{
    for (int algorithm = 0; algorithm < STAND_IN_ALGORITHMS; algorithm++)
        (void)launches(algorithm);
}

static int stand_in_opens(void **state)
{
    const char *module = getenv("HEARSAY_CUDA");
    void *loaded =
        gpu_under_test >= 0 && module != NULL ? dlopen(module, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (loaded != NULL)
        *(void **)&launches_of = dlsym(loaded, "stand_in_launches");
    return host_backend_opens(state);
}

/* Computes y[rows, columns] from matrices of ones with inner dimension `depth`. Each test uses its
 * own shapes, because the process times the algorithms of a shape only once. */
static void multiply(int rows, int columns, int depth)
{
    const size_t in = (size_t)rows * (size_t)depth, weights = (size_t)columns * (size_t)depth;
    const size_t out = (size_t)rows * (size_t)columns;
    float *x = memory_new(in, sizeof *x), *w = memory_new(weights, sizeof *w);
    float *y = memory_new(out, sizeof *y);
    for (size_t i = 0; i < in; i++)
        x[i] = 1;
    for (size_t i = 0; i < weights; i++)
        w[i] = 1;
    backend->dense->forward(backend, rows, depth, columns, floats(x), floats(w), floats(NULL),
                            LINEAR, floats(y));
    for (size_t i = 0; i < out; i++)
        assert_true(fabsf(y[i] - (float)depth) < 0.5f);
    free(x);
    free(w);
    free(y);
}

/* Computes dw[columns, depth] += dyᵀ·x from matrices of ones. */
static void add_weight_gradient(int rows, int columns, int depth)
{
    const size_t in = (size_t)rows * (size_t)depth, weights = (size_t)columns * (size_t)depth;
    const size_t out = (size_t)rows * (size_t)columns;
    float *x = memory_new(in, sizeof *x), *w = memory_new(weights, sizeof *w);
    float *y = memory_new(out, sizeof *y), *dy = memory_new(out, sizeof *dy);
    float *dw = memory_new(weights, sizeof *dw);
    for (size_t i = 0; i < in; i++)
        x[i] = 1;
    for (size_t i = 0; i < out; i++)
        dy[i] = 1;
    for (size_t i = 0; i < weights; i++)
        dw[i] = 3;
    backend->dense->backward(backend, rows, depth, columns, floats(x), floats(w), floats(y), LINEAR,
                             floats(dy), floats(NULL), dw, NULL, true);
    for (size_t i = 0; i < weights; i++)
        assert_true(fabsf(dw[i] - (float)(3 + rows)) < 0.5f);
    free(x);
    free(w);
    free(y);
    free(dy);
    free(dw);
}

static void the_first_algorithm_as_fast_as_any_is_taken(void **state)
{
    (void)state;
    if (launches_of == NULL)
        skip();
    forget_launches();
    multiply(24, 40, 8);
    assert_int_equal(launches(STAND_IN_SLOW), TIMED);
    assert_int_equal(launches(STAND_IN_UNABLE), 0);
    assert_int_equal(launches(STAND_IN_FAILING), 1);
    assert_int_equal(launches(STAND_IN_AS_FAST), TIMED + 1);
    assert_int_equal(launches(STAND_IN_FASTEST), TIMED);
}

static void a_shape_is_timed_once_in_a_process(void **state)
{
    (void)state;
    if (launches_of == NULL)
        skip();
    multiply(24, 48, 8);
    forget_launches();
    multiply(24, 48, 8);
    assert_int_equal(launches(STAND_IN_AS_FAST), 1);
    struct backend *first = device_of_tests, *second = open_device();
    backend = host_backend(second);
    multiply(24, 48, 8);
    second->close(second);
    backend = host_backend(first);
    assert_int_equal(launches(STAND_IN_AS_FAST), 1);
    assert_int_equal(launches(STAND_IN_SLOW), 0);
    multiply(24, 56, 8);
    assert_int_equal(launches(STAND_IN_SLOW), TIMED);
}

static void timing_a_sum_leaves_what_it_is_added_to(void **state)
{
    (void)state;
    if (launches_of == NULL)
        skip();
    forget_launches();
    add_weight_gradient(16, 40, 24);
    assert_int_equal(launches(STAND_IN_SLOW), TIMED);
    assert_int_equal(launches(STAND_IN_AS_FAST), TIMED + 1);
}

/* The backend uses cuBLASLt's first algorithm, also when there is enough memory later. */
static void without_memory_to_time_a_sum_the_first_algorithm_is_taken(void **state)
{
    enum { ROWS = 16, COLUMNS = 40, DEPTH = 32 };
    (void)state;
    if (launches_of == NULL)
        skip();
    struct backend *device = device_of_tests;
    float *x = device->alloc(device, ROWS * DEPTH * sizeof *x);
    float *w = device->alloc(device, COLUMNS * DEPTH * sizeof *w);
    float *y = device->alloc(device, ROWS * COLUMNS * sizeof *y);
    float *dw = device->alloc(device, COLUMNS * DEPTH * sizeof *dw);
    forget_launches();
    assert_int_equal(setenv("CUDA_ON_CPU_MIB", "1", 1), 0);
    device->dense->backward(device, ROWS, DEPTH, COLUMNS, floats(x), floats(w), floats(y), LINEAR,
                            floats(y), floats(NULL), dw, NULL, true);
    assert_int_equal(unsetenv("CUDA_ON_CPU_MIB"), 0);
    device->dense->backward(device, ROWS, DEPTH, COLUMNS, floats(x), floats(w), floats(y), LINEAR,
                            floats(y), floats(NULL), dw, NULL, true);
    assert_int_equal(launches(STAND_IN_SLOW), 2);
    assert_int_equal(launches(STAND_IN_AS_FAST), 0);
    float *const taken[] = {x, w, y, dw};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        device->free(device, taken[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_algorithm_as_fast_as_any_is_taken),
        cmocka_unit_test(a_shape_is_timed_once_in_a_process),
        cmocka_unit_test(timing_a_sum_leaves_what_it_is_added_to),
        cmocka_unit_test(without_memory_to_time_a_sum_the_first_algorithm_is_taken),
    };
    RUN_ON_EACH_DEVICE(tests, stand_in_opens, host_backend_closes);
}
