/* Any backend, whose operations take memory of the host: around each, what it reads is carried over
 * and what it writes is carried back. So one test, written over plain arrays, runs on every device.
 * What is taken is memory of the device, as ever.
 */
#ifndef HEARSAY_TESTS_SUPPORT_MODEL_HOST_BACKEND_H
#define HEARSAY_TESTS_SUPPORT_MODEL_HOST_BACKEND_H

#include <stdlib.h>
#include <string.h>

#include "support/model/each_device.h"

#define CARRIED_MAX 8

/* One array of an operation. */
struct carried {
    void *host;
    char *device;
    size_t bytes;
    size_t past; /* where its memory begins, the device's by so much before */
    enum number type;
};

extern struct backend *device_of_tests; /* behind host_backend() */
extern enum number numbers_under_test;  /* what activations are on a device; FLOAT32 at first */

/* So many bytes past where memory is taken. */
void *carry_past(const void *host, size_t bytes, size_t past);
void *carry(const void *host, size_t bytes);
/* Everything comes back, as it is now: what was only read comes back as it went. */
void carry_back(void);

/* The same of tagged numbers, which are float32 in the host's memory and become those of the type
 * under test. */
struct numbers carry_numbers(struct numbers host, size_t count, size_t past);

#define NUMBERS(numbers, count)        carry_numbers(numbers, count, 0)
#define WEIGHT_NUMBERS(numbers, count) carry_numbers(numbers, count, sizeof(float))

#define FLOATS(pointer, count) carry(pointer, (count) * sizeof(float))

/* A layer's weights and biases begin where those of the layer before end: anywhere. */
#define WEIGHTS(pointer, count) carry_past(pointer, (count) * sizeof(float), sizeof(float))

/* host_transformer.c: sets the operations of sequence models. */
void host_transformer(struct backend *table);
/* host_channel_norm.c: sets those of images normalised by channels. */
void host_channel_norm(struct backend *table);

/* host_gather.c: sets those that make a batch of a data set. */
void host_gather(struct backend *table);

/* The backend to test with: the CPU as it is, any other through the above. */
struct backend *host_backend(struct backend *device);
int host_backend_opens(void **state);
int host_backend_closes(void **state);

/* The same with activations in bfloat16, where a device has them: the CPU's stay float32. */
int host_backend_opens_in_bf16(void **state);
/* The nearest number of the type under test. */
float number_rounded(float value);
/* The tests again with activations in bfloat16 on every device. */
#define RUN_IN_BOTH_TYPES(tests)                                                                   \
    do {                                                                                           \
        int failed = 0;                                                                            \
        const int gpus = cuda_module()->devices();                                                 \
        for (gpu_under_test = -1; gpu_under_test < gpus; gpu_under_test++)                         \
            failed += cmocka_run_group_tests_name(gpu_under_test < 0 ? "cpu" : "cuda", tests,      \
                                                  host_backend_opens, host_backend_closes);        \
        for (gpu_under_test = 0; gpu_under_test < gpus; gpu_under_test++)                          \
            failed += cmocka_run_group_tests_name(                                                 \
                "cuda in bfloat16", tests, host_backend_opens_in_bf16, host_backend_closes);       \
        return failed;                                                                             \
    } while (0)

#endif
