/* Where weights lie: in one vector, or in parts that a program has allocated each for itself.
 *
 *   entry      0 ........ 5 6 ....... 905 906 ...
 *   flat       [                             ]      memory of a backend
 *   parts      [ part[0] ] [  part[1]  ] [ …        memory of the program's, on the CPU
 *
 * The exchange (backend/backend.h) works on either, and an entry comes out the same, bit for bit.
 * Held by tests/unit/model/test_weights.c.
 */
#ifndef HEARSAY_BASE_WEIGHTS_H
#define HEARSAY_BASE_WEIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weights_part {
    float *at;    /* of its first entry */
    size_t first; /* that entry */
    size_t count; /* >= 1 */
};

struct weights {
    float *flat;                     /* all of them; or NULL, and */
    const struct weights_part *part; /* [parts], lent: entry after entry, from 0 on */
    uint32_t parts;
    bool are_companded; /* in the base: companding.h */
};

struct weights weights_flat(float *flat);
/* The vector that they are. */
float *weights_all(struct weights weights);
/* Of entries first .. end-1, those from `first` on that lie in one place. */
struct weights_part weights_part(struct weights weights, size_t first, size_t end);

#endif
