/* Vectors in memory of a backend that are float32 or bfloat16: activations, their gradients, and
 * the rounded weight matrices of a pass.
 *
 *   weights[P], float32 ──rounded once a pass──► matrices ─┐
 *   x ─────────────────────────────────────────────────────┴─► layers ─► y, in the same type
 *
 * backend.h says which arguments have which type. Weights, their gradients and moments are always
 * float32 and plain pointers.
 */
#ifndef HEARSAY_MODEL_BACKEND_NUMBERS_H
#define HEARSAY_MODEL_BACKEND_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#ifndef __cplusplus
#include "base/error.h"
#endif

enum number { FLOAT32, BFLOAT16 };

struct numbers {
    void *at; /* the numbers, in memory of the backend; NULL = not requested */
    enum number type;
};

static inline size_t number_bytes(enum number type)
{
    return type == BFLOAT16 ? sizeof(uint16_t) : sizeof(float);
}

static inline struct numbers floats(const float *at)
{
    struct numbers numbers = {NULL, FLOAT32};
    numbers.at = (void *)at;
    return numbers;
}

/* Returns the part of the vector that begins at index `first`. */
static inline struct numbers numbers_from(struct numbers numbers, size_t first)
{
    numbers.at = (char *)numbers.at + first * number_bytes(numbers.type);
    return numbers;
}

#ifndef __cplusplus
/* Returns the pointer for an operation that takes only float32. */
static inline float *floats_of(struct numbers numbers)
{
    CHECK(numbers.type == FLOAT32);
    return (float *)numbers.at;
}
#endif

#endif
