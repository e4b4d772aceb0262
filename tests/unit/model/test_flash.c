/* Attention by cuDNN. The stand-in computes cuDNN's graphs operation by operation. Results are
 * compared with the kernels in float32, which test_attention.c checks. test_flash_graph.c tests
 * whether the real cuDNN has engines for the graphs. On a GPU these cases also run there. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/half.h"
#include "base/memory.h"
#include "base/rng.h"
#include "support/model/each_device.h"

#define NMSE_MAX 2e-5 /* maximum NMSE of results and softmax with 8 significant bits */

struct flash_case {
    struct attention attention;
    int batch;
};

static const struct flash_case cases[] = {
    {{1, 1, 1, 8, 0}, 1},   {{5, 2, 2, 8, 0}, 3},    {{17, 4, 2, 16, 0}, 2},
    {{33, 2, 2, 64, 0}, 1}, {{20, 3, 1, 128, 0}, 1}, {{7, 6, 3, 24, 0}, 2},
};
#define CASES (sizeof cases / sizeof cases[0])

static uint64_t (*flash_runs)(void);
static struct backend *exact; /* the same device, opened in float32 */
static struct rng rng;

/* Returns the number of plans that the stand-in has executed; 0 on a real device. */
static uint64_t runs(void)
{
    return flash_runs != NULL ? flash_runs() : 0;
}

static int cudnn_opens(void **state)
{
    const char *module = getenv("HEARSAY_CUDA");
    void *loaded =
        gpu_under_test >= 0 && module != NULL ? dlopen(module, RTLD_NOW | RTLD_NOLOAD) : NULL;
    (void)state;
    if (loaded != NULL)
        *(void **)&flash_runs = dlsym(loaded, "stand_in_flash_runs");
    rng = rng_new(7, 7);
    backend = open_device_in(PRECISION_BF16);
    exact = open_device();
    return 0;
}

static int cudnn_closes(void **state)
{
    exact->close(exact);
    return device_closes(state);
}

/* An array on both `exact` and `backend`. */
struct both {
    size_t count;
    float *floats;       /* numbers for `exact` */
    struct numbers half; /* numbers for `backend`, in bfloat16 */
};

static struct both take(size_t count)
{
    return (struct both){count,
                         exact->alloc(exact, count * sizeof(float)),
                         {backend->alloc(backend, count * sizeof(uint16_t)), BFLOAT16}};
}

static void give(struct both *both)
{
    exact->free(exact, both->floats);
    backend->free(backend, both->half.at);
}

/* Draws numbers that bfloat16 can represent. */
static struct both drawn(size_t count)
{
    struct both both = take(count);
    float *floats_of_host = memory_new(count, sizeof *floats_of_host);
    uint16_t *halves = memory_new(count, sizeof *halves);
    for (size_t i = 0; i < count; i++) {
        halves[i] = half_to_bfloat16((float)(4 * rng_uniform(&rng) - 2));
        floats_of_host[i] = half_of_bfloat16(halves[i]);
    }
    exact->upload(exact, both.floats, floats_of_host, count * sizeof *floats_of_host);
    backend->upload(backend, both.half.at, halves, count * sizeof *halves);
    free(floats_of_host);
    free(halves);
    return both;
}

static void check_alike(size_t count, const float *want, const float *got)
{
    double apart = 0, all = 0;
    for (size_t i = 0; i < count; i++) {
        apart += ((double)got[i] - (double)want[i]) * ((double)got[i] - (double)want[i]);
        all += (double)want[i] * (double)want[i];
    }
    assert_true(apart <= NMSE_MAX * all + 1e-30);
}

static void check_both(const struct both *both)
{
    float *want = memory_new(both->count, sizeof *want),
          *got = memory_new(both->count, sizeof *got);
    uint16_t *halves = memory_new(both->count, sizeof *halves);
    exact->download(exact, want, both->floats, both->count * sizeof *want);
    backend->download(backend, halves, both->half.at, both->count * sizeof *halves);
    for (size_t i = 0; i < both->count; i++)
        got[i] = half_of_bfloat16(halves[i]);
    check_alike(both->count, want, got);
    free(want);
    free(got);
    free(halves);
}

static void check_log_sums(size_t count, const float *of_exact, const float *of_backend)
{
    float *want = memory_new(count, sizeof *want), *got = memory_new(count, sizeof *got);
    exact->download(exact, want, of_exact, count * sizeof *want);
    backend->download(backend, got, of_backend, count * sizeof *got);
    check_alike(count, want, got);
    free(want);
    free(got);
}

/* Compares forward and backward pass of both backends. */
static void check_case(const struct flash_case *c)
{
    const struct attention *attention = &c->attention;
    const size_t rows = (size_t)c->batch * (size_t)attention->length;
    const size_t lines = rows * (size_t)attention->heads;
    struct both x = drawn(rows * attention_input(attention));
    struct both dy = drawn(rows * attention_output(attention));
    struct both y = take(dy.count), dx = take(x.count);
    float *sums = exact->alloc(exact, lines * sizeof *sums);
    float *flash_sums = backend->alloc(backend, lines * sizeof *flash_sums);
    exact->attention->forward(exact, attention, c->batch, floats(x.floats), floats(y.floats), sums);
    backend->attention->forward(backend, attention, c->batch, x.half, y.half, flash_sums);
    check_both(&y);
    check_log_sums(lines, sums, flash_sums);
    exact->attention->backward(exact, attention, c->batch, floats(x.floats), floats(y.floats), sums,
                               floats(dy.floats), floats(dx.floats));
    backend->attention->backward(backend, attention, c->batch, x.half, y.half, flash_sums, dy.half,
                                 dx.half);
    check_both(&dx);
    exact->free(exact, sums);
    backend->free(backend, flash_sums);
    struct both *const all[] = {&x, &dy, &y, &dx};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        give(all[i]);
}

