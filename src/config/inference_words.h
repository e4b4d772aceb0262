/* Writes and reads the description of samples and predictions in inference requests.
 *
 *   learner ─► form ─► "1x28x28 uint8, 10 classes" ─► REPLY ─► read ─► client
 *
 * Tests: tests/unit/config/test_inference_words.c.
 */
#ifndef HEARSAY_CONFIG_INFERENCE_WORDS_H
#define HEARSAY_CONFIG_INFERENCE_WORDS_H

#include "node/inference_form.h"
#include "training/inference.h"

#define INFERENCE_WORDS_BYTES 96

/* Sets the form of inference requests that this learner can serve. form->about points to about[],
 * which describes it in words. MISMATCH: it can serve none; the message says why. */
enum error inference_words_form(const struct learner *learner,
                                char about[static INFERENCE_WORDS_BYTES],
                                struct inference_form *form, struct problem *problem) MUST_USE;

/* Parses the description of another node. MALFORMED: it is invalid. */
enum error inference_words_read(const char *about, size_t bytes,
                                struct inference_shape *shape) MUST_USE;

#endif
