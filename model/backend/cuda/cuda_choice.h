/* Choices among the algorithms that a library has for an operation. Each choice is made once in a
 * process, by measuring.
 *
 *   convolutions (cuDNN) ────┐
 *                            ├──► cuda_choice ──► an earlier choice, otherwise choose()
 *   products (cuBLASLt) ─────┘
 *
 * A library lists its algorithms in the order of their expected speed, which can be far from their
 * real speed. So they are timed. Of the algorithms within 1/20 of the fastest, the first one in the
 * list is chosen, so that small differences in time rarely change the choice. All backends of a
 * process share the choices, and so compute the same bits. Another process may choose differently
 * if a time is close to that limit. Tests: tests/unit/model/test_products.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHOICE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHOICE_H

#include "backend/cuda/cuda.h"

#define TRIALS 3 /* timed runs per algorithm, after an untimed run; the shortest time counts */
/* An algorithm that takes at most this many times the shortest time counts as equally fast. */
#define AS_FAST 1.05f

/* Largest sizes of a key and of a choice, in bytes. */
#define CHOICE_KEY_BYTES 96
#define CHOICE_BYTES     96

/* An operation whose algorithm is to be chosen. */
struct chooser {
    const void *key; /* [key_bytes] device, precision, shape; no padding: bytes are compared */
    size_t key_bytes;
    size_t choice_bytes;
    /* Makes the choice and writes it. Measures only if `measures`; otherwise the library's first
     * algorithm is the choice. */
    void (*choose)(void *context, bool measures, void *choice);
    void *context;
};

/* Writes the choice for the key. If there is none yet, makes it while other threads wait. Once the
 * process has CHOICES_MAX choices, further choices are made without measuring. */
void cuda_choice(const struct chooser *chooser, void *choice);

/* Returns the index of the first of ms[count] that is at most AS_FAST times the shortest time; 0 if
 * no algorithm was measured. INFINITY: not measured. */
int cuda_first_fast(const float *ms, int count);

/* Returns device memory for measuring, or NULL if there is too little. Free it with cuda_free. */
void *cuda_alloc_spare(struct cuda *cuda, size_t bytes);

#endif
