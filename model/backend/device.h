/* Finds and opens the devices that `device = WORD` names (DEVICE_WORDS).
 *
 *   device_open ──► backend_cpu | backend_cuda ◄── struct team ◄── device_open_team
 *
 * Tests: tests/unit/model/test_device.c and tests/process/test_gpu.sh.
 */
#ifndef HEARSAY_MODEL_BACKEND_DEVICE_H
#define HEARSAY_MODEL_BACKEND_DEVICE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/backend.h"
#include "backend/team.h"
#include "base/error.h"

#define DEVICE_UUID_TEXT 41 /* bytes of "GPU-", 32 digits in five groups, and the NUL */
/* Bytes of the word in `device = WORD`, with its NUL. */
#define DEVICE_NAME_MAX (8 + TEAM_MAX * DEVICE_UUID_TEXT)
#define DEVICE_TEXT_MAX 320

/* Precision of matrix products on a GPU: float32, or operands rounded to the 19 bits of TF32 or the
 * 16 bits of bfloat16, which tensor cores multiply faster. Sums and all other arithmetic are
 * float32 in any case. With bfloat16, convolutions use TF32, and sequence models store activations
 * as bfloat16. */
enum precision {
    PRECISION_FP32,
    PRECISION_TF32,
    PRECISION_BF16,
    PRECISION_AUTO /* only in a configuration: device_precision resolves it */
};

struct gpu {
    char name[128];
    char uuid[DEVICE_UUID_TEXT]; /* "GPU-…", as nvidia-smi shows it */
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

/* Returns true if the word has one of the forms in DEVICE_WORDS. */
bool device_is_word(const char *word);

bool device_is_gpu(const char *word);

/* Returns the number of devices that the word names; for cuda:all the number of GPUs, but at least
 * 1. */
int device_count(const char *word);

/* Returns the precision that `auto` means on these devices. From compute capability 8.0 on:
 * bfloat16 if is_wide (wide layers or sequences, where it is faster), otherwise TF32. Float32 on
 * the CPU, or if one of the GPUs is older or missing. Loads the CUDA module unless the word is
 * cpu. */
enum precision device_precision(const char *word, bool is_wide);
const char *device_precision_name(enum precision precision);

/* Returns true if no GPU was opened although there may be one: its driver is too old, or NVIDIA's
 * device file exists. text: from device_open or device_open_team. */
bool device_misses_gpu(const char *text);

/* Finds the first GPU that the word names. Returns false if it names none, or the GPU is
 * missing. */
bool device_gpu(const char *word, struct gpu *gpu);

/* Opens the devices that the word names. auto: the first GPU, otherwise the CPU. threads: for the
 * CPU only. The beginning of a UUID suffices. With several GPUs, *backend is the first and *team
 * has all; close the team before the backend. With one device *team is NULL. text describes the
 * devices. On an error, `problem` says the reason. */
enum error device_open_team(const char *word, int threads, enum precision precision,
                            struct backend **backend, struct team **team,
                            char text[DEVICE_TEXT_MAX], struct problem *problem) MUST_USE;

/* Opens one device, as device_open_team does. Returns an error if the word names several. */
enum error device_open(const char *word, int threads, enum precision precision,
                       struct backend **backend, char text[DEVICE_TEXT_MAX],
                       struct problem *problem) MUST_USE;

/* Prints a line for the CPU, a line for the CUDA module, and a line for each GPU. */
void device_list(FILE *out);

#endif
