/* Choices among a library's algorithms, each made once in a process by measuring.
 *
 *   convolutions (cuDNN) ────┐
 *                            ├──► cuda_choice ──► the choice; without one yet, choose()
 *   products (cuBLASLt) ─────┘
 *
 * A library lists its algorithms in the order of their expected speed, and that order can be far
 * from the truth. So each is timed, and among those within 1/20 of the fastest the first one listed
 * is chosen, so that ties do not change the choice. All backends of a process share the choices and
 * compute the same bits. Another process may choose otherwise if a time falls on the other side of
 * that limit. Held by tests/unit/model/test_products.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHOICE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHOICE_H

#include "backend/cuda/cuda.h"

#define TRIALS  3     /* timed runs per algorithm, after an untimed one; the shortest counts */
#define AS_FAST 1.05f /* factor on the shortest time up to which differences are chance */

/* Sizes in bytes of the largest key and choice. */
#define CHOICE_KEY_BYTES 96
#define CHOICE_BYTES     96

/* An operation whose algorithm is to be chosen. */
struct chooser {
    const void *key; /* [key_bytes] device, precision, shape; compared as bytes, so no padding */
    size_t key_bytes;
    size_t choice_bytes;
    /* Writes the choice: the library's first algorithm unless it may measure. */
    void (*choose)(void *context, bool measures, void *choice);
    void *context;
};

/* Writes the choice for the key, and chooses now if there is none. No other thread chooses
 * meanwhile. Once the process has CHOICES_MAX choices, further ones are made without measuring. */
void cuda_choice(const struct chooser *chooser, void *choice);

/* Returns the index of the first of ms[count] that is within AS_FAST of the shortest; 0 if none was
 * measured. INFINITY: not measured. */
int cuda_first_fast(const float *ms, int count);

/* Returns memory of the device for measuring, or NULL if there is too little; cuda_free frees it.
 */
void *cuda_alloc_spare(struct cuda *cuda, size_t bytes);

#endif
