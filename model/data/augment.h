/* Augmentation: each use of an image varies it, as the seed determines.
 *
 *   (seed, node, epoch, sample) ─ augment_draw ─► struct augmentation ─┐ (with the step's input)
 *   batch of the step: x ──────────────────────────────────────────────┴─ augment ─► x
 *
 *   flip    mirrored, every second time
 *   crop    moved by up to so many pixels in both directions: the image is padded with black and
 * cut back to its size (He et al. 2016) cutout  a square of so many pixels becomes their mean; its
 * middle is anywhere in the image (DeVries, Taylor 2017)
 *
 * What is drawn follows from the numbers above alone, so that runs repeat and go on from a
 * checkpoint; each of the three is drawn whether the others are wanted or not. Evaluation sees the
 * images as they are. Held by tests/unit/model/test_augment.c.
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
    uint32_t crop;   /* pixels; 0: none */
    uint32_t cutout; /* pixels; 0: none */
};

static inline bool augment_is_wanted(const struct augment_options *options)
{
    return options->flip || options->crop > 0 || options->cutout > 0;
}

/* The variation of a sample in an epoch. crop is smaller than both sides of the shape. */
struct augmentation augment_draw(const struct augment_options *options, struct shape shape,
                                 uint64_t seed, uint64_t node, uint64_t epoch, uint32_t sample);

/* The augmentation of batches on a backend; all 0: there is none. */
struct augmenter {
    struct augment_options options;
    struct augment augment; /* what is the same for all images */
    float *x;               /* [batch_max, shape] on the backend: the images after it */
};

/* Options that are not wanted make none. */
void augmenter_init(struct augmenter *augmenter, const struct augment_options *options,
                    struct backend *backend, const struct dataset *dataset, uint32_t batch_max);

/* Returns the bytes of the draws of `samples` samples in a step's input; 0 without augmentation.
 */
size_t augmenter_bytes(const struct augmenter *augmenter, uint32_t size);

/* The draws of the next `size` samples of the batch, which are at the places pick[size] and have
 * been taken from it: before is the batch as it was before. */
void augmenter_draw(const struct augmenter *augmenter, const struct batch *before,
                    const uint32_t *pick, uint32_t size, struct augmentation *each);

/* The batch x[size, shape] augmented; x itself where there is no augmentation. each, on the
 * backend. May be part of a sequence. */
const float *augmenter_apply(const struct augmenter *augmenter, struct backend *backend,
                             const struct augmentation *each, const float *x, uint32_t size);

void augmenter_free(struct augmenter *augmenter, struct backend *backend);

#endif
