/* A caller's tensors, each in memory of its own, and possible errors in them. The trained values
 * are the tensors' data, or, for copies, other memory of the process:
 *
 *   fetch  trained ─► data     before the library reads
 *   store  trained ◄─ data     after it has written
 *
 * Between calls copies contain NaNs, so that a read without a fetch is noticed. */
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
    size_t bytes[GIVEN_TENSORS];  /* bytes of each tensor's data */
    uint32_t count;               /* number of tensors */
    bool is_copied;               /* data is a copy of the trained values */
    /* Backend whose memory has the data, owned by the caller; NULL = memory of the process. */
    struct backend *gpu;
    struct hearsay *node;     /* node that has these tensors; NULL = none yet */
    bool is_inside;           /* fetch or store is running */
    uint32_t fetches, stores; /* number of calls of fetch and store */
};

/* Makes the tensors of this kind, with first weights that follow from `start`. Training changes
 * their data directly. */
void given_init(struct given *given, uint32_t kind, unsigned start);
/* Makes tensors with the same names and shapes, with random types and without values. */
void given_vary(struct given *given, struct rng *rng);
/* Makes data a copy of the trained values, on this GPU or in the process's memory (NULL). */
void given_copy(struct given *given, struct backend *gpu);
/* The functions for hearsay_options. self: struct given. */
void given_fetch(void *self);
void given_store(void *self);
/* Call it after each library call: fills copies with NaNs. */
void given_spoil_copies(struct given *given);
/* Returns true if all trained values are finite. */
bool given_is_sound(const struct given *given);
/* Frees the names, which the library does not need after the call, or (given_free) everything,
 * after close. */
void given_free_names(struct given *given);
void given_free(struct given *given);
size_t given_parameters(const struct given *given);

/* Changes a few values, as training does. */
void given_train(struct given *given, struct rng *rng);
/* Makes one value NaN, infinite or too large. */
void given_poison(struct given *given, struct rng *rng);

/* Makes a copy of the list of tensors with one error. Sets *tensors and *count to the arguments for
 * the library. Returns the expected error. */
int given_spoil(const struct given *given, struct rng *rng,
                struct hearsay_tensor spoiled[GIVEN_TENSORS], const struct hearsay_tensor **tensors,
                uint32_t *count);

#endif
