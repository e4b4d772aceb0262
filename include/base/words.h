/* Suggests known words for an unknown word, in messages about typing errors.
 *
 * Tests: tests/unit/base/test_words.c.
 */
#ifndef HEARSAY_BASE_WORDS_H
#define HEARSAY_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_BYTES 32 /* longest known word, with the final zero */

/* End of a message: "did you mean WORD?" or, if no word is similar, "known: A, B, C",
 * the most similar first. The list ends with "..." if it is too long. */
struct words_hint {
    char text[448];
};

/* Returns the word that is most similar to `typed`; NULL if none is similar. */
const char *words_nearest(const char *typed, const char *const *words, size_t count);

/* Writes the word that is most similar to `typed`. choices: words with '|' between them. Returns
 * false if none is similar. */
bool words_nearest_of(const char *typed, const char *choices, char nearest[static WORDS_BYTES]);

struct words_hint words_hint(const char *typed, const char *const *words, size_t count);

#endif
