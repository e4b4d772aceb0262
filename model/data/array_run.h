/* Several .npy files of one type and shape, as one run of samples. Private to arrays.c. */
#ifndef HEARSAY_MODEL_DATA_ARRAY_RUN_H
#define HEARSAY_MODEL_DATA_ARRAY_RUN_H

#include <stdint.h>

#include "data/file_list.h"
#include "data/npy_file.h"

struct array_run {
    struct file_list list;
    const char *key; /* configuration key that named the files */
    /* The caller's choice of the channels' position, which npy_file_order resolves. */
    enum npy_channels channels;
    struct npy_file like; /* type and shape of all files; the file itself is closed */
    uint32_t count;       /* samples of all files; `like` has the first file's dims[0] */
};

/* Some samples of the run, as stored in a file. */
struct array_block {
    const char *path; /* path of the file */
    const void *data;
    uint32_t at;    /* index of the first sample in the run */
    uint32_t count; /* samples */
};

/* Checks the files, whose names are listed in `text`. After OK call array_run_close. */
enum error array_run_open(struct array_run *run, const char *text, const char *key,
                          enum npy_channels channels, struct problem *problem) MUST_USE;

/* Reads samples from .. to-1 of the run, block by block, until `take` returns an error. */
enum error array_run_read(const struct array_run *run, uint32_t from, uint32_t to,
                          enum error (*take)(void *context, const struct array_block *block,
                                             struct problem *problem),
                          void *context, struct problem *problem) MUST_USE;

void array_run_close(struct array_run *run);

#endif
