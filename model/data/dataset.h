/* Samples, and what is to be predicted of them: images and tables with a label or some numbers
 * each, from files or made by seed; or sequences of tokens, from files.
 *
 *   idx        a folder with {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]; images with
 *              channels: -images-idx4-
 *   npy        NumPy's arrays of any rank; labels, or numbers to be predicted (arrays.h)
 *   generated  28x28 digits drawn with strokes, distorted, with noise; by seed
 *   xor        the four cases of exclusive or, two inputs; every shard holds all four, and they
 *              are the test set too
 *   text       sequences: the bytes of files
 *   tokens     sequences: numbers in files (token_file.h)
 *
 * How sequences are cut into training, test and shards: sequences.h. They are not normalised.
 *
 * Samples that are floats stay as they are. Pixels stay bytes; a batch is normalised as it is
 * gathered: (pixel - mean) · scale, where mean and scale = 1/deviation are those of the whole
 * training set (before sharding), so that every node sees the same numbers. (generated: those of
 * the first DATASET_TALLIED training samples, so that a shard is made without making the rest.)
 * Where all pixels are equal scale is 1. Held by tests/unit/model/test_dataset.c.
 */
#ifndef HEARSAY_MODEL_DATA_DATASET_H
#define HEARSAY_MODEL_DATA_DATASET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"
#include "data/npy_file.h"

#define DATASET_TALLIED     1000
#define DATASET_CONTEXT_MIN 2
#define DATASET_CONTEXT_MAX 65536
#define DATASET_TOKENS_MAX  1000000 /* different ones, at most */

enum dataset_source {
    DATASET_IDX,
    DATASET_NPY,
    DATASET_GENERATED,
    DATASET_XOR,
    DATASET_TEXT,
    DATASET_TOKENS,
};

/* The content of npy's y, as configured. */
enum dataset_task {
    DATASET_TASK_AUTO, /* classes, if it holds integers or looks like classes (arrays.h) */
    DATASET_CLASSES,   /* labels of classes */
    DATASET_NUMBERS    /* numbers to be predicted */
};

/* The content of y, as it was read. */
enum dataset_look {
    LOOK_LABELS,       /* labels: integers, or as the task says */
    LOOK_FLOAT_LABELS, /* labels, since these float64 look like classes */
    LOOK_NUMBERS,      /* numbers to be predicted */
    LOOK_WHOLE_NUMBERS /* numbers, since they are float32; but they look like classes */
};

struct dataset {
    uint8_t *pixels; /* images of bytes: [count, channels·height·width]; else NULL */
    float *numbers;  /* images and tables of floats: the same; else NULL */
    int32_t *labels; /* of those two: [count], below classes; NULL: targets instead */
    float *targets;  /* [count, classes]: numbers to be predicted; else NULL */
    void *tokens;    /* sequences: [tokens_count], one after the other, each below classes */
    size_t tokens_count;
    int token_bytes;    /* of a token: 1, 2 or 4, without sign, as the machine has them */
    uint32_t count;     /* samples; of sequences, windows of `length` tokens end to end */
    struct shape shape; /* of a sample */
    int classes;        /* highest label or token in the whole file + 1, at least 2; or targets */
    float mean;         /* of the bytes, 0 .. 255 */
    float scale;        /* 1 / deviation of the bytes */
    bool channels_last; /* the file has the channels last; pixels and numbers have them first */
    enum dataset_look look; /* of npy: what y was taken for */
};

struct dataset_options {
    enum dataset_source source;
    const char *directory;       /* idx */
    const char *files;           /* text, tokens: a list of names and patterns (file_list.h) */
    const char *valid;           /* the same for the test; NULL or "": the last tenth of files is */
    const char *x, *y;           /* npy: lists of files of samples, and of labels or targets */
    const char *test_x, *test_y; /* the same for the test; NULL or "": the last tenth is */
    enum dataset_task task;      /* npy: what y holds */
    enum npy_channels channels;  /* npy: which dimension of x holds the channels */
    uint32_t context;            /* text, tokens: of a sample, DATASET_CONTEXT_MIN .. _MAX */
    uint64_t seed;               /* generated; and the sharding */
    uint32_t train_count;        /* generated: how many training samples */
    uint32_t test_count;         /* generated */
    uint32_t shard;              /* number of the slice that is kept, from 0 */
    uint32_t shards;             /* how many slices there are; 1: everything is kept */
};

/* The training samples of this shard. Of images: a permutation by seed, cut in `shards` slices
 * whose sizes differ by at most one, in the order of the file; of sequences: one of `shards` pieces
 * of the run of tokens. The slices are disjoint and cover everything. Only the shard is held.
 * MISMATCH: no such shard, or more shards than samples. */
enum error dataset_load_train(struct dataset *dataset, const struct dataset_options *options,
                              struct problem *problem) MUST_USE;

/* All test samples, in the order of the file; mean and scale are left 0 (use the training set's,
 * or those saved with a model). Its classes may not be the training set's: compare them. */
enum error dataset_load_test(struct dataset *dataset, const struct dataset_options *options,
                             struct problem *problem) MUST_USE;

void dataset_free(struct dataset *dataset);

static inline bool dataset_is_sequences(enum dataset_source source)
{
    return source == DATASET_TEXT || source == DATASET_TOKENS;
}

/* The samples are to be predicted as numbers: the error counts, not how many are right. */
static inline bool dataset_is_regression(const struct dataset *dataset)
{
    return dataset->targets != NULL;
}

/* Bytes of the samples with what is to be learned of them. */
static inline uint64_t dataset_bytes(const struct dataset *dataset)
{
    const size_t numbers = shape_size(dataset->shape);
    const size_t sample = dataset->pixels ? numbers : numbers * sizeof(float);
    const size_t wanted = dataset->targets ? (size_t)dataset->classes : 1;
    return dataset->tokens ? (uint64_t)dataset->tokens_count * (uint64_t)dataset->token_bytes
                           : (uint64_t)dataset->count * (sample + wanted * sizeof(float));
}

/* Places from a sample to the next: 1, or the tokens of a window. */
static inline uint32_t dataset_stride(const struct dataset *dataset)
{
    return dataset->shape.length > 0 ? (uint32_t)dataset->shape.length : 1;
}

#endif
