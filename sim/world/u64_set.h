/* A hash map from 64-bit keys to 64-bit values: open addressing, grows, never deletes. */
#ifndef HEARSAY_SIM_WORLD_U64_SET_H
#define HEARSAY_SIM_WORLD_U64_SET_H

#include <stddef.h>
#include <stdint.h>

struct u64_set {
    uint64_t *key;   /* [size] keys; 0 = free slot */
    uint64_t *value; /* [size] value of each key */
    size_t size;     /* number of slots, a power of two */
    size_t count;    /* number of keys */
};

/* Returns a nonzero hash of the bytes, for use as a key. Two different inputs collide with
 * probability 2^-64. */
uint64_t u64_set_of(const void *bytes, size_t count);

/* Returns the value of a key, or NULL. */
const uint64_t *u64_set_get(const struct u64_set *set, uint64_t key);

/* Returns the value of a key. A new key is added with value 0. The pointer is valid until the next
 * u64_set_put. */
uint64_t *u64_set_put(struct u64_set *set, uint64_t key);

void u64_set_free(struct u64_set *set);

#endif
