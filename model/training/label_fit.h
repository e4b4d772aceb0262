/* Label fit: compares the base's predictions with the labels of this node's training samples.
 *
 *   base ─► forward, over up to LABEL_FIT_SAMPLES samples ─► predictions by label ─► label_fit
 *
 * The base is the sum of all members' progress, so it predicts what most of them call a sample. A
 * class counts from LABEL_FIT_LEAST compared samples on. Tests: tests/unit/model/test_label_fit.c.
 */
#ifndef HEARSAY_MODEL_TRAINING_LABEL_FIT_H
#define HEARSAY_MODEL_TRAINING_LABEL_FIT_H

#include "base/label_fit.h"

#define LABEL_FIT_SAMPLES 200u
#define LABEL_FIT_LEAST   5
#define LABEL_FIT_CLASSES 256 /* models with more classes are not compared */

struct learner;

/* Changes neither base nor weights. Returns zeros if the learner makes no steps or no evaluations,
 * if its samples have no labels (numbers to predict, tokens), or if no class has enough samples. */
struct label_fit label_fit_of(struct learner *learner);

#endif
