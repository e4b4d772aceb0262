/* A list of files, such as "train-1.bin, more-*.bin". Names are separated by commas. A part of a
 * path with *, ? or [ stands for the files and folders that it matches, in the order of their names
 * (bytes), unless one has exactly this name. A comma is part of a name if such a file or folder
 * exists: "T1, final/x*.npy". The reader of the data and the sandbox, which allows reading them,
 * use the same list. Held by tests/unit/model/test_file_list.c and, for the sandbox,
 * tests/unit/daemon/test_sandbox.c.
 */
#ifndef HEARSAY_MODEL_DATA_FILE_LIST_H
#define HEARSAY_MODEL_DATA_FILE_LIST_H

#include <stddef.h>

#include "base/error.h"

struct file_list {
    char **path; /* [count] */
    size_t count;
    char **folder; /* [folders] folders searched for patterns */
    size_t folders;
};

/* Reads a list with at least one name; whether the files exist shows when they are opened. key:
 * configuration key, for the sentence. MISSING: the text is empty, or a pattern matches no file.
 * MALFORMED: a name is empty. After OK the caller must call file_list_free. */
enum error file_list_read(struct file_list *list, const char *text, const char *key,
                          struct problem *problem) MUST_USE;

/* Checks that training and test files differ. MISMATCH: a file is in both lists; key is the test's
 * configuration key. */
enum error file_list_apart(const struct file_list *train, const struct file_list *test,
                           const char *key, struct problem *problem) MUST_USE;

void file_list_free(struct file_list *list);

#endif
