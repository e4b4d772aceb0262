/* The device that a node computes on: `device = auto | cpu | cuda:N | cuda:UUID`.
 *
 *   device_open ──► backend_cpu | backend_cuda
 *
 * Held by tests/unit/model/test_device.c and tests/process/test_gpu.sh.
 */
#ifndef HEARSAY_MODEL_BACKEND_DEVICE_H
#define HEARSAY_MODEL_BACKEND_DEVICE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/backend.h"
#include "base/error.h"

#define DEVICE_NAME_MAX  64 /* bytes of the word, with its end */
#define DEVICE_TEXT_MAX  192
#define DEVICE_UUID_TEXT 41 /* "GPU-" and 32 digits in five groups, with its end */

/* How products of matrices are computed on a GPU: in float32 throughout, or with operands rounded
 * to the 19 bits of TF32 or the 16 of bfloat16, which tensor cores multiply faster. Sums, weights
 * and everything else are float32 in any case. */
enum precision { PRECISION_FP32, PRECISION_TF32, PRECISION_BF16 };

struct gpu {
    char name[128];              /* as the driver says */
    char uuid[DEVICE_UUID_TEXT]; /* "GPU-…" */
    int major;                   /* of the compute capability */
    int minor;                   /* of the compute capability */
    size_t bytes;                /* of its memory */
};

#define DEVICE_WORDS "auto, cpu, cuda:N or cuda:GPU-… (its UUID)"

/* Whether the word has one of these forms. */
bool device_is_word(const char *word);

/* auto: the first GPU, else the CPU. threads: of the CPU. The beginning of a UUID is enough. text
 * describes the device; the problem says why it cannot be used. */
enum error device_open(const char *word, int threads, enum precision precision,
                       struct backend **backend, char text[DEVICE_TEXT_MAX],
                       struct problem *problem) MUST_USE;

/* Prints what the program was built with, then a line for each GPU. */
void device_list(FILE *out);

#endif
