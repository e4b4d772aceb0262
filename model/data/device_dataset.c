#include "data/device_dataset.h"

#include "base/error.h"

static void keep_data(struct device_dataset *set, const struct dataset *dataset)
{
    struct backend *backend = set->backend;
    if (dataset->tokens) {
        const size_t bytes = dataset->tokens_count * (size_t)dataset->token_bytes;
        CHECK(dataset->count * (size_t)set->stride < dataset->tokens_count);
        set->data = backend->keep(backend, dataset->tokens, bytes, &set->far);
        return;
    }
    set->data =
        backend->keep(backend, dataset->pixels, dataset->count * set->sample_size, &set->far);
    set->labels = backend->take(backend, dataset->count * sizeof *set->labels);
    backend->upload(backend, set->labels, dataset->labels, dataset->count * sizeof *set->labels);
}

void device_dataset_init(struct device_dataset *set, struct backend *backend,
                         const struct dataset *dataset, uint32_t batch_max)
{
    CHECK(dataset->count > 0 && batch_max > 0);
    const size_t sample_size = shape_size(dataset->shape);
    *set = (struct device_dataset){
        .backend = backend,
        .count = dataset->count,
        .stride = dataset_stride(dataset),
        .sample_size = sample_size,
        .token_bytes = dataset->tokens ? dataset->token_bytes : 0,
        .mean = dataset->mean,
        .scale = dataset->scale,
        .batch_max = batch_max,
        .x = backend->take(backend, batch_max * sample_size * sizeof *set->x),
    };
    set->y = backend->take(backend, batch_max * (size_t)set->stride * sizeof *set->y);
    keep_data(set, dataset);
}

void device_dataset_gather(struct device_dataset *set, const uint32_t *pick, uint32_t size)
{
    struct backend *backend = set->backend;
    const struct gather_operations *gather = &backend->gather;
    CHECK(size <= set->batch_max);
    if (set->token_bytes > 0) {
        gather->tokens(backend, (int)size, (int)set->stride, set->token_bytes, set->data, pick,
                       (int32_t *)(void *)set->x, set->y);
        return;
    }
    gather->pixels(backend, (int)size, set->sample_size, set->data, pick, set->mean, set->scale,
                   set->x);
    gather->rows(backend, (int)size, 1, set->labels, pick, set->y);
}

void device_dataset_free(struct device_dataset *set)
{
    struct backend *backend = set->backend;
    backend->give(backend, set->data);
    if (set->labels)
        backend->give(backend, set->labels);
    backend->give(backend, set->x);
    backend->give(backend, set->y);
}
