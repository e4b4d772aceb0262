/* Names and layouts of a model's tensors in a file, either our own or another library's.
 *
 *   model ─┬─► ours: "0.embed.weight", with the layout of the flat vector
 *          └─► a family's (name_family.h): "transformer.wte.weight", with the layout of its files
 *
 * Tests: tests/unit/state/test_tensor_names.c and tests/process/against_transformers.py.
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
    size_t dims[4]; /* dimensions in the file */
    int rank;
    size_t offset;      /* index of the tensor's first number in the model's flat vector */
    bool is_transposed; /* the tensor is [in, out] in the file and [out, in] in the model */
};

/* How names differ between files of one family. */
struct name_style {
    const char *prefix;       /* prefix that some files omit; "" = none */
    const char *alias[2][2];  /* parts of names and their alternatives; NULL = unused */
    const char *const *spare; /* endings of names that a model may lack; terminated by NULL */
};

struct tensor_names {
    const struct name_style *style; /* NULL = our own names */
    struct named_tensor *tensor;    /* [count] */
    int count;
};

void tensor_names_own(struct tensor_names *names, const struct model *model);

/* Sets `names` to the names that other libraries use. MISMATCH: the model belongs to no family; the
 * message lists the families. */
enum error tensor_names_family(struct tensor_names *names, const struct model *model,
                               struct problem *problem) MUST_USE;

size_t named_tensor_count(const struct named_tensor *tensor);

/* Writes spelling number `which` of a tensor's name. Spelling 0 is the name itself; other
 * spellings may equal it. Returns false if there is no such spelling. */
bool tensor_names_spelling(const struct tensor_names *names, const char *name, int which,
                           char spelling[static NAMED_TENSOR_BYTES]);

/* Returns true if files of the family may have a tensor of this name even if the model has none:
 * masks, rope frequencies, copies of tied tensors, batch counters. */
bool tensor_names_spare(const struct tensor_names *names, const char *name);

void tensor_names_free(struct tensor_names *names);

#endif
