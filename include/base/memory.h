/* Memory that must be there: given, or the program ends with a sentence.
 *
 * Without memory a node cannot be born, and no caller could do better than say so: "hearsay: out of
 * memory: ...; what to do", exit code 1 (fatal). Nothing is lost that is on disk. Bounds that a
 * user's files set are another matter: who reads these says which file is too large (a problem).
 * Held by tests/unit/base/test_memory.c and tests/process/test_memory.sh.
 */
#ifndef HEARSAY_BASE_MEMORY_H
#define HEARSAY_BASE_MEMORY_H

#include <stddef.h>

/* Zeroed memory for count items, the caller's; free() gives it back. */
void *memory_new(size_t count, size_t item_bytes);

/* The same memory, moved where it has room for count items; what is new is not zeroed. */
void *memory_more(void *memory, size_t count, size_t item_bytes);

/* A copy of this text, the caller's; free() gives it back. */
char *memory_text(const char *text);

/* So many bytes were asked of the system, which does not have them. Does not return. */
_Noreturn void memory_missing(size_t bytes);

#endif
