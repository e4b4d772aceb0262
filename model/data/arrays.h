/* Samples and targets from NumPy files.
 *
 *   data.x ─► npy_file.h ─► one run of samples ─┬─ the first nine tenths ─ shard k of n ─► training
 *   data.y ─► npy_file.h ─► labels or numbers ──┴─ the last tenth ─────────────────────► test
 *   if data.test_x and data.test_y name test arrays, all of data.x and data.y is for training
 *
 * x is uint8 or bool, normalised like pixels, or floats, which are not normalised. The dimensions
 * of x after the first, which counts samples, become channels, height and width:
 *
 *   none     one number           1 x 1 x 1
 *   k        a table's row        1 x 1 x k
 *   h, w     an image             1 x h x w
 *   …, h, w  images or a volume   … x h x w: all dimensions before the last two are channels
 *   h, w, c  images whose channels are last, read as c x h x w (npy_file_order)
 *
 * y has integers of any type or bool: one label for each sample; or floats: numbers to predict, or
 * labels if the task is CLASSES. If the task is AUTO, float64 (NumPy's default) are labels if they
 * look like labels: one whole number for each sample, in 0 .. k-1 with k from 2 to 1000, and each
 * occurs at least four times. Other whole numbers, one for each sample, are numbers to predict, and
 * dataset.look is LOOK_WHOLE_NUMBERS if their range is below 1000. Rows with a single 1 and
 * otherwise zeros are also numbers to predict, and dataset.look is LOOK_ONE_HOT. Only the samples
 * of the shard are held in memory. Tests: tests/unit/model/test_arrays.c.
 */
#ifndef HEARSAY_MODEL_DATA_ARRAYS_H
#define HEARSAY_MODEL_DATA_ARRAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "data/dataset.h"
#include "data/npy_file.h"

/* Sets *shape to the shape of a sample of this file. TOO_BIG: a side is above 65,536, or a sample
 * has more than 2^24 numbers. */
enum error arrays_shape(const struct npy_file *file, struct shape *shape,
                        struct problem *problem) MUST_USE;

/* Sets *is_regression to true if the files listed in y have numbers to predict, to false if they
 * have labels. Reads all of y if it has floats and the task is AUTO. */
enum error arrays_are_regression(const char *y, enum dataset_task task, bool *is_regression,
                                 struct problem *problem) MUST_USE;

/* whole floats may be meant as labels only if their range is below this number */
#define ARRAYS_LABELS_MAX 1000

/* Returns true if whole numbers of type float64 look like labels: they are exactly 0 .. k-1, and
 * enough samples have each number. counts: samples with each number, [ARRAYS_LABELS_MAX]. */
bool arrays_are_like_labels(const uint64_t *counts, double lowest, double highest);

/* Returns the index of the first number that is NaN or infinite, or `count` if all are finite. */
size_t arrays_first_broken(const float *numbers, size_t count);

#endif
