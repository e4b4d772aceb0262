/* Tensors as a caller has them, each in memory of its own, and ways in which they are wrong. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_GIVEN_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_GIVEN_H

#include "base/rng.h"
#include "hearsay.h"

#define GIVEN_KINDS   5
#define GIVEN_NATIVE  4 /* the kind of them that has the tensors of the preset xor */
#define GIVEN_TENSORS 12

struct given {
    struct hearsay_tensor tensors[GIVEN_TENSORS];
    size_t bytes[GIVEN_TENSORS]; /* of data */
    uint32_t count;              /* of tensors */
};

/* Of this kind, with first weights that follow from the start; all are copies. */
void given_init(struct given *given, uint32_t kind, unsigned start);
/* The same names and shapes, of types that are drawn, and of no value. */
void given_vary(struct given *given, struct rng *rng);
/* The caller's names may go after a call, and the data after close. */
void given_free_names(struct given *given);
void given_free(struct given *given);
size_t given_parameters(const struct given *given);

/* Moves a few numbers as training does. */
void given_train(struct given *given, struct rng *rng);
/* A number becomes none, or too large. */
void given_poison(struct given *given, struct rng *rng);

/* A copy of the list in which one thing is wrong; *tensors and *count are what is to be given.
 * Returns the error that it is. */
int given_spoil(const struct given *given, struct rng *rng,
                struct hearsay_tensor spoiled[GIVEN_TENSORS], const struct hearsay_tensor **tensors,
                uint32_t *count);

#endif
