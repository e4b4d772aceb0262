/* Location of the weights: one vector, or parts that a program has allocated one by one.
 *
 *   entry      0 ........ 5 6 ....... 905 906 ...
 *   flat       [                             ]      memory of a backend
 *   parts      [ part[0] ] [  part[1]  ] [ …        memory of the program's, on the same device
 *
 * The exchange (backend/backend.h) works on either, and an entry comes out the same, bit for bit.
 * Held on each device by tests/unit/model/test_weights.c.
 */
#ifndef HEARSAY_BASE_WEIGHTS_H
#define HEARSAY_BASE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/half.h"
#include "base/on_device.h"

struct weights_part {
    float *at;    /* first number of the part */
    size_t first; /* index of the part's first entry in the model */
    size_t count; /* >= 1 */
};

struct weights {
    float *flat;                      /* all of them; or NULL, and */
    const struct weights_part *part;  /* [parts], lent: entry after entry, from 0 on */
    const struct weights_part *table; /* [parts] the same list, in memory of the backend */
    uint32_t parts;
    bool are_companded; /* base stores compressed values (companding.h) */
};

/* A tensor of a program that follows weights: the same numbers, or rounded to sixteen bits. */
struct weights_copy {
    void *at;     /* of its first entry; float or uint16_t */
    size_t first; /* that entry */
    size_t count; /* >= 1 */
    enum half_type type;
    bool is_rounded; /* to type; else float */
};

/* Brings a weight up to date with entry i of its copy, and the other way. */
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

struct weights weights_flat(float *flat);
/* Returns the one vector of weights that are not in parts. */
float *weights_all(struct weights weights);
/* Returns the piece of entries first .. end-1 that starts at `first` and is contiguous in
 * memory. */
struct weights_part weights_part(struct weights weights, size_t first, size_t end);

#endif
