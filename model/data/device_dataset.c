#include "data/device_dataset.h"

#include "base/error.h"

void device_dataset_init(struct device_dataset *device_dataset, struct backend *backend,
                         const struct dataset *dataset, uint32_t batch_max)
{
    CHECK(dataset->count > 0 && batch_max > 0);
    const size_t sample_size = shape_size(dataset->shape);
    const size_t bytes = dataset->count * sample_size;
    *device_dataset = (struct device_dataset){
        .backend = backend,
        .labels = backend->take(backend, dataset->count),
        .count = dataset->count,
        .sample_size = sample_size,
        .mean = dataset->mean,
        .scale = dataset->scale,
        .batch_max = batch_max,
        .x = backend->take(backend, batch_max * sample_size * sizeof *device_dataset->x),
        .y = backend->take(backend, batch_max),
    };
    device_dataset->pixels = backend->keep(backend, dataset->pixels, bytes, &device_dataset->far);
    backend->upload(backend, device_dataset->labels, dataset->labels, dataset->count);
}

void device_dataset_gather(struct device_dataset *device_dataset, const uint32_t *pick,
                           uint32_t size)
{
    CHECK(size <= device_dataset->batch_max);
    device_dataset->backend->gather(device_dataset->backend, (int)size, device_dataset->sample_size,
                                    device_dataset->pixels, device_dataset->labels, pick,
                                    device_dataset->mean, device_dataset->scale, device_dataset->x,
                                    device_dataset->y);
}

void device_dataset_free(struct device_dataset *device_dataset)
{
    struct backend *backend = device_dataset->backend;
    backend->give(backend, device_dataset->pixels);
    backend->give(backend, device_dataset->labels);
    backend->give(backend, device_dataset->x);
    backend->give(backend, device_dataset->y);
}
