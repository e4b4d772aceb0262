/* Runs a group of tests on the CPU, and again on every GPU of the machine. */
#ifndef HEARSAY_TESTS_SUPPORT_MODEL_EACH_DEVICE_H
#define HEARSAY_TESTS_SUPPORT_MODEL_EACH_DEVICE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "backend/backend.h"
#include "backend/cuda/cuda_module.h"

extern int gpu_under_test; /* number of the GPU under test; -1 = the CPU */

struct backend *open_device_in(enum precision precision);
struct backend *open_device(void);

/* Backend on the device under test, in float32. device_opens opens it and device_closes closes it.
 */
extern struct backend *backend;

int device_opens(void **state);
int device_closes(void **state);

/* Runs the tests on each device. Makes main return the number of failed tests. Prints a note if
 * there is no GPU. */
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
