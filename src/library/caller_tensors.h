/* The caller's tensors as one vector of float32, for the learner.
 *
 *   tensors, in the given order or that of a model:   [ w0 w0 w0 | w1 w1 | w2 … ]
 *                                                     entry 0 .. P-1
 *
 *   gather   tensors ─► weights     before the learner reads its weights
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
    int64_t shape[HEARSAY_DIMENSIONS_MAX]; /* sizes of the dimensions, as given */
    uint32_t dimensions;                   /* number of dimensions */
    enum hearsay_dtype dtype;              /* of data */
    void *data;                            /* numbers of the tensor; belong to the caller */
    size_t first;                          /* index of its first entry in the vector */
    size_t count;                          /* number of its entries */
};

struct caller_tensors {
    struct caller_tensor *item; /* [count] */
    uint32_t count;             /* number of tensors */
    size_t parameters;          /* P: entries of all tensors together */
    enum hearsay_device device; /* device of all tensors */
    int32_t device_index;       /* index of the GPU for CUDA */
    struct backend *backend;    /* backend of that device, also for the weights below; borrowed */
};

/* Checks the caller's tensors and copies everything except the data. MALFORMED: a value is missing
 * or wrong. MISMATCH: a device, type or flag is not supported. TOO_BIG: more than a model may
 * have. */
enum error caller_tensors_init(struct caller_tensors *tensors, const struct hearsay_tensor *given,
                               uint32_t count, struct problem *problem) MUST_USE;
/* Sets the backend of the tensors' device, which the functions below need. The caller keeps
 * ownership. */
void caller_tensors_use(struct caller_tensors *tensors, struct backend *backend);
void caller_tensors_free(struct caller_tensors *tensors);

/* Reorders the tensors for a model that `hearsay node` also computes: each gets the position of the
 * model's tensor of that name. MALFORMED: one is missing, or has another shape. */
enum error caller_tensors_place(struct caller_tensors *tensors, const struct model *model,
                                struct problem *problem) MUST_USE;
/* Returns MALFORMED if a tensor has another type than float32. */
enum error caller_tensors_need_float32(const struct caller_tensors *tensors,
                                       struct problem *problem) MUST_USE;

/* Returns OK if both lists are equal except for data and type; MALFORMED and a message otherwise.
 */
enum error caller_tensors_check(const struct caller_tensors *tensors,
                                const struct caller_tensors *others,
                                struct problem *problem) MUST_USE;

/* Returns the name of the tensor that has this entry of the vector. */
const char *caller_tensors_name(const struct caller_tensors *tensors, size_t entry);

/* Copies the tensors into weights[P] in main memory. MALFORMED: a value is NaN or too large. */
enum error caller_tensors_read(const struct caller_tensors *tensors, float *weights,
                               struct problem *problem) MUST_USE;

/* Returns the tensors as parts[count] for weights.h if they can be a learner's weights themselves,
 * otherwise NULL. The caller frees the list. */
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

/* Describes the tensors by run, names, shapes and types: "run NAME, 12 tensors, list HASH". */
void caller_tensors_describe(const struct caller_tensors *tensors, const char *run,
                             char text[static CALLER_TENSORS_TEXT]);
/* Returns the run and all tensors as lines (wire/model_parts.h), in the arena. */
const char *caller_tensors_list(const struct caller_tensors *tensors, const char *run,
                                struct arena *arena);

#endif
