/* Generates images of digits that look handwritten, from a seed: a data set without files.
 *
 *   strokes of a digit ─► warp ─► rotate, shear, scale, shift ─► round corners ─► ink
 *     ─► stray lines ─► noise
 *
 * Sample i depends only on (seed, set, i), so any part can be generated without the rest. All
 * arithmetic is in integers, so the pixels are equal on all machines. The distortions are so strong
 * that the model lenet needs a few epochs of 12,000 samples to classify 95 % correctly. Tests:
 * tests/unit/model/test_synthetic_digits.c.
 */
#ifndef HEARSAY_MODEL_DATA_SYNTHETIC_DIGITS_H
#define HEARSAY_MODEL_DATA_SYNTHETIC_DIGITS_H

#include <stdint.h>

#define DIGIT_SIDE    28
#define DIGIT_PIXELS  (DIGIT_SIDE * DIGIT_SIDE)
#define DIGIT_CLASSES 10

enum digits_set { DIGITS_TRAIN, DIGITS_TEST };

/* Draws sample `index` of the set, white on black, to `pixels`. Returns the digit, 0 .. 9. */
uint8_t synthetic_digits_draw(uint64_t seed, enum digits_set set, uint32_t index,
                              uint8_t pixels[static DIGIT_PIXELS]);

#endif
