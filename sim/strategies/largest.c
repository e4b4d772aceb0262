#include "strategies/largest.h"

#include <math.h>

#include "base/error.h"
#include "base/float_bits.h"

/* Returns the key at index `at` in descending order (Hoare's FIND). Reorders keys[count]. */
static uint64_t select_key(uint64_t *keys, int64_t count, int64_t at)
{
    int64_t from = 0, to = count - 1;
    while (from < to) {
        const uint64_t pivot = keys[at];
        int64_t i = from, j = to;
        while (i <= j) {
            while (keys[i] > pivot)
                i++;
            while (keys[j] < pivot)
                j--;
            if (i <= j) {
                const uint64_t key = keys[i];
                keys[i++] = keys[j];
                keys[j--] = key;
            }
        }
        from = j < at ? i : from;
        to = at < i ? j : to;
    }
    return keys[at];
}

/* Returns a unique key that grows with the value's magnitude. Of equal magnitudes, the one with the
 * lower index `place` has the larger key. */
static uint64_t key_of(float value, size_t place)
{
    return (uint64_t)bits_of_float(fabsf(value)) << 32 | (UINT32_MAX - place);
}

void largest_keep(float *values, size_t count, size_t kept, uint64_t *keys)
{
    CHECK(kept > 0 && kept <= count && count < UINT32_MAX);
    for (size_t c = 0; c < count; c++)
        keys[c] = key_of(values[c], c);
    const uint64_t least = select_key(keys, (int64_t)count, (int64_t)kept - 1);
    for (size_t c = 0; c < count; c++)
        if (key_of(values[c], c) < least)
            values[c] = 0;
}
