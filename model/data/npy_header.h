/* The dictionary in the header of a .npy file: text that Python would read as a dictionary with the
 * three keys descr, fortran_order and shape, in any order. Private to npy_file.c. */
#ifndef HEARSAY_MODEL_DATA_NPY_HEADER_H
#define HEARSAY_MODEL_DATA_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/npy_file.h"

#define NPY_DESCR_BYTES 32

struct npy_header {
    /* number type, such as "<f4"; "" = records of several fields */
    char descr[NPY_DESCR_BYTES];
    bool fortran_order;
    int rank;
    uint64_t dims[NPY_RANK_MAX];
};

/* Parses the dictionary text[length]. Returns false if it is malformed or lacks one of the three
 * keys. */
bool npy_header_parse(struct npy_header *header, const char *text, size_t length) MUST_USE;

#endif
