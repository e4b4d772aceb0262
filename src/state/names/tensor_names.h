/* Names and layouts of a model's tensors in a file: our own, or those of another library.
 *
 *   model ─┬─► ours: "0.embed.weight", as in the flat vector
 *          └─► a family's (name_family.h): "transformer.wte.weight", as in its files
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

/* One tensor of a file: all or some rows of one of the model's tensors. */
struct named_tensor {
    char name[NAMED_TENSOR_BYTES];
    size_t dims[4];     /* dimensions in the file */
    int rank;           /* number of dimensions */
    size_t offset;      /* index of its first number in the flat vector */
    bool is_transposed; /* the file has [in, out], the model [out, in] */
};

/* Differences between files of one family. */
struct name_style {
    const char *prefix;       /* prefix that names may lack, or "" */
    const char *alias[2][2];  /* parts of names with their alternatives; NULL = no more */
    const char *const *spare; /* endings of names that need not be read; terminated by NULL */
};

struct tensor_names {
    const struct name_style *style; /* style of the family; NULL = our own names */
    struct named_tensor *tensor;    /* [count] */
    int count;
};

/* Returns our own names for any model. */
void tensor_names_own(struct tensor_names *names, const struct model *model);

/* Returns the names of the model's family. MISMATCH: it has none; the sentence lists the
 * families. */
enum error tensor_names_family(struct tensor_names *names, const struct model *model,
                               struct problem *problem) MUST_USE;

/* Returns the number of numbers in a tensor. */
size_t named_tensor_count(const struct named_tensor *tensor);

/* Writes spelling number `which`, from 0, of a tensor's name: the first is the name itself, and
 * later ones may be equal. Returns false if there are no more. */
bool tensor_names_spelling(const struct tensor_names *names, const char *name, int which,
                           char spelling[static NAMED_TENSOR_BYTES]);

/* Returns true if the family's files may have a tensor of this name that a model does not need:
 * masks, angles, copies of tied tensors, counts of batches. */
bool tensor_names_spare(const struct tensor_names *names, const char *name);

void tensor_names_free(struct tensor_names *names);

#endif
