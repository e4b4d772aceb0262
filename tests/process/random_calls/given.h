/* A caller's tensors, each in its own memory, and possible errors in them. Training changes the
 * tensors' data directly, or, for copies, other memory of the process:
 *
 *   fetch: trained ─► data, before the library reads
 *   store: trained ◄─ data, after the library has written
 *
 * Between calls, copies contain NaNs, so that the test notices a read without a fetch.
 */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_GIVEN_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_GIVEN_H

#include <stdbool.h>

#include "backend/backend.h"
#include "base/rng.h"
#include "hearsay.h"

#define GIVEN_KINDS   5
#define GIVEN_NATIVE  4 /* kind with the tensors of the preset xor */
#define GIVEN_TENSORS 12

struct given {
    struct hearsay_tensor tensors[GIVEN_TENSORS];
    void *trained[GIVEN_TENSORS]; /* memory of the values that training changes */
    size_t bytes[GIVEN_TENSORS];
    uint32_t count;
    bool is_copied; /* data is a copy of the trained values */
    /* Backend whose memory has the data, owned by the caller; NULL = memory of the process. */
    struct backend *gpu;
    struct hearsay *node; /* node that has these tensors; NULL = none yet */
    bool is_inside;       /* fetch or store is running */
    uint32_t fetches, stores;
};

/* Makes the tensors of this kind. `start` determines their first weights. Training changes their
 * data directly. */
void given_init(struct given *given, uint32_t kind, unsigned start);
/* Makes tensors with the same names and shapes, with random types and without values. */
void given_vary(struct given *given, struct rng *rng);
/* Makes each tensor's data a copy, in memory of `gpu` or, if it is NULL, of the process. A copy has
 * no values until a fetch. */
void given_copy(struct given *given, struct backend *gpu);
/* Functions for hearsay_options. self: a struct given. */
void given_fetch(void *self);
void given_store(void *self);
/* Fills copies with NaNs. Call it after each library call. */
void given_spoil_copies(struct given *given);
bool given_is_sound(const struct given *given);
/* given_free_names frees the names, which the library does not need after the call. given_free
 * frees everything. */
void given_free_names(struct given *given);
void given_free(struct given *given);
size_t given_parameters(const struct given *given);

/* Changes a few values, as training does. */
void given_train(struct given *given, struct rng *rng);
/* Makes one value NaN, infinite or too large. */
void given_poison(struct given *given, struct rng *rng);

/* Makes a copy of the list of tensors with one error. Sets *tensors and *count to the library's
 * arguments. Returns the error that the library must return. */
int given_spoil(const struct given *given, struct rng *rng,
                struct hearsay_tensor spoiled[GIVEN_TENSORS], const struct hearsay_tensor **tensors,
                uint32_t *count);

#endif