static void the_graphs_of_both_passes_compute_attention(void **state)
{
    (void)state;
    if (gpu_under_test < 0)
        skip();
    for (size_t i = 0; i < CASES; i++) {
        const uint64_t before = runs();
        check_case(&cases[i]);
        assert_true(flash_runs == NULL || runs() == before + 2);
    }
}

static void two_passes_over_the_same_numbers_agree_to_the_bit(void **state)
{
    const struct attention attention = {70, 4, 2, 16, 0};
    (void)state;
    if (gpu_under_test < 0)
        skip();
    struct both x = drawn(2 * 70 * attention_input(&attention));
    struct both dy = drawn(2 * 70 * attention_output(&attention));
    struct both y = take(dy.count), dx = take(x.count);
    const size_t bytes = dx.count * sizeof(uint16_t);
    uint16_t *first = memory_new(dx.count, sizeof *first),
             *then = memory_new(dx.count, sizeof *then);
    float *sums = backend->alloc(backend, 2 * 4 * 70 * sizeof *sums);
    backend->attention->forward(backend, &attention, 2, x.half, y.half, sums);
    for (int times = 0; times < (flash_runs == NULL ? 20 : 2); times++) {
        backend->attention->backward(backend, &attention, 2, x.half, y.half, sums, dy.half,
                                     dx.half);
        backend->download(backend, times == 0 ? first : then, dx.half.at, bytes);
        assert_true(times == 0 || memcmp(first, then, bytes) == 0);
    }
    backend->free(backend, sums);
    free(first);
    free(then);
    struct both *const all[] = {&x, &dy, &y, &dx};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        give(all[i]);
}

/* The pass is called first, then recorded, and then repeated with new numbers in its operands. */
static void a_recorded_pass_is_repeated_without_cudnn(void **state)
{
    const struct attention attention = {9, 2, 2, 16, 0};
    (void)state;
    if (gpu_under_test < 0)
        skip();
    struct step_graph graph = {0};
    struct both x = drawn(2 * 9 * attention_input(&attention));
    struct both y = take(2 * 9 * attention_output(&attention));
    float *sums = exact->alloc(exact, 36 * sizeof *sums), *own = backend->alloc(backend, 36 * 4);
    const uint64_t before = runs();
    exact->attention->forward(exact, &attention, 2, floats(x.floats), floats(y.floats), sums);
    for (int times = 0; times < 4; times++) {
        uint16_t *nothing = memory_new(y.count, sizeof *nothing);
        backend->upload(backend, y.half.at, nothing, y.count * sizeof *nothing);
        free(nothing);
        if (!backend->graph->begin(backend, &graph)) {
            backend->attention->forward(backend, &attention, 2, x.half, y.half, own);
            backend->graph->end(backend, &graph);
        }
        check_both(&y);
    }
    assert_true(flash_runs == NULL || runs() == before + 2);
    backend->graph->drop(backend, &graph);
    exact->free(exact, sums);
    backend->free(backend, own);
    give(&x);
    give(&y);
}

/* Makes the scratch buffers so large that a device with little memory need not enlarge them. */
static void grow_scratch(void)
{
    enum { SIZE = 1024 };
    float *x = backend->alloc(backend, 8 * SIZE * sizeof *x);
    backend->sequence->norm_backward(backend, 1, SIZE, floats(x), x + SIZE, x + 2 * SIZE,
                                     floats(x + 3 * SIZE), floats(NULL), floats(x + 4 * SIZE),
                                     x + 5 * SIZE, x + 6 * SIZE);
    backend->free(backend, x);
}

/* A device with 1 MiB of memory has a workspace of 64 KiB. One sample takes 40 KiB of it. */
static void a_large_workspace_is_that_of_some_samples_at_a_time(void **state)
{
    const struct flash_case c = {{100, 2, 2, 8, 0}, 3};
    (void)state;
    if (flash_runs == NULL)
        skip();
    struct backend *first = backend;
    const size_t rows = (size_t)c.batch * (size_t)c.attention.length;
    backend = open_device_in(PRECISION_BF16);
    grow_scratch();
    struct both x = drawn(rows * attention_input(&c.attention));
    struct both y = take(rows * attention_output(&c.attention));
    float *sums = backend->alloc(backend, rows * 2 * sizeof *sums);
    assert_int_equal(setenv("CUDA_ON_CPU_MIB", "1", 1), 0);
    backend->attention->forward(backend, &c.attention, c.batch, x.half, y.half, sums);
    assert_int_equal(unsetenv("CUDA_ON_CPU_MIB"), 0);
    backend->free(backend, sums);
    give(&x);
    give(&y);
    const uint64_t before = flash_runs();
    check_case(&c);
    assert_int_equal(flash_runs(), before + 1 + 3);
    backend->close(backend);
    backend = first;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_graphs_of_both_passes_compute_attention),
        cmocka_unit_test(two_passes_over_the_same_numbers_agree_to_the_bit),
        cmocka_unit_test(a_recorded_pass_is_repeated_without_cudnn),
        cmocka_unit_test(a_large_workspace_is_that_of_some_samples_at_a_time),
    };
    RUN_ON_EACH_DEVICE(tests, cudnn_opens, cudnn_closes);
}
