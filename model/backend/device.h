/* The computing devices of a node: `device = auto | cpu | cuda:N | cuda:UUID | cuda:N,N,…`.
 *
 *   device_open ──► backend_cpu | backend_cuda ◄── struct team ◄── device_open_team
 *
 * Held by tests/unit/model/test_device.c and tests/process/test_gpu.sh.
 */
#ifndef HEARSAY_MODEL_BACKEND_DEVICE_H
#define HEARSAY_MODEL_BACKEND_DEVICE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/backend.h"
#include "backend/team.h"
#include "base/error.h"

#define DEVICE_UUID_TEXT 41 /* "GPU-", 32 digits in five groups, and the terminating NUL */
#define DEVICE_NAME_MAX  (8 + TEAM_MAX * DEVICE_UUID_TEXT) /* bytes of the text with its NUL */
#define DEVICE_TEXT_MAX  320

/* Precision of matrix products on a GPU: float32 throughout, or operands rounded to the 19 bits of
 * TF32 or the 16 of bfloat16, which tensor cores multiply faster. Sums and everything else are
 * float32 in any case. */
enum precision {
    PRECISION_FP32,
    PRECISION_TF32,
    PRECISION_BF16,
    PRECISION_AUTO /* only in a configuration: device_precision resolves it */
};

struct gpu {
    char name[128];              /* the driver's name for the GPU */
    char uuid[DEVICE_UUID_TEXT]; /* "GPU-…" */
    int major;                   /* major version of the compute capability */
    int minor;                   /* minor version of the compute capability */
    size_t bytes;                /* bytes of device memory */
    /* Peak operations per second of matrix products in each precision, at the highest clock; 0 =
     * unknown. */
    double flops[PRECISION_AUTO];
};

#define DEVICE_WORDS                                                                               \
    "auto, cpu, cuda:N, cuda:GPU-… (its UUID), several GPUs as in cuda:0,1 (up to 16), or "      \
    "cuda:all"
_Static_assert(TEAM_MAX == 16, "as the words say");

/* Returns whether the word has one of these forms. */
bool device_is_word(const char *word);

/* Returns whether the word names GPUs. */
bool device_is_gpu(const char *word);

/* Returns the number of devices that the word means; for cuda:all the number of GPUs, but 1 if
 * there are none. */
int device_count(const char *word);

/* Returns the precision for `auto`. From compute capability 8.0 on: bfloat16 where it is faster
 * (wide layers, sequences), otherwise TF32. Float32 on older GPUs and on the CPU. Of several GPUs,
 * the oldest decides. Loads the CUDA module unless the word is cpu. */
enum precision device_precision(const char *word, bool is_wide);
const char *device_precision_name(enum precision precision);

/* Returns whether this text of an opened CPU shows that there may be a GPU that cannot be used: its
 * driver is too old, or NVIDIA's device file exists. */
bool device_misses_gpu(const char *text);

/* Finds the first GPU that the word means. Returns false if it means none, or the GPU is
 * missing. */
bool device_gpu(const char *word, struct gpu *gpu);

/* Opens the devices. auto: the first GPU, otherwise the CPU. threads: number for the CPU. The
 * beginning of a UUID is enough. With several GPUs the first is the backend, and the team has all;
 * close the team before the backend. With one device the team is NULL. text describes the devices;
 * on an error the problem has the reason. */
enum error device_open_team(const char *word, int threads, enum precision precision,
                            struct backend **backend, struct team **team,
                            char text[DEVICE_TEXT_MAX], struct problem *problem) MUST_USE;

/* Does the same for a caller that can use only one device. */
enum error device_open(const char *word, int threads, enum precision precision,
                       struct backend **backend, char text[DEVICE_TEXT_MAX],
                       struct problem *problem) MUST_USE;

/* Prints the libraries with which the program was built, then a line for each GPU. */
void device_list(FILE *out);

#endif
