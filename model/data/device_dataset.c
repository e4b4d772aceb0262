#include "data/device_dataset.h"

#include "base/error.h"

static void *copy_of(struct backend *backend, const void *host_from, size_t bytes)
{
    void *copy = backend->alloc(backend, bytes);
    backend->upload(backend, copy, host_from, bytes);
    return copy;
}

static void keep_tokens(struct device_dataset *set, const struct dataset *dataset)
{
    const size_t bytes = dataset->tokens_count * (size_t)dataset->token_bytes;
    CHECK(dataset->count * (size_t)set->stride < dataset->tokens_count);
    set->data = set->backend->keep(set->backend, dataset->tokens, bytes, &set->far);
}

static void keep_samples(struct device_dataset *set, const struct dataset *dataset)
{
    struct backend *backend = set->backend;
    const size_t count = dataset->count;
    CHECK(!dataset->pixels != !dataset->numbers && !dataset->labels != !dataset->targets);
    if (dataset->numbers)
        set->data = backend->keep(backend, dataset->numbers,
                                  count * set->sample_size * sizeof(float), &set->far);
    else
        set->data = backend->keep(backend, dataset->pixels, count * set->sample_size, &set->far);
    if (dataset->targets)
        set->targets = copy_of(backend, dataset->targets, count * set->outputs * sizeof(float));
    else
        set->labels = copy_of(backend, dataset->labels, count * sizeof *set->labels);
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
        .outputs = dataset_is_regression(dataset) ? (size_t)dataset->classes : 0,
        .is_floats = dataset->numbers != NULL,
        .token_bytes = dataset->tokens ? dataset->token_bytes : 0,
        .mean = dataset->mean,
        .scale = dataset->scale,
        .batch_max = batch_max,
        .x = backend->alloc(backend, batch_max * sample_size * sizeof *set->x),
    };
    if (set->outputs > 0)
        set->y_numbers = backend->alloc(backend, batch_max * set->outputs * sizeof *set->y_numbers);
    else
        set->y = backend->alloc(backend, batch_max * (size_t)set->stride * sizeof *set->y);
    if (dataset->tokens)
        keep_tokens(set, dataset);
    else
        keep_samples(set, dataset);
}

void device_dataset_gather(struct device_dataset *set, const uint32_t *pick, uint32_t size)
{
    struct backend *backend = set->backend;
    const struct gather_operations *gather = backend->gather;
    const int batch = (int)size;
    CHECK(size <= set->batch_max);
    if (set->token_bytes > 0) {
        gather->tokens(backend, batch, (int)set->stride, set->token_bytes, set->data, pick,
                       (int32_t *)(void *)set->x, set->y);
        return;
    }
    if (set->is_floats)
        gather->rows(backend, batch, set->sample_size, set->data, pick, set->x);
    else
        gather->pixels(backend, batch, set->sample_size, set->data, pick, set->mean, set->scale,
                       set->x);
    if (set->outputs > 0)
        gather->rows(backend, batch, set->outputs, set->targets, pick, set->y_numbers);
    else
        gather->rows(backend, batch, 1, set->labels, pick, set->y);
}

void device_dataset_free(struct device_dataset *set)
{
    struct backend *backend = set->backend;
    void *const taken[] = {set->data, set->labels, set->targets, set->x, set->y, set->y_numbers};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (taken[i])
            backend->free(backend, taken[i]);
}
