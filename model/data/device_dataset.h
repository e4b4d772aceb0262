/* A data set on the backend, and the batch that is gathered from it.
 *
 *   dataset ─upload─► pixels, labels ─ pick[size] ─► x[size, in], y[size]
 */
#ifndef HEARSAY_MODEL_DATA_DEVICE_DATASET_H
#define HEARSAY_MODEL_DATA_DEVICE_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/backend.h"
#include "data/dataset.h"

struct device_dataset {
    struct backend *backend;
    uint8_t *pixels;
    bool far; /* the pixels are in memory of the host (backend.h) */
    uint8_t *labels;
    uint32_t count;
    size_t sample_size;
    float mean;
    float scale;
    uint32_t batch_max;
    float *x;   /* [batch_max, in]: the samples of the batch, normalised */
    uint8_t *y; /* [batch_max]: their labels */
};

/* The dataset, of at least one sample, is copied and can be freed afterwards. */
void device_dataset_init(struct device_dataset *device_dataset, struct backend *backend,
                         const struct dataset *dataset, uint32_t batch_max);

/* The samples pick[0 .. size-1], which lie on the backend, too, into x and y. May be part of a
 * sequence. */
void device_dataset_gather(struct device_dataset *device_dataset, const uint32_t *pick,
                           uint32_t size);

void device_dataset_free(struct device_dataset *device_dataset);

#endif
