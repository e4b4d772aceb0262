/* Presents the caller's tensors to the learner as one vector of float32 weights.
 *
 *   tensors, in the given order or the model's:   [ w0 w0 w0 | w1 w1 | w2 … ]
 *                                                     entry 0 .. P-1
 *
 *   gather   tensors ─► weights     before the learner reads its weights
 *   scatter  weights ─► tensors     after the learner has moved the weights
 *
 * If all tensors are float32, they are the vector themselves, in parts (base/weights.h), and
 * nothing is copied. A 16-bit tensor has rounded weights, and the learner has the weights in full
 * precision. A gather adds the caller's change of the tensor since the last scatter to the full
 * weight. So small steps of other nodes add up in the full weights and are not lost in the
 * rounding. Tests: tests/unit/library/test_caller_tensors.c.
 */
#ifndef HEARSAY_LIBRARY_CALLER_TENSORS_H
#define HEARSAY_LIBRARY_CALLER_TENSORS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/update.h"
#include "base/weights.h"
#include "exchange/statistics.h"
#include "hearsay.h"
#include "layers/model.h"

#define CALLER_TENSORS_TEXT 256

struct caller_tensor {
    char *name;                            /* allocated by this struct */
    int64_t shape[HEARSAY_DIMENSIONS_MAX]; /* shape that the caller gave */
    uint32_t dimensions;
    enum hearsay_dtype dtype;
    bool are_statistics; /* HEARSAY_STATISTICS */
    void *data;          /* belongs to the caller */
    size_t first;        /* first entry of the tensor in the vector */
    size_t count;
};

struct caller_tensors {
    struct caller_tensor *item; /* [count] in their order in the vector of weights */
    uint32_t count;
    size_t parameters;          /* P: entries of all tensors together */
    enum hearsay_device device; /* device of all tensors */
    int32_t device_index;
    /* backend of the device, which also has the learner's weights; borrowed */
    struct backend *backend;
};

/* Checks the caller's tensors and copies everything except the data. MALFORMED: a value is missing
 * or wrong. MISMATCH: a device, type or flag is not supported, or devices differ. TOO_BIG: the
 * tensors together have 2^31 entries or more. */
enum error caller_tensors_init(struct caller_tensors *tensors, const struct hearsay_tensor *given,
                               uint32_t count, struct problem *problem) MUST_USE;
/* Sets the backend, which still belongs to the caller. All functions below that access data need
 * it. */
void caller_tensors_use(struct caller_tensors *tensors, struct backend *backend);
void caller_tensors_free(struct caller_tensors *tensors);

/* Reorders the tensors for a model that `hearsay node` also computes: each tensor gets the position
 * of the model's tensor with its name. MALFORMED: a tensor is missing, or has another shape. */
enum error caller_tensors_place(struct caller_tensors *tensors, const struct model *model,
                                struct problem *problem) MUST_USE;
/* Returns MALFORMED if a tensor has another type than float32. */
enum error caller_tensors_need_float32(const struct caller_tensors *tensors,
                                       struct problem *problem) MUST_USE;

/* Returns MALFORMED, with a message, unless `others` has the same names and shapes in the same
 * order. Types and data may differ. */
enum error caller_tensors_check(const struct caller_tensors *tensors,
                                const struct caller_tensors *others,
                                struct problem *problem) MUST_USE;

const char *caller_tensors_name(const struct caller_tensors *tensors, size_t entry);

/* Copies the tensors into weights[P] in main memory. MALFORMED: a value is NaN or too large. */
enum error caller_tensors_read(const struct caller_tensors *tensors, float *weights,
                               struct problem *problem) MUST_USE;

/* Returns the tensors as parts[count] for weights.h; NULL if one is not float32. The caller frees
 * the list. */
struct weights_part *caller_tensors_parts(const struct caller_tensors *tensors) MUST_USE;

/* Returns the entries of statistics as a list [*ranges], which the caller frees. */
struct entry_range *caller_tensors_statistics(const struct caller_tensors *tensors,
                                              uint32_t *ranges) MUST_USE;

/* Returns copies[count], a list of the tensors in the backend's memory, for tensors that are not
 * the weights themselves. Updates of a few entries use it (backend.h). The caller frees it with
 * backend->free. */
struct weights_copy *caller_tensors_copies(const struct caller_tensors *tensors) MUST_USE;

/* Copy entries first .. first+count-1: gather from the tensors to weights[P], scatter from
 * weights[P] to the tensors. */
void caller_tensors_gather(const struct caller_tensors *tensors, size_t first, size_t count,
                           float *weights);
void caller_tensors_scatter(const struct caller_tensors *tensors, size_t first, size_t count,
                            const float *weights);

/* Waits for the work of the tensors' GPU. */
void caller_tensors_finish(const struct caller_tensors *tensors);

/* Writes "run NAME, 12 tensors, list HASH", where HASH covers names, shapes and types. */
void caller_tensors_describe(const struct caller_tensors *tensors, const char *run,
                             char text[static CALLER_TENSORS_TEXT]);
/* Returns a line for the run and one for each tensor (wire/model_parts.h), in the arena. */
const char *caller_tensors_list(const struct caller_tensors *tensors, const char *run,
                                struct arena *arena);

#endif
