/* One array in NumPy's format, .npy, read from its first sample to its last.
 *
 *   OFFSET  SIZE MEANING
 *        0     6 93 hexadecimal, "NUMPY"
 *        6     2 version: 1, 2 or 3, and 0
 *        8 2 | 4 length of the header: 2 bytes in version 1, 4 in the others, little-endian
 *              … a Python dictionary in blanks: {'descr': '<f4', 'fortran_order': False,
 *                'shape': (60000, 28, 28), }
 *              … the numbers, the last dimension's side by side
 *
 * (numpy.lib.format; NumPy enhancement proposal 1.) The first dimension counts samples. Nothing is
 * believed: a file that is shorter or longer than it says is refused. float64, NumPy's default, is
 * read as float32. Images with their channels last, as PIL, OpenCV and Keras have them, are read
 * with their channels first (npy_file_order). Held by tests/unit/model/test_npy_file.c, and by
 * tests/process/test_numpy.py with NumPy's own files.
 */
#ifndef HEARSAY_MODEL_DATA_NPY_FILE_H
#define HEARSAY_MODEL_DATA_NPY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define NPY_RANK_MAX   64 /* NumPy's own bound */
#define NPY_NAME_BYTES 16

/* Which dimension of a sample of three holds the channels of an image. */
enum npy_channels {
    NPY_CHANNELS_AUTO, /* the last one, where it can be no width; where it may be one, ask */
    NPY_CHANNELS_FIRST,
    NPY_CHANNELS_LAST
};

struct npy_file {
    const char *path; /* the caller's */
    int fd;
    char kind;                   /* of a number: 'b' bool, 'u', 'i' or 'f', which is of 4 bytes */
    int bytes;                   /* of a number as it is read: 1, 2, 4 or 8, little-endian */
    int stored_bytes;            /* of a number in the file: of float64, 8 */
    bool channels_last;          /* the file has the channels last; dims has them first */
    int rank;                    /* 1 .. NPY_RANK_MAX */
    uint64_t dims[NPY_RANK_MAX]; /* each at least 1; dims[0] counts the samples */
    uint64_t size;               /* numbers of a sample */
    uint64_t at;                 /* samples read so far */
};

/* Opens the file at its first sample. After OK the caller must npy_file_close; after anything else
 * there is nothing to close. */
enum error npy_file_open(struct npy_file *file, const char *path, struct problem *problem) MUST_USE;

/* Finds where the channels are, and has dims and the samples read from now on with the channels
 * first. MISMATCH: `channels` is AUTO and both readings are likely, which the sentence asks about.
 */
enum error npy_file_order(struct npy_file *file, enum npy_channels channels,
                          struct problem *problem) MUST_USE;

/* The next `samples` of those that are left. */
enum error npy_file_read(struct npy_file *file, void *to, uint64_t samples,
                         struct problem *problem) MUST_USE;

/* Leaves out the next `samples`, fewer than are left. */
enum error npy_file_skip(struct npy_file *file, uint64_t samples, struct problem *problem) MUST_USE;

/* What NumPy calls the type: "uint8". */
const char *npy_file_type(char out[static NPY_NAME_BYTES], const struct npy_file *file);

void npy_file_close(struct npy_file *file);

#endif
