/* Any file of data as one array of numbers, read sample by sample.
 *
 *   .npy, IDX, text, tokens ─ by how it begins ─► data_reader_open ─► type and dims ─► samples
 *
 * What is wrong with a file is found here, with the sentence that a node would give.
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
    const char *path; /* the caller's */
    union {
        struct npy_file npy;
        struct idx idx;
        struct token_file tokens; /* also of text */
    };
    char kind; /* of a number, as npy_file.h has it */
    int bytes; /* of a number */
    int rank;
    uint64_t dims[NPY_RANK_MAX]; /* dims[0] counts the samples */
    uint64_t size;               /* numbers of a sample */
    uint64_t left;               /* samples that were not read yet */
};

/* After OK the caller must data_reader_close. */
enum error data_reader_open(struct data_reader *reader, const char *path,
                            struct problem *problem) MUST_USE;

/* The next samples, as many as are left of `samples`; *got: how many. 0: the file was whole. */
enum error data_reader_next(struct data_reader *reader, void *to, uint64_t samples, uint64_t *got,
                            struct problem *problem) MUST_USE;

/* Number i of what was read. */
double data_reader_number(const struct data_reader *reader, const void *samples, uint64_t i);

/* "NumPy array of float32". */
const char *data_reader_describe(char out[static 64], const struct data_reader *reader);

void data_reader_close(struct data_reader *reader);

#endif
