#include "data/device_dataset.h"

#include "base/error.h"

void device_dataset_init(struct device_dataset *set, struct backend *backend,
                         const struct dataset *dataset, uint32_t batch_max)
{
    CHECK(dataset->count > 0 && batch_max > 0);
    const size_t sample_size = shape_size(dataset->shape);
    const size_t bytes = dataset->count * sample_size;
    *set = (struct device_dataset){
        .backend = backend,
        .labels = backend->take(backend, dataset->count),
        .count = dataset->count,
        .sample_size = sample_size,
        .mean = dataset->mean,
        .scale = dataset->scale,
        .batch_max = batch_max,
        .x = backend->take(backend, batch_max * sample_size * sizeof *set->x),
        .y = backend->take(backend, batch_max),
    };
    set->pixels = backend->keep(backend, dataset->pixels, bytes, &set->far);
    backend->upload(backend, set->labels, dataset->labels, dataset->count);
}

void device_dataset_gather(struct device_dataset *set, const uint32_t *pick, uint32_t size)
{
    CHECK(size <= set->batch_max);
    set->backend->gather(set->backend, (int)size, set->sample_size, set->pixels, set->labels, pick,
                         set->mean, set->scale, set->x, set->y);
}

void device_dataset_free(struct device_dataset *set)
{
    struct backend *backend = set->backend;
    backend->give(backend, set->pixels);
    backend->give(backend, set->labels);
    backend->give(backend, set->x);
    backend->give(backend, set->y);
}
