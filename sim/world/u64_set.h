/* A set of 64-bit marks with a number each: open addressing, grows, never forgets. */
#ifndef HEARSAY_MARKS_H
#define HEARSAY_MARKS_H

#include <stddef.h>
#include <stdint.h>

struct marks {
    uint64_t *key; /* [size], a power of two; 0: free */
    uint64_t *value;
    size_t size;
    size_t count;
};

/* A mark (not 0) of these bytes; two different ones share it with probability 2^-64. */
uint64_t marks_of(const void *bytes, size_t count);

/* NULL when it is not there. */
const uint64_t *marks_get(const struct marks *marks, uint64_t mark);

/* Its number, 0 if it is new; good until the next put. */
uint64_t *marks_put(struct marks *marks, uint64_t mark);

void marks_free(struct marks *marks);

#endif
