/* A group of tests on the CPU, and again on every GPU that there is. */
#ifndef HEARSAY_TESTS_SUPPORT_EACH_DEVICE_H
#define HEARSAY_TESTS_SUPPORT_EACH_DEVICE_H

#include <stdlib.h>

#include "backend/backend.h"
#include "backend/cuda/cuda_module.h"

static int gpu_under_test = -1; /* the CPU */

static inline struct backend *open_device_in(enum precision precision)
{
    struct backend *backend;
    struct problem problem;
    if (gpu_under_test < 0)
        return backend_cpu(1);
    if (cuda_module()->open(gpu_under_test, precision, &backend, &problem) == OK)
        return backend;
    (void)fprintf(stderr, "%s\n", problem.text);
    abort();
}

static inline struct backend *open_device(void)
{
    return open_device_in(PRECISION_FP32);
}

/* For the whole group, if no test opens it itself. */
static struct backend *backend;

static inline int device_opens(void **state)
{
    (void)state;
    backend = open_device();
    return 0;
}

static inline int device_closes(void **state)
{
    (void)state;
    backend->close(backend);
    return 0;
}

/* Returns from main how many tests failed. Where there is no GPU, it says so. */
#define RUN_ON_EACH_DEVICE(tests, setup, teardown)                                                 \
    do {                                                                                           \
        int failed = 0;                                                                            \
        const int gpus = cuda_module()->devices();                                                 \
        for (gpu_under_test = -1; gpu_under_test < gpus; gpu_under_test++)                         \
            failed += cmocka_run_group_tests_name(gpu_under_test < 0 ? "cpu" : "cuda", tests,      \
                                                  setup, teardown);                                \
        if (gpus == 0)                                                                             \
            print_message("[  SKIPPED ] the same on a GPU: there is none here\n");                 \
        return failed;                                                                             \
    } while (0)

#endif
