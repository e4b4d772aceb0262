/* Generates digits that look handwritten, by a seed: a data set that needs no files.
 *
 *   strokes of a digit ─► warp ─► rotate, shear, scale, shift ─► round corners ─► ink ─► noise
 *
 * Sample i depends only on (seed, set, i), so any part can be generated without the rest. All
 * arithmetic is in integers, so the bytes are equal on every machine:
 * tests/unit/model/test_synthetic_digits.c pins them. The distortions are such that lenet needs a
 * few passes over 12,000 samples for 95 %.
 */
#ifndef HEARSAY_MODEL_DATA_SYNTHETIC_DIGITS_H
#define HEARSAY_MODEL_DATA_SYNTHETIC_DIGITS_H

#include <stdint.h>

#define DIGIT_SIDE    28
#define DIGIT_PIXELS  (DIGIT_SIDE * DIGIT_SIDE)
#define DIGIT_CLASSES 10

enum digits_set { DIGITS_TRAIN, DIGITS_TEST };

/* Draws sample number `index`, white on black, and returns its label, 0 .. 9. */
uint8_t synthetic_digits_draw(uint64_t seed, enum digits_set set, uint32_t index,
                              uint8_t pixels[static DIGIT_PIXELS]);

#endif
