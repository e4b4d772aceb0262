/* A hash map from 64-bit keys to 64-bit values: open addressing, grows, never deletes. */
#ifndef HEARSAY_SIM_EVENTS_U64_SET_H
#define HEARSAY_SIM_EVENTS_U64_SET_H

#include <stddef.h>
#include <stdint.h>

struct u64_set {
    uint64_t *key;   /* [size] 0 = free slot */
    uint64_t *value; /* [size] value of each key */
    size_t size;     /* a power of two, or 0 */
    size_t count;
};

/* Returns a nonzero hash, for use as a key. Two inputs collide with probability of about 2^-64. */
uint64_t u64_set_of(const void *bytes, size_t count);

/* Returns NULL if the set does not have the key. */
const uint64_t *u64_set_get(const struct u64_set *set, uint64_t key);

/* Returns the value of a key, which is added with value 0 if it is new. The pointer is valid until
 * the next u64_set_put. */
uint64_t *u64_set_put(struct u64_set *set, uint64_t key);

void u64_set_free(struct u64_set *set);

#endif
