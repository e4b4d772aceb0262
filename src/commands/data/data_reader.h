/* Reads any data file as one array of numbers, sample by sample.
 *
 *   .npy, IDX, text, tokens ─ by how it begins ─► data_reader_open ─► type and dims ─► samples
 *
 * Errors in a file are found here, with the same sentences that a node reports.
 */
#ifndef HEARSAY_COMMANDS_DATA_DATA_READER_H
#define HEARSAY_COMMANDS_DATA_DATA_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/idx.h"
#include "data/npy_file.h"
#include "data/token_file.h"

enum data_format { DATA_NPY, DATA_IDX, DATA_TEXT, DATA_TOKENS };

struct data_reader {
    enum data_format format;
    const char *path; /* path of the file; belongs to the caller */
    union {
        struct npy_file npy;
        struct idx idx;
        struct token_file tokens; /* the tokens, also those of text */
    };
    char kind; /* type letter of a number, as in npy_file.h */
    int bytes; /* bytes per number */
    int rank;
    uint64_t dims[NPY_RANK_MAX]; /* dimensions; dims[0] is the number of samples */
    uint64_t size;               /* numbers per sample */
    uint64_t left;               /* samples that were not read yet */
};

/* Opens a file. After OK the caller must call data_reader_close. */
enum error data_reader_open(struct data_reader *reader, const char *path,
                            struct problem *problem) MUST_USE;

/* Reads the next `samples` samples, or as many as are left, and sets *got to their number; 0 = the
 * file was read completely. */
enum error data_reader_next(struct data_reader *reader, void *to, uint64_t samples, uint64_t *got,
                            struct problem *problem) MUST_USE;

/* Returns number i of the samples that were read. */
double data_reader_number(const struct data_reader *reader, const void *samples, uint64_t i);

/* Writes the type of the array, such as "NumPy array of float32", and returns out. */
const char *data_reader_describe(char out[static 64], const struct data_reader *reader);

void data_reader_close(struct data_reader *reader);

#endif
