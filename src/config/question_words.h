/* What may be asked of a node, and how both sides know what a sample is.
 *
 *   learner ─► form ─► "1x28x28 uint8, 10 classes" ─► REPLY ─► read ─► who asks
 *
 * Held by tests/unit/config/test_question_words.c.
 */
#ifndef HEARSAY_CONFIG_QUESTION_WORDS_H
#define HEARSAY_CONFIG_QUESTION_WORDS_H

#include "node/question.h"
#include "training/answering.h"

#define QUESTION_WORDS_BYTES 96

/* What may be asked of this learner; about[] says it in words, and is the form's. MISMATCH: it can
 * answer nothing, and the sentence says why. */
enum error question_words_form(const struct learner *learner,
                               char about[static QUESTION_WORDS_BYTES], struct question_form *form,
                               struct problem *problem) MUST_USE;

/* The words, of so many bytes, that another node has said. MALFORMED: they are none. */
enum error question_words_read(const char *about, size_t bytes,
                               struct question_shape *shape) MUST_USE;

#endif
