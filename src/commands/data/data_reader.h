/* Reads any data file as one array of numbers, sample by sample.
 *
 *   .npy, IDX, text, tokens ─ type by name and first bytes ─► data_reader_open ─► dims ─► samples
 *
 * Reports errors in a file with the sentences that a node prints for them.
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
    const char *path; /* the caller keeps it valid */
    union {
        struct npy_file npy;
        struct idx idx;
        struct token_file tokens; /* open file of format DATA_TEXT or DATA_TOKENS */
    };
    char kind; /* type letter of a number in NumPy's notation, such as 'f' or 'u' (npy_file.h) */
    int bytes; /* bytes per number */
    int rank;
    uint64_t dims[NPY_RANK_MAX]; /* dimensions; dims[0] is the number of samples */
    uint64_t size;               /* numbers per sample */
    uint64_t left;               /* samples that have not been read yet; not used for IDX */
};

/* After OK the caller must call data_reader_close. */
enum error data_reader_open(struct data_reader *reader, const char *path,
                            struct problem *problem) MUST_USE;

/* Reads the next `samples` samples, or fewer at the end of the file. Sets *got to the number of
 * samples read; 0 = end of the file. */
enum error data_reader_next(struct data_reader *reader, void *to, uint64_t samples, uint64_t *got,
                            struct problem *problem) MUST_USE;

/* Returns number i (from 0) of a block of samples that data_reader_next has read. */
double data_reader_number(const struct data_reader *reader, const void *samples, uint64_t i);

/* Writes the type of the array, such as "NumPy array of float32", and returns out. */
const char *data_reader_describe(char out[static 64], const struct data_reader *reader);

void data_reader_close(struct data_reader *reader);

#endif
