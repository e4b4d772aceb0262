/* A data set on the backend, and the batch that is read from it.
 *
 *   images     dataset ─upload─► pixels, labels ─ gather pick[size] ─► x[size, in], y[size]
 *              or numbers, or targets                                 or y_numbers[size, outputs]
 *   sequences  dataset ─upload─► tokens ─ gather pick[size] ─► x, y[size, length]
 *
 * Tests: tests/unit/model/test_entries.c and test_device.c.
 */
#ifndef HEARSAY_MODEL_DATA_DEVICE_DATASET_H
#define HEARSAY_MODEL_DATA_DEVICE_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "data/dataset.h"

struct device_dataset {
    struct backend *backend; /* belongs to the caller */
    /* [count, sample_size] pixels or floats, or all tokens, in memory that the backend can read */
    void *data;
    /* `data` is in host memory, because the device has no space (backend.h, keep) */
    bool far;
    int32_t *labels; /* [count] labels; NULL with targets or tokens */
    float *targets;  /* [count, outputs] numbers to predict; NULL with labels or tokens */
    uint32_t count;
    uint32_t stride;    /* distance between the positions of two samples (batch.h) */
    size_t sample_size; /* numbers per sample */
    size_t outputs;     /* targets per sample; 0 = samples have labels or are tokens */
    bool is_floats;     /* samples are floats, which are not normalised */
    int token_bytes;    /* bytes per token; 0 = samples are no sequences */
    /* mean and scale of the dataset: a pixel is normalised as (pixel - mean) · scale. */
    float mean;
    float scale; /* 1 if samples are no pixels */
    uint32_t batch_max;
    float *x; /* [batch_max, sample_size] samples of the batch: floats, or int32 tokens */
    /* [batch_max] labels or [batch_max, length] next tokens of the batch; NULL with targets */
    int32_t *y;
    float *y_numbers; /* [batch_max, outputs] targets of the batch; NULL without targets */
};

/* Copies a dataset to the backend. The dataset has at least one sample; the caller may free it
 * afterwards. */
void device_dataset_init(struct device_dataset *set, struct backend *backend,
                         const struct dataset *dataset, uint32_t batch_max);

/* Copies the samples at positions pick[size] to x, and their labels or targets to y or y_numbers.
 * pick is in the backend's memory. Calls may be recorded in a graph. */
void device_dataset_gather(struct device_dataset *set, const uint32_t *pick, uint32_t size);

void device_dataset_free(struct device_dataset *set);

#endif
