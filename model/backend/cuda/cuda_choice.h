/* Choices among a library's algorithms, each made once in a process by measuring.
 *
 *   convolutions (cuDNN) ────┐
 *                            ├──► cuda_choice ──► the choice; where there is none yet, choose()
 *   products (cuBLASLt) ─────┘
 *
 * A library lists its algorithms in the order of their expected speed, and that order can be far
 * off. So each is timed, and among those within a twentieth of the fastest the first one listed is
 * taken: a tie changes nothing. All backends of a process share the choices and compute the same
 * bits. Another process may choose otherwise where a time falls on the other side of that
 * twentieth. Held by tests/unit/model/test_products.c.
 */
#ifndef HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHOICE_H
#define HEARSAY_MODEL_BACKEND_CUDA_CUDA_CHOICE_H

#include "backend/cuda/cuda.h"

#define TRIALS  3     /* of each algorithm, after one that is not timed; the shortest counts */
#define AS_FAST 1.05f /* times the shortest time: differences up to here are chance */

/* The largest key and choice, in bytes. */
#define CHOICE_KEY_BYTES 96
#define CHOICE_BYTES     96

/* An operation whose algorithm is chosen. */
struct chooser {
    const void *key; /* [key_bytes] device, precision, shape; compared as bytes, so no padding */
    size_t key_bytes;
    size_t choice_bytes;
    /* Writes the choice. If it may not measure, it takes the library's first. */
    void (*choose)(void *context, bool measures, void *choice);
    void *context;
};

/* Writes what was chosen for the key, and chooses now if nothing was. No other thread chooses
 * meanwhile. Once the process holds CHOICES_MAX choices, further ones are made without measuring.
 */
void cuda_choice(const struct chooser *chooser, void *choice);

/* Returns the first of ms[count] that is within AS_FAST of the shortest; 0 where nothing was
 * measured. INFINITY: not measured. */
int cuda_first_fast(const float *ms, int count);

/* Returns memory of the device for measuring, or NULL if there is too little; cuda_give frees it.
 */
void *cuda_take_spare(struct cuda *cuda, size_t bytes);

#endif
