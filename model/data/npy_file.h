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
 * (numpy.lib.format; NumPy enhancement proposal 1.) The first dimension counts samples. A file that
 * is shorter or longer than its header says is refused. float64, NumPy's default, is read as
 * float32. Images with their channels last, as PIL, OpenCV and Keras have them, are read with their
 * channels first (npy_file_order). Held by tests/unit/model/test_npy_file.c, and by
 * tests/process/test_numpy.py with NumPy's own files.
 */
#ifndef HEARSAY_MODEL_DATA_NPY_FILE_H
#define HEARSAY_MODEL_DATA_NPY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define NPY_RANK_MAX   64 /* largest rank that NumPy allows */
#define NPY_NAME_BYTES 16

/* Position of the channels in a sample of three dimensions. */
enum npy_channels {
    NPY_CHANNELS_AUTO, /* last if that dimension cannot be a width; an error if it may be one */
    NPY_CHANNELS_FIRST,
    NPY_CHANNELS_LAST
};

struct npy_file {
    const char *path; /* belongs to the caller */
    int fd;
    char kind;                   /* kind of number: 'b' bool, 'u', 'i', or 'f' for 4 bytes */
    int bytes;                   /* bytes per number as read: 1, 2, 4 or 8, little-endian */
    int stored_bytes;            /* bytes per number in the file; 8 for float64 */
    bool channels_last;          /* the file has the channels last; dims has them first */
    int rank;                    /* number of dimensions, 1 .. NPY_RANK_MAX */
    uint64_t dims[NPY_RANK_MAX]; /* each at least 1; dims[0] counts the samples */
    uint64_t size;               /* numbers per sample */
    uint64_t at;                 /* samples read so far */
};

/* Opens the file at its first sample. After OK the caller must call npy_file_close; after an error
 * there is nothing to close. */
enum error npy_file_open(struct npy_file *file, const char *path, struct problem *problem) MUST_USE;

/* Determines the position of the channels; from now on dims and samples have the channels first.
 * MISMATCH: `channels` is AUTO and both readings are plausible; the sentence asks which one is
 * right. */
enum error npy_file_order(struct npy_file *file, enum npy_channels channels,
                          struct problem *problem) MUST_USE;

/* Reads the next `samples` samples, at most those that are left. */
enum error npy_file_read(struct npy_file *file, void *to, uint64_t samples,
                         struct problem *problem) MUST_USE;

/* Skips the next `samples` samples, fewer than are left. */
enum error npy_file_skip(struct npy_file *file, uint64_t samples, struct problem *problem) MUST_USE;

/* Writes NumPy's name of the type, such as "uint8", and returns out. */
const char *npy_file_type(char out[static NPY_NAME_BYTES], const struct npy_file *file);

void npy_file_close(struct npy_file *file);

#endif
