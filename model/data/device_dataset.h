/* A data set on the backend, and the batch that is read from it.
 *
 *   images     dataset ─upload─► pixels, labels ─ gather pick[size] ─► x[size, in], y[size]
 *              or numbers, or targets                                 or y_numbers[size, outputs]
 *   sequences  dataset ─upload─► tokens ─ gather pick[size] ─► x, y[size, length]
 *
 * Held by tests/unit/model/test_entries.c and test_device.c.
 */
#ifndef HEARSAY_MODEL_DATA_DEVICE_DATASET_H
#define HEARSAY_MODEL_DATA_DEVICE_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "data/dataset.h"

struct device_dataset {
    struct backend *backend; /* lent */
    void *data;              /* pixels or numbers [count, sample_size], or tokens, on the backend */
    bool far;                /* the data are in host memory (keep in backend.h) */
    int32_t *labels;         /* [count] labels of images; NULL = none */
    float *targets;          /* [count, outputs] numbers to predict; NULL = none */
    uint32_t count;          /* samples */
    uint32_t stride;         /* positions from one sample to the next (batch.h) */
    size_t sample_size;      /* numbers per sample */
    size_t outputs;          /* targets per sample; 0 = samples have labels */
    bool is_floats;          /* samples are floats and used unchanged */
    int token_bytes;         /* bytes per token; 0 = images */
    /* Mean of the pixels: a pixel is normalised as (pixel - mean) · scale. */
    float mean;
    float scale;        /* 1 / deviation */
    uint32_t batch_max; /* largest number of samples in a batch */
    float *x;   /* [batch_max, sample_size] normalised samples of the batch, or int32 tokens */
    int32_t *y; /* [batch_max] or [batch_max, length] labels of the batch; NULL = none */
    float *y_numbers; /* [batch_max, outputs] targets of the batch; NULL = none */
};

/* Copies a dataset of at least one sample, which can be freed afterwards. */
void device_dataset_init(struct device_dataset *set, struct backend *backend,
                         const struct dataset *dataset, uint32_t batch_max);

/* Reads the samples with numbers pick[0 .. size-1] into x and y. May be part of a recorded
 * graph. */
void device_dataset_gather(struct device_dataset *set, const uint32_t *pick, uint32_t size);

void device_dataset_free(struct device_dataset *set);

#endif
