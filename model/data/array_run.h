/* Several .npy files of one type and sample shape, read as one run of samples. Private to
 * arrays.c. */
#ifndef HEARSAY_MODEL_DATA_ARRAY_RUN_H
#define HEARSAY_MODEL_DATA_ARRAY_RUN_H

#include <stdint.h>

#include "data/file_list.h"
#include "data/npy_file.h"

struct array_run {
    struct file_list list;
    const char *key; /* configuration key that named the files */
    /* order of dimensions that the caller chose; AUTO: npy_file_order decides for each file */
    enum npy_channels channels;
    /* Type and sample shape of every file; the descriptor in it is closed. */
    struct npy_file like;
    /* total number of samples in all files; like.dims[0] counts only the samples of the first
     * file */
    uint32_t count;
};

/* Consecutive samples of one file, in the type and order of npy_file_read. */
struct array_block {
    const char *path;
    const void *data;
    uint32_t at; /* index of the block's first sample in the run */
    uint32_t count;
};

/* Opens each file listed in `text` and checks that all have one type and sample shape. key:
 * configuration key for messages. After OK the caller must call array_run_close. */
enum error array_run_open(struct array_run *run, const char *text, const char *key,
                          enum npy_channels channels, struct problem *problem) MUST_USE;

/* Reads samples from .. to-1 of the run and calls `take` for each block of them, in order. Stops at
 * the first error of `take` and returns it. MALFORMED: a file changed since array_run_open. */
enum error array_run_read(const struct array_run *run, uint32_t from, uint32_t to,
                          enum error (*take)(void *context, const struct array_block *block,
                                             struct problem *problem),
                          void *context, struct problem *problem) MUST_USE;

void array_run_close(struct array_run *run);

#endif
