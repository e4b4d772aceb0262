/* One array in NumPy's format, .npy, read from its first sample to its last.
 *
 *   OFFSET  SIZE MEANING
 *        0     6 93 hexadecimal, "NUMPY"
 *        6     2 version: 1, 2 or 3, and 0
 *        8 2 | 4 bytes of the header: a number of 2 bytes in version 1, else of 4, little-endian
 *              … the header, a Python dictionary: {'descr': '<f4', 'fortran_order': False,
 *                'shape': (60000, 28, 28), }
 *              … the numbers, row major
 *
 * (numpy.lib.format; NumPy enhancement proposal 1.) The first dimension counts samples. A file that
 * is shorter or longer than its header says is refused. float64, NumPy's default, is read as
 * float32. Images with their channels last, as PIL, OpenCV and Keras have them, are read with their
 * channels first (npy_file_order). Tests: tests/unit/model/test_npy_file.c and, with
 * NumPy's own files, tests/process/test_numpy.py.
 */
#ifndef HEARSAY_MODEL_DATA_NPY_FILE_H
#define HEARSAY_MODEL_DATA_NPY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define NPY_RANK_MAX   64 /* maximum number of dimensions that NumPy allows */
#define NPY_NAME_BYTES 16

/* Which dimension of a sample with three dimensions counts the channels. */
enum npy_channels {
    NPY_CHANNELS_AUTO, /* npy_file_order decides by the shape, or asks the user */
    NPY_CHANNELS_FIRST,
    NPY_CHANNELS_LAST
};

struct npy_file {
    const char *path; /* not copied; belongs to the caller */
    int fd;
    char kind; /* number type: 'b' bool, 'u' unsigned, 'i' signed, 'f' float */
    /* bytes per number that npy_file_read gives: 1, 2, 4 or 8; little-endian */
    int bytes;
    /* bytes per number in the file; 8 for float64, although `bytes` is 4; otherwise equal to
     * `bytes` */
    int stored_bytes;
    /* the file has the channels last; dims and npy_file_read have them first */
    bool channels_last;
    int rank;
    /* sizes of the dimensions, each at least 1; dims[0] counts the samples */
    uint64_t dims[NPY_RANK_MAX];
    uint64_t stored_dims[NPY_RANK_MAX]; /* dims in the order of the file */
    uint64_t size;                      /* numbers per sample */
    uint64_t at;                        /* samples read so far */
};

/* Opens the file, checks its header and length, and moves to its first sample. After OK the caller
 * must call npy_file_close; after an error there is nothing to close. */
enum error npy_file_open(struct npy_file *file, const char *path, struct problem *problem) MUST_USE;

/* Determines whether the file has the channels last. If so, changes dims to channels first, and
 * npy_file_read reorders samples. Call it once, before the first read. MISMATCH: `channels` is AUTO
 * and the shape fits both orders; the message asks for data.channels. */
enum error npy_file_order(struct npy_file *file, enum npy_channels channels,
                          struct problem *problem) MUST_USE;

/* Copies the next `samples` samples to `to`. `samples` may be at most the number left in the file.
 * MALFORMED: the file became shorter. */
enum error npy_file_read(struct npy_file *file, void *to, uint64_t samples,
                         struct problem *problem) MUST_USE;

/* Skips the next `samples` samples. `samples` must be below the number left in the file. */
enum error npy_file_skip(struct npy_file *file, uint64_t samples, struct problem *problem) MUST_USE;

/* Writes NumPy's name of the file's number type, such as "uint8", to `out` and returns out. */
const char *npy_file_type(char out[static NPY_NAME_BYTES], const struct npy_file *file);

void npy_file_close(struct npy_file *file);

#endif
