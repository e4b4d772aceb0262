/* Tensors on a GPU: how much the GPU works for a call, and that this work waits for the program's
 * stream and precedes later work of that stream. The stand-in for CUDA counts the work. Skipped on
 * a real GPU. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/cuda_module.h"
#include "library/caller_learner.h"
#include "support/library/program.h"

#define TENSORS 40
#define EACH    3000 /* entries of a tensor */
#define P       (TENSORS * EACH)

/* The same struct as in tests/fakes/cuda_on_cpu/cuda_runtime_api.h. */
struct count {
    uint64_t copied_bytes, set_bytes, kernels, synchronizations;
};
enum { FROM_HOST = 1, TO_HOST = 2, SUCCESS = 0 };
static struct count (*counted)(void);
static int (*stream_new)(void **stream, unsigned flags);
static int (*stream_wait)(void *stream);
static int (*stream_end)(void *stream);
static int (*copy)(void *to, const void *from, size_t bytes, int kind, void *stream);

static struct backend *gpu;
static struct arena arena;
static struct caller_tensors tensors;
static struct caller_learner caller;
static struct learner *learner;
static void *memory[TENSORS];
static void *stream; /* the program's stream */

static bool find(void *module, const char *name, void *function)
{
    void *found = dlsym(module, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool is_stand_in(void)
{
    void *module = getenv("HEARSAY_CUDA") ? dlopen(getenv("HEARSAY_CUDA"), RTLD_NOW) : NULL;
    return module && find(module, "stand_in_counted", &counted) &&
           find(module, "cudaStreamCreateWithFlags", &stream_new) &&
           find(module, "cudaStreamSynchronize", &stream_wait) &&
           find(module, "cudaStreamDestroy", &stream_end) && find(module, "cudaMemcpyAsync", &copy);
}

static void give_tensors(enum hearsay_dtype dtype)
{
    struct hearsay_tensor given[TENSORS];
    char names[TENSORS][8];
    struct problem problem;
    const size_t bytes = EACH * (dtype == HEARSAY_FLOAT32 ? sizeof(float) : sizeof(uint16_t));
    for (int i = 0; i < TENSORS; i++) {
        (void)snprintf(names[i], sizeof names[i], "t%d", i);
        memory[i] = gpu->alloc(gpu, bytes);
        given[i] = (struct hearsay_tensor){.name = names[i],
                                           .data = memory[i],
                                           .shape = {EACH},
                                           .dimensions = 1,
                                           .dtype = dtype,
                                           .device = HEARSAY_CUDA};
    }
    assert_int_equal(caller_tensors_init(&tensors, given, TENSORS, &problem), OK);
    caller_tensors_use(&tensors, gpu);
}

static void open_learner(enum hearsay_dtype dtype)
{
    static float start[P];
    struct problem problem;
    const struct learner_options options = {
        .start = start, .parameters = P, .companded = true, .density_max = P};
    assert_int_equal(cuda_module()->open(0, PRECISION_FP32, &gpu, &problem), OK);
    give_tensors(dtype);
    arena_init_growing(&arena);
    learner = learner_new(&arena, gpu, NULL, NULL, NULL, &options);
    learner_reserve(learner);
    caller = (struct caller_learner){.learner = learner, .tensors = &tensors};
    caller_learner_enter(&caller);
    caller_learner_fill(&caller);
    caller_learner_leave(&caller);
    assert_int_equal(stream_new(&stream, 0), SUCCESS);
}

static void close_learner(void)
{
    assert_int_equal(stream_end(stream), SUCCESS);
    caller_learner_free(&caller);
    learner_free(learner);
    for (int i = 0; i < TENSORS; i++)
        gpu->free(gpu, memory[i]);
    caller_tensors_free(&tensors);
    gpu->close(gpu);
    arena_release(&arena);
}

static uint32_t index_of[P];
static int8_t level_of[P];

/* Returns an update that moves every `apart`-th entry by a quarter. */
static struct update update_of(uint32_t apart)
{
    struct update update = {.tau = 0.25f, .amount = 1u << 22, .index = index_of, .level = level_of};
    for (uint32_t c = 0; c < P; c += apart) {
        index_of[update.count] = c;
        level_of[update.count++] = 1;
    }
    return update;
}

static struct count between(struct count before)
{
    const struct count now = counted();
    return (struct count){now.copied_bytes - before.copied_bytes, now.set_bytes - before.set_bytes,
                          now.kernels - before.kernels,
                          now.synchronizations - before.synchronizations};
}

/* Applies the update `times` times in one call. Returns the work that the GPU received. */
static struct count apply(const struct update *update, int times)
{
    const struct count before = counted();
    for (int i = 0; i < times; i++)
        caller_learner_ops.apply(&caller, update, 0);
    caller_learner_leave(&caller);
    return between(before);
}

static void an_update_copies_its_own_entries_only(void **state)
{
    (void)state;
    if (!is_stand_in())
        skip();
    open_learner(HEARSAY_FLOAT32);
    caller_learner_follow_stream(&caller, stream);
    const struct update update = update_of(100);
    const struct count count = apply(&update, 1);
    assert_int_equal(count.copied_bytes, update.count * (sizeof(uint32_t) + sizeof(int8_t)));
    assert_int_equal(count.set_bytes, 0);
    assert_int_equal(count.kernels, 1);
    assert_int_equal(count.synchronizations, 0);
    close_learner();
}

static void an_update_of_rounded_tensors_copies_its_own_entries_only(void **state)
{
    (void)state;
    if (!is_stand_in())
        skip();
    open_learner(HEARSAY_BFLOAT16);
    caller_learner_follow_stream(&caller, stream);
    const struct update update = update_of(100);
    const struct count count = apply(&update, 1);
    assert_int_equal(count.copied_bytes, 3 * update.count * (sizeof(uint32_t) + sizeof(int8_t)));
    assert_int_equal(count.set_bytes, 0);
    assert_int_equal(count.kernels, 3);
    assert_int_equal(count.synchronizations, 0);
    close_learner();
}

static void many_updates_and_large_ones_wait_for_nothing(void **state)
{
    (void)state;
    if (!is_stand_in())
        skip();
    open_learner(HEARSAY_FLOAT32);
    caller_learner_follow_stream(&caller, stream);
    struct update update = update_of(100);
    assert_int_equal(apply(&update, 32).synchronizations, 0);
    update = update_of(1);
    assert_true(update.count * sizeof *update.index > 3 * (size_t)(128 << 10));
    assert_int_equal(apply(&update, 2).synchronizations, 0);
    close_learner();
}

static void without_a_stream_a_call_waits_once(void **state)
{
    (void)state;
    if (!is_stand_in())
        skip();
    open_learner(HEARSAY_FLOAT32);
    const struct update update = update_of(100);
    assert_int_equal(apply(&update, 5).synchronizations, 1);
    close_learner();
}

/* When the call begins, the stream has not yet written a weight. After the call, the stream reads
 * it. */
static void a_call_uses_weights_in_the_order_of_the_stream(void **state)
{
    const float trained = 1;
    float read = 0;
    (void)state;
    if (!is_stand_in())
        skip();
    open_learner(HEARSAY_FLOAT32);
    caller_learner_follow_stream(&caller, stream);
    const struct update update = update_of(100);
    assert_int_equal(copy(memory[1], &trained, sizeof trained, FROM_HOST, stream), SUCCESS);
    (void)apply(&update, 1);
    assert_int_equal(copy(&read, memory[1], sizeof read, TO_HOST, stream), SUCCESS);
    assert_int_equal(stream_wait(stream), SUCCESS);
    assert_true(read == 1.25f);
    close_learner();
}

static void rejects_a_stream_that_is_not_open(void **state)
{
    struct program program;
    struct problem problem;
    (void)state;
    if (!is_stand_in())
        skip();
    program_init(&program, "streams", 3);
    assert_int_equal(cuda_module()->open(0, PRECISION_FP32, &program.gpu, &problem), OK);
    program_must_open(&program);
    assert_int_equal(stream_new(&stream, 0), SUCCESS);
    assert_int_equal(hearsay_stream(program.node, stream), HEARSAY_OK);
    assert_int_equal(hearsay_stream(program.node, &program), HEARSAY_ARGUMENT);
    assert_non_null(
        strstr(program_sentence(&program, HEARSAY_ARGUMENT), "not an open stream of GPU 0"));
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(hearsay_close(program.node, 0), HEARSAY_OK);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
    assert_int_equal(stream_end(stream), SUCCESS);
    program_give(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_update_copies_its_own_entries_only),
        cmocka_unit_test(an_update_of_rounded_tensors_copies_its_own_entries_only),
        cmocka_unit_test(many_updates_and_large_ones_wait_for_nothing),
        cmocka_unit_test(without_a_stream_a_call_waits_once),
        cmocka_unit_test(a_call_uses_weights_in_the_order_of_the_stream),
        cmocka_unit_test(rejects_a_stream_that_is_not_open),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
