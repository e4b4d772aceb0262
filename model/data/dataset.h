/* Samples as bytes, with labels: from IDX files (plain or gzip) or made by seed.
 *
 *   idx        a folder with {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz]; images with
 *              channels: -images-idx4-
 *   generated  28x28 digits drawn with strokes, distorted, with noise; by seed
 *   xor        the four cases of exclusive or, two inputs; every shard holds all four, and they
 *              are the test set too
 *
 * The pixels stay bytes; a batch is normalised as it is gathered: (pixel - mean) · scale, where
 * mean and scale = 1/deviation are those of the whole training set (before sharding), so that
 * every node sees the same numbers. (generated: those of the first DATASET_TALLIED training
 * samples, so that a shard is made without making the rest.) Where all pixels are equal scale is 1.
 * Held by tests/unit/model/test_dataset.c.
 */
#ifndef HEARSAY_MODEL_DATA_DATASET_H
#define HEARSAY_MODEL_DATA_DATASET_H

#include <stdint.h>

#include "base/error.h"
#include "base/shape.h"

#define DATASET_TALLIED 1000

enum dataset_source { DATASET_IDX, DATASET_GENERATED, DATASET_XOR };

struct dataset {
    uint8_t *pixels;    /* [count, channels·height·width] */
    uint8_t *labels;    /* [count], below classes */
    uint32_t count;     /* samples */
    struct shape shape; /* of a sample */
    int classes;        /* highest label in the whole file + 1, at least 2 */
    float mean;         /* of the bytes, 0 .. 255 */
    float scale;        /* 1 / deviation of the bytes */
};

struct dataset_options {
    enum dataset_source source;
    const char *directory; /* idx */
    uint64_t seed;         /* generated; and the sharding */
    uint32_t train_count;  /* generated: how many training samples */
    uint32_t test_count;   /* generated */
    uint32_t shard;        /* number of the slice that is kept, from 0 */
    uint32_t shards;       /* how many slices there are; 1: everything is kept */
};

/* The training samples of this shard: a permutation by seed, cut in `shards` slices whose sizes
 * differ by at most one; the slices are disjoint and cover everything. Only the shard is held, in
 * the order of the file. MISMATCH: no such shard, or more shards than samples. */
enum error dataset_load_train(struct dataset *dataset, const struct dataset_options *options,
                              struct problem *problem) MUST_USE;

/* All test samples, in the order of the file; mean and scale are left 0 (use the training set's,
 * or those saved with a model). Its classes may not be the training set's: compare them. */
enum error dataset_load_test(struct dataset *dataset, const struct dataset_options *options,
                             struct problem *problem) MUST_USE;

void dataset_free(struct dataset *dataset);

#endif
