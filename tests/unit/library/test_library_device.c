/* Programs with tensors on a GPU, in a swarm with a program whose tensors are in main memory.
 * Skipped without a GPU or its stand-in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/cuda_module.h"
#include "backend/device.h"
#include "base/half.h"
#include "support/library/program.h"

#define PROGRAMS 3
#define STEPS    200
#define TARGET   0.05 /* fraction of the initial weights' loss that training must reach */

static struct backend *open_gpu(void)
{
    struct backend *gpu;
    char text[DEVICE_TEXT_MAX];
    struct problem problem;
    assert_int_equal(device_open("cuda:0", 1, PRECISION_FP32, &gpu, text, &problem), OK);
    return gpu;
}

/* The first program's tensors are in main memory, those of all other programs on the GPU. */
static void a_gpu_and_a_cpu_learn_one_model(void **state)
{
    struct program programs[PROGRAMS];
    static const char *const names[] = {"host", "one", "other"};
    char first[64];
    float weights[2][PROGRAM_WEIGHTS], bias[2][PROGRAM_OUTPUTS];
    pthread_barrier_t together;
    (void)state;
    if (cuda_module()->devices() == 0)
        skip();
    assert_int_equal(pthread_barrier_init(&together, NULL, PROGRAMS), 0);
    program_init(&programs[0], "host", 1);
    const double before = program_loss(programs[0].weights, programs[0].bias);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        program_init(&programs[i], names[i], i + 1);
        programs[i].gpu = i > 0 ? open_gpu() : NULL;
        programs[i].steps = STEPS;
        programs[i].target = TARGET * before;
        programs[i].together = &together;
        programs[i].members = PROGRAMS;
        programs[i].peers = i > 0 ? first : NULL;
        program_must_open(&programs[i]);
        if (i == 0)
            program_address(&programs[0], first);
        program_start(&programs[i]);
    }
    for (int i = 0; i < PROGRAMS; i++)
        program_finish(&programs[i]);
    assert_int_equal(program_base(&programs[0], weights[0], bias[0]), HEARSAY_OK);
    for (int i = 1; i < PROGRAMS; i++) {
        assert_true(program_info(&programs[i]).digest == program_info(&programs[0]).digest);
        assert_int_equal(program_base(&programs[i], weights[1], bias[1]), HEARSAY_OK);
        assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
        assert_true(programs[i].changes > 0 && programs[i].fetches > 0);
    }
    for (int i = 0; i < PROGRAMS; i++) {
        assert_int_equal(hearsay_close(programs[i].node, 0), HEARSAY_OK);
        assert_int_equal(hearsay_free(programs[i].node), HEARSAY_OK);
        program_give(&programs[i]);
    }
    assert_int_equal(pthread_barrier_destroy(&together), 0);
}

static void sixteen_bits_on_a_gpu_hold_the_base_rounded(void **state)
{
    struct program program;
    float weights[PROGRAM_WEIGHTS], bias[PROGRAM_OUTPUTS];
    (void)state;
    if (cuda_module()->devices() == 0)
        skip();
    program_init(&program, "halves", 7);
    program.dtype = HEARSAY_BFLOAT16;
    program.gpu = open_gpu();
    program_must_open(&program);
    memset(program.halves, 0xFF, sizeof program.halves);
    assert_int_equal(hearsay_join(program.node, PROGRAM_FOREVER), HEARSAY_OK);
    assert_int_equal(program_base(&program, weights, bias), HEARSAY_OK);
    program.gpu->download(program.gpu, program.halves, program.gpu_weights, sizeof program.halves);
    struct hearsay_tensor tensors[PROGRAM_TENSORS];
    program_tensors(&program, tensors);
    assert_int_equal(hearsay_base(program.node, tensors, PROGRAM_TENSORS), HEARSAY_UNSUPPORTED);
    for (int i = 0; i < PROGRAM_WEIGHTS; i++)
        assert_int_equal(program.halves[i], half_to_bfloat16(weights[i]));
    assert_int_equal(hearsay_close(program.node, 0), HEARSAY_OK);
    assert_int_equal(hearsay_free(program.node), HEARSAY_OK);
    program_give(&program);
}

static void a_device_that_is_not_there_is_refused(void **state)
{
    struct program program;
    struct hearsay_tensor tensors[PROGRAM_TENSORS];
    struct hearsay *node;
    char text[512];
    (void)state;
    program_init(&program, "nowhere", 8);
    program_tensors(&program, tensors);
    const struct hearsay_options options = {
        .abi = HEARSAY_ABI, .tensors = tensors, .tensors_count = PROGRAM_TENSORS, .run = "plane"};
    tensors[0].device = tensors[1].device = HEARSAY_CUDA;
    tensors[0].device_index = tensors[1].device_index = 99;
    assert_int_equal(hearsay_open(&options, &node), HEARSAY_UNSUPPORTED);
    assert_int_equal(hearsay_error_text(node, HEARSAY_UNSUPPORTED, text, sizeof text), HEARSAY_OK);
    if (!strstr(text, "GPU"))
        fail_msg("%s", text);
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
    tensors[1].device = HEARSAY_CPU;
    assert_int_equal(hearsay_open(&options, &node), HEARSAY_UNSUPPORTED);
    assert_int_equal(hearsay_error_text(node, HEARSAY_UNSUPPORTED, text, sizeof text), HEARSAY_OK);
    assert_non_null(strstr(text, "another device than the first"));
    assert_int_equal(hearsay_free(node), HEARSAY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_and_a_cpu_learn_one_model),
        cmocka_unit_test(sixteen_bits_on_a_gpu_hold_the_base_rounded),
        cmocka_unit_test(a_device_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, programs_begin, programs_end);
}
