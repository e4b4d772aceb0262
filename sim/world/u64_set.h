/* A set of 64-bit marks with a number each: open addressing, grows, never forgets. */
#ifndef HEARSAY_SIM_WORLD_U64_SET_H
#define HEARSAY_SIM_WORLD_U64_SET_H

#include <stddef.h>
#include <stdint.h>

struct u64_set {
    uint64_t *key; /* [size], a power of two; 0: free */
    uint64_t *value;
    size_t size;
    size_t count;
};

/* A mark (not 0) of these bytes; two different ones share it with probability 2^-64. */
uint64_t u64_set_of(const void *bytes, size_t count);

/* NULL when it is not there. */
const uint64_t *u64_set_get(const struct u64_set *u64_set, uint64_t mark);

/* Its number, 0 if it is new; good until the next put. */
uint64_t *u64_set_put(struct u64_set *u64_set, uint64_t mark);

void u64_set_free(struct u64_set *u64_set);

#endif
