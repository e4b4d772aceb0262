/* A backend whose operations take arrays in main memory, so that one test runs on every device. It
 * copies inputs to the device before an operation and results back afterwards. alloc still returns
 * device memory. */
#ifndef HEARSAY_TESTS_SUPPORT_MODEL_HOST_BACKEND_H
#define HEARSAY_TESTS_SUPPORT_MODEL_HOST_BACKEND_H

#include <stdlib.h>
#include <string.h>

#include "support/model/each_device.h"

#define CARRIED_MAX 8

/* An array that was copied to the device for an operation. */
struct carried {
    void *host;
    char *device;
    size_t bytes;
    size_t past; /* offset of the array from the start of its device memory, in bytes */
    enum number type;
};

extern struct backend *device_of_tests; /* the device behind host_backend() */
extern enum number numbers_under_test;  /* type of activations on the device, initially FLOAT32 */

/* Return the array's address on the device. Copy the array there first, unless an earlier call for
 * this operation did. carry_past places it `past` bytes after the start of an allocation, carry at
 * the start. */
void *carry_past(const void *host, size_t bytes, size_t past);
void *carry(const void *host, size_t bytes);
/* Copies all carried arrays back to main memory, and frees their device memory. Arrays that the
 * operation did not write are unchanged. */
void carry_back(void);

/* Copies numbers, which are float32 in main memory, to the device, and converts them to the type
 * under test. */
struct numbers carry_numbers(struct numbers host, size_t count, size_t past);

#define NUMBERS(numbers, count)        carry_numbers(numbers, count, 0)
#define WEIGHT_NUMBERS(numbers, count) carry_numbers(numbers, count, sizeof(float))

#define FLOATS(pointer, count) carry(pointer, (count) * sizeof(float))

/* Places weights at an unaligned address: a layer's weights begin directly after the previous
 * layer's biases. */
#define WEIGHTS(pointer, count) carry_past(pointer, (count) * sizeof(float), sizeof(float))

/* Operations on copied arrays; definitions in host_transformer.c, host_channel_norm.c and
 * host_gather.c. */
extern const struct element_operations host_elements;
extern const struct sequence_operations host_sequence;
extern const struct attention_operations host_attention;
extern const struct channel_operations host_channels;
extern const struct gather_operations host_gather;

/* Returns the backend for tests: a CPU backend itself, any other backend with copied arrays. */
struct backend *host_backend(struct backend *device);
int host_backend_opens(void **state);
int host_backend_closes(void **state);

/* Opens the GPU under test with activations in bfloat16. */
int host_backend_opens_in_bf16(void **state);
/* Rounds to the nearest number of the type under test. */
float number_rounded(float value);
/* Runs the tests in float32 on every device, and again with activations in bfloat16 on every GPU.
 */
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
