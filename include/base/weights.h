/* Location of the weights in memory: one vector, or parts that a program has allocated separately.
 *
 *   entry      0 ........ 5 6 ....... 905 906 ...
 *   flat       [                             ]      memory of a backend
 *   parts      [ part[0] ] [  part[1]  ] [ …        memory of the program, on the same device
 *
 * The exchange (backend/backend.h) works on both and computes equal entries, bit for bit. Tests, on
 * each device: tests/unit/model/test_weights.c.
 */
#ifndef HEARSAY_BASE_WEIGHTS_H
#define HEARSAY_BASE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/half.h"
#include "base/on_device.h"

struct weights_part {
    float *at;    /* first weight of the part */
    size_t first; /* index of the part's first entry in the model */
    size_t count; /* >= 1 */
    /* running statistics, such as the means of a batch norm (exchange/statistics.h) */
    bool are_statistics;
};

struct weights {
    float *flat; /* one vector of all weights; NULL = the weights are in parts */
    const struct weights_part *part;  /* [parts] sorted by entry, without gaps; borrowed */
    const struct weights_part *table; /* [parts] copy of `part` in the backend's memory */
    uint32_t parts;
    bool are_companded; /* the base stores compressed values (companding.h) */
};

/* A tensor of a host program that is a copy of some weights, as float32 or rounded to 16 bits. */
struct weights_copy {
    void *at;     /* first number of the copy, a float or uint16_t */
    size_t first; /* index of the copy's first entry in the model */
    size_t count; /* >= 1 */
    enum half_type type;
    bool is_rounded; /* rounded to `type`; false = float32 */
};

/* Returns the weight for number i of the copy, which the program may have changed since the weight
 * was w. */
static inline ON_DEVICE float weights_copy_read(const struct weights_copy *copy, size_t i, float w)
{
    return copy->is_rounded ? half_follow(copy->type, ((const uint16_t *)copy->at)[i], w)
                            : ((const float *)copy->at)[i];
}

static inline ON_DEVICE void weights_copy_write(const struct weights_copy *copy, size_t i, float w)
{
    if (copy->is_rounded)
        ((uint16_t *)copy->at)[i] = half_to(copy->type, w);
    else
        ((float *)copy->at)[i] = w;
}

/* Pointers into the vectors that the exchange keeps for running statistics (exchange/statistics.h):
 * to the start of each vector, or to the numbers of one statistic. */
struct statistic {
    float *trained, *before, *reset, *w;
};

struct weights weights_flat(float *flat);
/* The weights must not be in parts. */
float *weights_all(struct weights weights);
/* Returns entries first .. end-1, but only as far as they are in the part that contains `first`. */
struct weights_part weights_part(struct weights weights, size_t first, size_t end);

#endif
