/* Augmentation: changes an image at random each time that it is used, as the seed determines.
 *
 *   (seed, node, epoch, sample) ─ augment_draw ─► struct augmentation ─┐ (with the step's input)
 *   batch of the step: x ──────────────────────────────────────────────┴─ augment ─► x
 *
 *   flip    mirrored left to right, with probability 1/2
 *   crop    moved by at most `crop` pixels in both directions: the image is padded with black
 *           (floats: with 0) and cut back to its size (He et al. 2016)
 *   cutout  a square with sides of `cutout` pixels becomes 0, the mean of normalised pixels;
 *           its middle is anywhere in the image (DeVries, Taylor 2017)
 *
 * The draws depend only on the numbers above, so runs can be repeated and continued from a
 * checkpoint. Enabling one of the three options does not change the draws of the other two.
 * Evaluation uses the original images. Tests: tests/unit/model/test_augment.c.
 */
#ifndef HEARSAY_MODEL_DATA_AUGMENT_H
#define HEARSAY_MODEL_DATA_AUGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/backend.h"
#include "data/batch.h"
#include "data/dataset.h"

struct augment_options {
    bool flip;
    uint32_t crop;   /* an image moves by at most this many pixels; 0 = no crop */
    uint32_t cutout; /* side in pixels of the square that is blanked; 0 = no cutout */
};

static inline bool augment_is_wanted(const struct augment_options *options)
{
    return options->flip || options->crop > 0 || options->cutout > 0;
}

/* Returns the flip, move and cutout of one sample in one epoch. options->crop must be below the
 * height and the width of the shape. */
struct augmentation augment_draw(const struct augment_options *options, struct shape shape,
                                 uint64_t seed, uint64_t node, uint64_t epoch, uint32_t sample);

/* State for augmenting batches on a backend; all 0 = no augmentation. */
struct augmenter {
    struct augment_options options;
    struct augment augment; /* settings that are equal for all images */
    /* [batch_max, shape] augmented images, in the backend's memory; NULL = no augmentation */
    float *x;
};

/* If no option is on, the augmenter allocates nothing and never changes a batch. */
void augmenter_init(struct augmenter *augmenter, const struct augment_options *options,
                    struct backend *backend, const struct dataset *dataset, uint32_t batch_max);

/* Returns the size in bytes of the draws for `size` samples; 0 without augmentation. */
size_t augmenter_bytes(const struct augmenter *augmenter, uint32_t size);

/* Draws flip, move and cutout of each sample of a batch to each[size]; writes nothing without
 * augmentation. pick[size]: the positions that batch_next returned for the batch. before: state of
 * `struct batch` before that call. */
void augmenter_draw(const struct augmenter *augmenter, const struct batch *before,
                    const uint32_t *pick, uint32_t size, struct augmentation *each);

/* Returns the augmented copy of x[size, shape], or x itself without augmentation. each[size]:
 * result of augmenter_draw, in the backend's memory. Calls may be recorded in a graph. */
const float *augmenter_apply(const struct augmenter *augmenter, struct backend *backend,
                             const struct augmentation *each, const float *x, uint32_t size);

void augmenter_free(struct augmenter *augmenter, struct backend *backend);

#endif
