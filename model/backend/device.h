/* The devices that a node computes on: `device = auto | cpu | cuda:N | cuda:UUID | cuda:N,N,…`.
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
#define DEVICE_NAME_MAX  (8 + TEAM_MAX * DEVICE_UUID_TEXT) /* bytes of the word, with its end */
#define DEVICE_TEXT_MAX  320

/* How products of matrices are computed on a GPU: in float32 throughout, or with operands rounded
 * to the 19 bits of TF32 or the 16 of bfloat16, which tensor cores multiply faster. Sums, weights
 * and everything else are float32 in any case. */
enum precision {
    PRECISION_FP32,
    PRECISION_TF32,
    PRECISION_BF16,
    PRECISION_AUTO /* of a configuration; no backend has it: device_precision */
};

struct gpu {
    char name[128];               /* as the driver says */
    char uuid[DEVICE_UUID_TEXT];  /* "GPU-…" */
    int major;                    /* of the compute capability */
    int minor;                    /* of the compute capability */
    size_t bytes;                 /* of its memory */
    double flops[PRECISION_AUTO]; /* per second, of matrix products in each precision at the highest
                                     clock; 0 = unknown */
};

#define DEVICE_WORDS                                                                               \
    "auto, cpu, cuda:N, cuda:GPU-… (its UUID), several GPUs as in cuda:0,1 (up to 16), or "      \
    "cuda:all"
_Static_assert(TEAM_MAX == 16, "as the words say");

/* Whether the word has one of these forms. */
bool device_is_word(const char *word);

/* Whether the word names GPUs. */
bool device_is_gpu(const char *word);

/* How many devices the word means; of cuda:all, what there is, and 1 where that is nothing. */
int device_count(const char *word);

/* The precision for `auto`. From compute capability 8.0 on: bfloat16 where it gains (wide layers,
 * sequences), else TF32. Float32 on older GPUs and on the CPU. Of several GPUs, the oldest decides.
 * Loads the CUDA module unless the word is cpu. */
enum precision device_precision(const char *word, bool is_wide);
const char *device_precision_name(enum precision precision);

/* Whether this text of an opened CPU says that a GPU may be here which cannot be used: its driver
 * is too old, or there is a device file of NVIDIA's. */
bool device_misses_gpu(const char *text);

/* The first GPU that the word means. False: none, or it is not there. */
bool device_gpu(const char *word, struct gpu *gpu);

/* auto: the first GPU, else the CPU. threads: of the CPU. The beginning of a UUID is enough. Of
 * several the first is the backend, and the team, which is to be closed before it, has all; of one
 * the team is NULL. text describes them; the problem says why they cannot be used. */
enum error device_open_team(const char *word, int threads, enum precision precision,
                            struct backend **backend, struct team **team,
                            char text[DEVICE_TEXT_MAX], struct problem *problem) MUST_USE;

/* The same for a caller that can use only one device. */
enum error device_open(const char *word, int threads, enum precision precision,
                       struct backend **backend, char text[DEVICE_TEXT_MAX],
                       struct problem *problem) MUST_USE;

/* Prints what the program was built with, then a line for each GPU. */
void device_list(FILE *out);

#endif
