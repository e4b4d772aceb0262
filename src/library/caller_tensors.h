/* The caller's tensors as one vector of float32, for the learner.
 *
 *   tensors, in the order in which they were given, or of a model:   [ w0 w0 w0 | w1 w1 | w2 … ]
 * entry 0 .. P-1
 *
 *   gather   tensors ─► weights     before the learner looks at its weights
 *   scatter  weights ─► tensors     after it has moved them
 *
 * If all tensors are float32, they are that vector themselves, in parts (base/weights.h): then
 * there is nothing to copy. A tensor of sixteen bits holds the weights rounded. What its owner did
 * to it since the last scatter is the difference to that, and goes on top of the weight in full
 * precision; so small steps of others add up there, and are not lost in the rounding. Held by
 * tests/unit/library/test_caller_tensors.c.
 */
#ifndef HEARSAY_LIBRARY_CALLER_TENSORS_H
#define HEARSAY_LIBRARY_CALLER_TENSORS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/update.h"
#include "base/weights.h"
#include "hearsay.h"
#include "layers/model.h"

#define CALLER_TENSORS_TEXT 256

struct caller_tensor {
    char *name;                            /* ours */
    int64_t shape[HEARSAY_DIMENSIONS_MAX]; /* as given */
    uint32_t dimensions;                   /* of shape */
    enum hearsay_dtype dtype;              /* of data */
    void *data;                            /* the caller's */
    size_t first;                          /* its first entry */
    size_t count;                          /* its entries */
};

struct caller_tensors {
    struct caller_tensor *item; /* [count] */
    uint32_t count;             /* of tensors */
    size_t parameters;          /* P: of all entries */
    enum hearsay_device device; /* where all of them lie */
    int32_t device_index;       /* which, of CUDA */
    struct backend *backend;    /* lent; of that device, as the weights below are */
};

/* Looks at what the caller gave and copies all but the data. MALFORMED: something is missing or
 * wrong; MISMATCH: a device, type or flag that is of no use here; TOO_BIG: more than a model has.
 */
enum error caller_tensors_init(struct caller_tensors *tensors, const struct hearsay_tensor *given,
                               uint32_t count, struct problem *problem) MUST_USE;
/* The backend of their device, which all below needs. It is not taken over. */
void caller_tensors_use(struct caller_tensors *tensors, struct backend *backend);
void caller_tensors_free(struct caller_tensors *tensors);

/* Also for a model that `hearsay node` computes: each tensor goes to the position of the model's
 * tensor of that name. MALFORMED: one is missing, or has another shape. */
enum error caller_tensors_place(struct caller_tensors *tensors, const struct model *model,
                                struct problem *problem) MUST_USE;
/* MALFORMED: one is of another type. */
enum error caller_tensors_need_float32(const struct caller_tensors *tensors,
                                       struct problem *problem) MUST_USE;

/* Returns OK if both lists are equal except for data and type; MALFORMED and a message otherwise.
 */
enum error caller_tensors_check(const struct caller_tensors *tensors,
                                const struct caller_tensors *others,
                                struct problem *problem) MUST_USE;

/* The name of the tensor that has this entry of all. */
const char *caller_tensors_name(const struct caller_tensors *tensors, size_t entry);

/* Copies their content into weights[P] in host memory. MALFORMED: a value is NaN or too large. */
enum error caller_tensors_read(const struct caller_tensors *tensors, float *weights,
                               struct problem *problem) MUST_USE;

/* Can they be a learner's weights themselves? Then a list of them, [count], which is to be freed,
 * as what weights.h wants; else NULL. */
struct weights_part *caller_tensors_parts(const struct caller_tensors *tensors) MUST_USE;

/* Otherwise the tensors are copies of the weights: lists them in memory of the backend, [count],
 * for updates that move some entries (backend.h). To be given back. */
struct weights_copy *caller_tensors_copies(const struct caller_tensors *tensors) MUST_USE;

/* Entries first .. first+count-1 of weights[P] and of the tensors. */
void caller_tensors_gather(const struct caller_tensors *tensors, size_t first, size_t count,
                           float *weights);
void caller_tensors_scatter(const struct caller_tensors *tensors, size_t first, size_t count,
                            const float *weights);

/* Waits for the device. */
void caller_tensors_finish(const struct caller_tensors *tensors);

/* Describes them: "run NAME, 12 tensors, list HASH", of run, names, shapes and types. */
void caller_tensors_describe(const struct caller_tensors *tensors, const char *run,
                             char text[static CALLER_TENSORS_TEXT]);
/* Returns the run and all tensors as lines (wire/model_parts.h), in the arena. */
const char *caller_tensors_list(const struct caller_tensors *tensors, const char *run,
                                struct arena *arena);

#endif
