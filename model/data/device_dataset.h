/* A data set on the backend, and the batch that is gathered from it.
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
    void *data;              /* pixels or numbers [count, sample_size], or tokens */
    bool far;                /* the data lie in host memory (keep in backend.h) */
    int32_t *labels;         /* images: [count]; or NULL */
    float *targets;          /* [count, outputs]: numbers to be predicted; or NULL */
    uint32_t count;          /* samples */
    uint32_t stride;         /* places from a sample to the next (batch.h) */
    size_t sample_size;      /* numbers of a sample */
    size_t outputs;          /* numbers to be predicted of a sample; 0: it has a label */
    bool is_floats;          /* the numbers of the samples are taken as they are */
    int token_bytes;         /* of a token; 0: images */
    float mean;              /* a pixel is normalised as (pixel - mean) · scale */
    float scale;             /* 1 / deviation */
    uint32_t batch_max;      /* samples of a batch at most */
    float *x; /* [batch_max, sample_size]: the samples of the batch, normalised; or int32 tokens */
    int32_t *y;       /* [batch_max] or [batch_max, length]: their labels; or NULL */
    float *y_numbers; /* [batch_max, outputs]: what is to be predicted of them; or NULL */
};

/* The dataset, of at least one sample, is copied and can be freed afterwards. */
void device_dataset_init(struct device_dataset *set, struct backend *backend,
                         const struct dataset *dataset, uint32_t batch_max);

/* Gathers the samples at the places pick[0 .. size-1] into x and y. May be part of a sequence. */
void device_dataset_gather(struct device_dataset *set, const uint32_t *pick, uint32_t size);

void device_dataset_free(struct device_dataset *set);

#endif
