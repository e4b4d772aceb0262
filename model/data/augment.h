/* Augmentation: each use of an image varies it, as the seed determines.
 *
 *   (seed, node, epoch, sample) ─ augment_draw ─► struct augmentation ─┐ (with the step's input)
 *   batch of the step: x ──────────────────────────────────────────────┴─ augment ─► x
 *
 *   flip    mirrored, every second time
 *   crop    moved by at most this number of pixels in both directions: the image is padded with
 *           black and cut back to its size (He et al. 2016)
 *   cutout  a square with this side in pixels becomes the mean of its pixels; its middle is
 *           anywhere in the image (DeVries, Taylor 2017)
 *
 * The draws depend only on the numbers above, so runs can be repeated and continued from a
 * checkpoint. Each of the three is drawn whether the others are enabled or not. Evaluation uses the
 * original images. Held by tests/unit/model/test_augment.c.
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
    uint32_t crop;   /* most pixels by which an image is moved; 0 = none */
    uint32_t cutout; /* side of the square in pixels; 0 = none */
};

static inline bool augment_is_wanted(const struct augment_options *options)
{
    return options->flip || options->crop > 0 || options->cutout > 0;
}

/* Returns the changes of a sample in an epoch. crop is smaller than both sides of the shape. */
struct augmentation augment_draw(const struct augment_options *options, struct shape shape,
                                 uint64_t seed, uint64_t node, uint64_t epoch, uint32_t sample);

/* State for augmenting batches on a backend; all 0 = no augmentation. */
struct augmenter {
    struct augment_options options;
    struct augment augment; /* parameters shared by all images */
    float *x;               /* [batch_max, shape] on the backend: augmented images */
};

/* Initializes an augmenter; without enabled options it does nothing. */
void augmenter_init(struct augmenter *augmenter, const struct augment_options *options,
                    struct backend *backend, const struct dataset *dataset, uint32_t batch_max);

/* Returns the bytes of the draws of `samples` samples in a step's input; 0 without augmentation.
 */
size_t augmenter_bytes(const struct augmenter *augmenter, uint32_t size);

/* Draws the changes of `size` samples with numbers pick[size], which were just taken from the
 * batch. before: state of the batch before that. */
void augmenter_draw(const struct augmenter *augmenter, const struct batch *before,
                    const uint32_t *pick, uint32_t size, struct augmentation *each);

/* Returns the augmented batch x[size, shape]; x itself without augmentation. each: draws on the
 * backend. May be part of a recorded graph. */
const float *augmenter_apply(const struct augmenter *augmenter, struct backend *backend,
                             const struct augmentation *each, const float *x, uint32_t size);

void augmenter_free(struct augmenter *augmenter, struct backend *backend);

#endif
