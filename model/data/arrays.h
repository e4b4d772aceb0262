/* Samples and targets from NumPy files.
 *
 *   data.x ─► npy_file.h ─► one run of samples ─┬─ the first nine tenths ─ shard k of n ─► training
 *   data.y ─► the same ───► labels or numbers ──┴─ the last tenth ─────────────────────► test
 *   with arrays for the test (data.test_x and data.test_y), all of the others are for training
 *
 * x is uint8 (or bool), normalised as pixels are, or float32, taken as it is. Its shape, without
 * the samples, becomes channels, height and width:
 *
 *   none     one number           1 x 1 x 1
 *   k        a table's row        1 x 1 x k
 *   h, w     an image             1 x h x w
 *   …, h, w  several, a volume    … x h x w: all dimensions before the last two are channels
 *   h, w, c  images whose channels are last, read as c x h x w (npy_file_order)
 *
 * y is of any type of integers: labels, one for each sample; or floats: so many numbers for each.
 * float64, NumPy's default, are labels where the task is AUTO and they look like classes: one whole
 * number for each sample, of 0 .. k-1, k <= 1000, with four samples or more for each of these.
 * Only what is kept is held in memory. Held by tests/unit/model/test_arrays.c.
 */
#ifndef HEARSAY_MODEL_DATA_ARRAYS_H
#define HEARSAY_MODEL_DATA_ARRAYS_H

#include <stdbool.h>

#include "data/dataset.h"
#include "data/npy_file.h"

/* Implements dataset_load_train and dataset_load_test; options.shard < options.shards. MALFORMED: a
 * file is invalid, or has values that cannot be learned. MISMATCH: the files do not match, or have
 * too few samples. The dataset is written only on OK. */
enum error arrays_load(struct dataset *dataset, const struct dataset_options *options, bool train,
                       struct problem *problem) MUST_USE;

/* Returns the shape of a sample of this file. TOO_BIG: it has too many numbers. */
enum error arrays_shape(const struct npy_file *file, struct shape *shape,
                        struct problem *problem) MUST_USE;

/* Sets *is_regression if the files of this list (data.y) have numbers to predict, not labels. */
enum error arrays_are_regression(const char *y, enum dataset_task task, bool *is_regression,
                                 struct problem *problem) MUST_USE;

/* Returns the index of the first number that is NaN or infinite; count if there is none. */
size_t arrays_first_broken(const float *numbers, size_t count);

#endif
