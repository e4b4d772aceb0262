#include "data/device_dataset.h"

#include "base/error.h"

void shelf_init(struct shelf *shelf, struct backend *backend, const struct dataset *dataset,
                uint32_t batch_max)
{
    CHECK(dataset->count > 0 && batch_max > 0);
    const size_t sample_size = shape_size(dataset->shape);
    const size_t bytes = dataset->count * sample_size;
    *shelf = (struct shelf){
        .backend = backend,
        .labels = backend->take(backend, dataset->count),
        .count = dataset->count,
        .sample_size = sample_size,
        .mean = dataset->mean,
        .scale = dataset->scale,
        .batch_max = batch_max,
        .x = backend->take(backend, batch_max * sample_size * sizeof *shelf->x),
        .y = backend->take(backend, batch_max),
    };
    shelf->pixels = backend->keep(backend, dataset->pixels, bytes, &shelf->far);
    backend->upload(backend, shelf->labels, dataset->labels, dataset->count);
}

void shelf_gather(struct shelf *shelf, const uint32_t *pick, uint32_t size)
{
    CHECK(size <= shelf->batch_max);
    shelf->backend->gather(shelf->backend, (int)size, shelf->sample_size, shelf->pixels,
                           shelf->labels, pick, shelf->mean, shelf->scale, shelf->x, shelf->y);
}

void shelf_free(struct shelf *shelf)
{
    struct backend *backend = shelf->backend;
    backend->give(backend, shelf->pixels);
    backend->give(backend, shelf->labels);
    backend->give(backend, shelf->x);
    backend->give(backend, shelf->y);
}
