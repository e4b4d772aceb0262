/* Accepts every signature. A fuzzer, which cannot sign, reaches the code behind the check. */
#ifndef HEARSAY_TESTS_FUZZ_BELIEVE_H
#define HEARSAY_TESTS_FUZZ_BELIEVE_H

#include "crypto/secret.h"

static inline bool believe_held(void *self, const uint8_t mark[static SECRET_MARK_BYTES])
{
    (void)self;
    (void)mark;
    return true;
}

static inline void believe_made(void *self, const uint8_t mark[static SECRET_MARK_BYTES])
{
    (void)self;
    (void)mark;
}

static inline void believe_sealed(void *self, const uint8_t key[static KEY_BYTES], uint64_t counter)
{
    (void)self;
    (void)key;
    (void)counter;
}

static inline void believe_signatures(void)
{
    static const struct secret_watch watch = {
        .on_seal = believe_sealed, .has_held = believe_held, .held = believe_made};
    secret_watch(&watch);
}

#endif
