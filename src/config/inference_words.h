/* Describes the form of a sample in words, for inference requests between node and client.
 *
 *   learner ─► form ─► "1x28x28 uint8, 10 classes" ─► REPLY ─► read ─► client
 *
 * Held by tests/unit/config/test_inference_words.c.
 */
#ifndef HEARSAY_CONFIG_INFERENCE_WORDS_H
#define HEARSAY_CONFIG_INFERENCE_WORDS_H

#include "node/inference_form.h"
#include "training/inference.h"

#define INFERENCE_WORDS_BYTES 96

/* Sets the request form of this learner; about[] describes it in words and belongs to the form.
 * MISMATCH: it can serve no request; the message says why. */
enum error inference_words_form(const struct learner *learner,
                                char about[static INFERENCE_WORDS_BYTES],
                                struct inference_form *form, struct problem *problem) MUST_USE;

/* Parses another node's description. MALFORMED: invalid. */
enum error inference_words_read(const char *about, size_t bytes,
                                struct inference_shape *shape) MUST_USE;

#endif
