/* A caller's tensors, each in memory of its own, and possible errors. The trained values are their
 * data, or, for copies, other memory of the process:
 *
 *   fetch  trained ─► data     before the library looks
 *   store  trained ◄─ data     after it has written
 *
 * Between calls copies hold no numbers, so that who looks without having asked is found out. */
#ifndef HEARSAY_TESTS_PROCESS_RANDOM_CALLS_GIVEN_H
#define HEARSAY_TESTS_PROCESS_RANDOM_CALLS_GIVEN_H

#include <stdbool.h>

#include "backend/backend.h"
#include "base/rng.h"
#include "hearsay.h"

#define GIVEN_KINDS   5
#define GIVEN_NATIVE  4 /* the kind of them that has the tensors of the preset xor */
#define GIVEN_TENSORS 12

struct given {
    struct hearsay_tensor tensors[GIVEN_TENSORS];
    void *trained[GIVEN_TENSORS]; /* what training moves */
    size_t bytes[GIVEN_TENSORS];  /* of data, and of what is trained */
    uint32_t count;               /* of tensors */
    bool is_copied;               /* data is not what is trained */
    struct backend *gpu;          /* lent: data lies there; NULL: in the process's memory */
    struct hearsay *node;         /* whose they are; NULL: not known yet */
    bool is_inside;               /* fetch or store is being called */
    uint32_t fetches, stores;     /* calls of these */
};

/* Of this kind, with first weights that follow from the start; all are copies. */
void given_init(struct given *given, uint32_t kind, unsigned start);
/* The same names and shapes, of types that are drawn, and of no value. */
void given_vary(struct given *given, struct rng *rng);
/* From now on data is a copy, on this GPU or in the process's memory (NULL), of what is trained. */
void given_copy(struct given *given, struct backend *gpu);
/* The two functions of hearsay_options; self: struct given. */
void given_fetch(void *self);
void given_store(void *self);
/* After a call: copies hold no numbers. */
void given_spoil_copies(struct given *given);
/* Is all that is trained a number? */
bool given_is_sound(const struct given *given);
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
