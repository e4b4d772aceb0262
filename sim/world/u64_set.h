/* A hash map from 64-bit keys to 64-bit values: open addressing, grows, never deletes. */
#ifndef HEARSAY_SIM_WORLD_U64_SET_H
#define HEARSAY_SIM_WORLD_U64_SET_H

#include <stddef.h>
#include <stdint.h>

struct u64_set {
    uint64_t *key;   /* [size]; 0: free */
    uint64_t *value; /* [size] */
    size_t size;     /* places, a power of two */
    size_t count;    /* keys */
};

/* The key (not 0) of these bytes, a hash; two different texts collide with probability 2^-64. */
uint64_t u64_set_of(const void *bytes, size_t count);

/* The value of a key, NULL: there is none. */
const uint64_t *u64_set_get(const struct u64_set *set, uint64_t key);

/* The value of a key, 0 if it is new; the pointer is good until the next put. */
uint64_t *u64_set_put(struct u64_set *set, uint64_t key);

void u64_set_free(struct u64_set *set);

#endif
