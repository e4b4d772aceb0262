/* Several .npy files of one type and shape, as one run of samples. Private to arrays.c. */
#ifndef HEARSAY_MODEL_DATA_ARRAY_RUN_H
#define HEARSAY_MODEL_DATA_ARRAY_RUN_H

#include <stdint.h>

#include "data/file_list.h"
#include "data/npy_file.h"

struct array_run {
    struct file_list list;
    const char *key;            /* that named the files */
    enum npy_channels channels; /* the caller's choice, which npy_file_order resolves */
    struct npy_file like;       /* closed: type and shape of all */
    uint32_t count;             /* samples of all; dims[0] of `like` are the first file's */
};

/* Some samples of the run, as they lie in a file. */
struct array_block {
    const char *path; /* of the file */
    const void *data;
    uint32_t at;    /* index of the first sample in the run */
    uint32_t count; /* samples */
};

/* Looks at the files, whose names stand in `text`. After OK array_run_close. */
enum error array_run_open(struct array_run *run, const char *text, const char *key,
                          enum npy_channels channels, struct problem *problem) MUST_USE;

/* Reads the samples from .. to-1 of the run, block by block, until `take` objects. */
enum error array_run_read(const struct array_run *run, uint32_t from, uint32_t to,
                          enum error (*take)(void *context, const struct array_block *block,
                                             struct problem *problem),
                          void *context, struct problem *problem) MUST_USE;

void array_run_close(struct array_run *run);

#endif
