/* A list of files, such as "train-1.bin, more-*.bin". Names are separated by commas. A part of a
 * path with *, ? or [ is a pattern, unless a file or folder has exactly this name. A pattern stands
 * for the files and folders that it matches, sorted by the bytes of their paths. A comma is part of
 * a name if such a file or folder exists: "T1, final/x*.npy". The data loader reads the files of
 * this list, and the sandbox allows reading only these. Tests: tests/unit/model/test_file_list.c
 * and, for the sandbox, tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_MODEL_DATA_FILE_LIST_H
#define HEARSAY_MODEL_DATA_FILE_LIST_H

#include <stddef.h>

#include "base/error.h"

struct file_list {
    char **path; /* [count] paths of the files */
    size_t count;
    char **folder; /* [folders] folders that were searched for names that match a pattern */
    size_t folders;
};

/* Parses a list and expands its patterns. Does not check that a file named without a pattern
 * exists. key: configuration key for messages. MISSING: the text is empty, or a pattern matches no
 * file. MALFORMED: a name is empty. After OK the caller must call file_list_free. */
enum error file_list_read(struct file_list *list, const char *text, const char *key,
                          struct problem *problem) MUST_USE;

/* Checks that no path is in both lists. MISMATCH: a path is in both. key: configuration key of
 * `test`, for messages. */
enum error file_list_apart(const struct file_list *train, const struct file_list *test,
                           const char *key, struct problem *problem) MUST_USE;

void file_list_free(struct file_list *list);

#endif
