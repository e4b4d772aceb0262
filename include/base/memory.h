/* Allocates memory, or ends the program with a sentence.
 *
 * Without memory a node cannot run, and no caller could do more than report the failure. So these
 * functions print "hearsay: out of memory: ..." with a remedy and end with exit code 1 (fatal).
 * Files on disk stay intact. A size from a user's file is different: the file's reader reports that
 * the file is too large (struct problem). Tests: tests/unit/base/test_memory.c and
 * tests/process/test_memory.sh.
 */
#ifndef HEARSAY_BASE_MEMORY_H
#define HEARSAY_BASE_MEMORY_H

#include <stddef.h>

/* Returns zeroed memory, which the caller owns and frees. */
void *memory_new(size_t count, size_t item_bytes);

/* Resizes `memory`, which may move. New items are not zeroed. */
void *memory_more(void *memory, size_t count, size_t item_bytes);

/* Returns a copy, which the caller owns and frees. */
char *memory_text(const char *text);

/* Ends the program: the system could not provide this many bytes. */
_Noreturn void memory_missing(size_t bytes);

#endif
