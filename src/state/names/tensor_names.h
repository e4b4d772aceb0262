/* Names and layouts of a model's tensors in a file: our own, or those of another library.
 *
 *   model ─┬─► ours: "0.embed.weight", as they lie in the flat vector
 *          └─► a family's (name_family.h): "transformer.wte.weight", cut and turned as it has them
 *
 * Held by tests/unit/state/test_tensor_names.c and tests/process/against_transformers.py.
 */
#ifndef HEARSAY_STATE_NAMES_TENSOR_NAMES_H
#define HEARSAY_STATE_NAMES_TENSOR_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "layers/model.h"

#define NAMED_TENSOR_BYTES 96

/* One tensor of a file: some rows of one of the model's, or all of them. */
struct named_tensor {
    char name[NAMED_TENSOR_BYTES];
    size_t dims[4];     /* as the file has them */
    int rank;           /* sides of dims */
    size_t offset;      /* in floats: of its first number in the flat vector */
    bool is_transposed; /* it holds [in, out], and the model [out, in] */
};

/* Differences between files of one family. */
struct name_style {
    const char *prefix;       /* that names may lack, or "" */
    const char *alias[2][2];  /* parts of names, and what some write instead; NULL: no more */
    const char *const *spare; /* names that need not be read end so; NULL behind the last */
};

struct tensor_names {
    const struct name_style *style; /* NULL: ours */
    struct named_tensor *tensor;    /* [count] */
    int count;
};

/* Our own names, of any model. */
void tensor_names_own(struct tensor_names *names, const struct model *model);

/* Those of the family that the model belongs to. MISMATCH: to none, and the sentence says what
 * there is. */
enum error tensor_names_family(struct tensor_names *names, const struct model *model,
                               struct problem *problem) MUST_USE;

/* Numbers of a tensor. */
size_t named_tensor_count(const struct named_tensor *tensor);

/* Spellings of a tensor's name that a file may have, from 0 on: the first is the name itself, and
 * others may be the same. False: there are no more. */
bool tensor_names_spelling(const struct tensor_names *names, const char *name, int which,
                           char spelling[static NAMED_TENSOR_BYTES]);

/* Whether the family's files may hold a tensor of this name that a model does not need: masks,
 * angles, a second copy of what is tied, counts of batches. */
bool tensor_names_spare(const struct tensor_names *names, const char *name);

void tensor_names_free(struct tensor_names *names);

#endif
