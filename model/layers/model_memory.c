/* Allocates a model's memory for a batch: activations, kept tensors, gradients, scratch buffers.
 *
 * A model that recomputes keeps, of each outermost residual, only the input and the output. The
 * backward pass computes the activations inside a residual again (Chen et al. 2016). All residuals
 * share the memory for these activations:
 *
 *   x ─► [ inside ] ─► x ─► [ inside ] ─► x      kept: x
 *            └──── shared ─────┘
 */
#include "layers/model_private.h"

#define ALIGNED 256 /* alignment of buffers that devices require, in bytes */

/* Largest buffers that any layer needs, per sample. */
struct widest {
    size_t outputs; /* numbers in the largest output, except the last layer's */
    size_t scratch; /* bytes of the largest scratch buffer */
};

static struct widest find_widest(const struct model *model)
{
    struct widest widest = {0};
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        const size_t outputs = shape_size(layer->out);
        if (i + 1 < model->count && outputs > widest.outputs)
            widest.outputs = outputs;
        widest.scratch = size_max(layer->scratch_bytes, widest.scratch);
    }
    return widest;
}

/* Returns the bytes of the copy of the weights in the type of the activations; 0 for float32. */
static size_t rounded_bytes(const struct model *model)
{
    return model->type == FLOAT32 ? 0 : model->trained * number_bytes(model->type);
}

static bool is_shared(const struct model *model, const struct layer *layer)
{
    return model->recomputes && layer->depth > 0;
}

/* Returns the bytes of a layer's output for a batch. The last layer's output has at most
 * logits_max samples. */
static size_t output_bytes(const struct model *model, const struct layer *layer, int batch)
{
    const bool is_last = layer == &model->layers[model->count - 1];
    const int samples = is_last && model->logits_max < batch ? model->logits_max : batch;
    const size_t rows = (size_t)samples * shape_positions(layer->out);
    if (!layer_has_output(layer))
        return 0;
    if (layer->kind == &layer_logits)
        return rows * logits_stride(layer->out.channels) * sizeof(float);
    return (size_t)samples * shape_size(layer->out) * number_bytes(layer->y.type);
}

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

static size_t layer_bytes(const struct model *model, const struct layer *layer, int batch)
{
    size_t bytes = aligned(output_bytes(model, layer, batch));
    for (int k = 0; k < LAYER_KEPT_MAX; k++)
        bytes += aligned((size_t)batch * layer->kept_bytes[k]);
    return bytes;
}

/* Returns the bytes of the activations inside the largest residual block, or 0 if the model does
 * not recompute activations. */
static size_t shared_bytes(const struct model *model, int batch)
{
    size_t most = 0, inside = 0;
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        inside = is_shared(model, layer) ? inside + layer_bytes(model, layer, batch) : 0;
        most = size_max(inside, most);
    }
    return most;
}

/* Returns a buffer for the layer, or NULL for 0 bytes. Inside a recomputed residual the buffer lies
 * in the shared memory, at offset *used, which advances. Otherwise it is a new allocation. */
static void *take(const struct model *model, const struct layer *layer, size_t *used, size_t bytes)
{
    if (bytes == 0)
        return NULL;
    if (!is_shared(model, layer))
        return model->backend->alloc(model->backend, bytes);
    void *place = (char *)model->shared + *used;
    *used += aligned(bytes);
    return place;
}

void model_alloc_buffers(struct model *model)
{
    struct backend *backend = model->backend;
    const size_t batch = (size_t)model->batch_max;
    const size_t shared = shared_bytes(model, model->batch_max);
    const struct widest widest = find_widest(model);
    size_t used = 0;
    model->shared = shared > 0 ? backend->alloc(backend, shared) : NULL;
    for (int i = 0; i < model->count; i++) {
        struct layer *layer = &model->layers[i];
        used = is_shared(model, layer) ? used : 0;
        layer->y.at = take(model, layer, &used, output_bytes(model, layer, model->batch_max));
        if (layer->absorbed)
            layer->y = model->layers[i - 1].y;
        for (int k = 0; k < LAYER_KEPT_MAX; k++)
            layer->kept[k] = take(model, layer, &used, batch * layer->kept_bytes[k]);
    }
    CHECK(used <= shared);
    for (int i = 0; i < model->depth + 2; i++)
        model->gradient[i] =
            backend->alloc(backend, batch * widest.outputs * number_bytes(model->type));
    model->rounded =
        rounded_bytes(model) > 0 ? backend->alloc(backend, rounded_bytes(model)) : NULL;
    model->scratch = widest.scratch > 0 ? backend->alloc(backend, batch * widest.scratch) : NULL;
}

void model_free_buffers(struct model *model)
{
    struct backend *backend = model->backend;
    for (int i = 0; i < model->count; i++) {
        struct layer *layer = &model->layers[i];
        if (is_shared(model, layer))
            continue;
        if (layer_has_output(layer))
            backend->free(backend, layer->y.at);
        for (int k = 0; k < LAYER_KEPT_MAX; k++)
            if (layer->kept[k])
                backend->free(backend, layer->kept[k]);
    }
    for (int i = 0; i < model->depth + 2; i++)
        backend->free(backend, model->gradient[i]);
    if (model->scratch)
        backend->free(backend, model->scratch);
    if (model->rounded)
        backend->free(backend, model->rounded);
    if (model->shared)
        backend->free(backend, model->shared);
}

size_t model_bytes(const struct model *model)
{
    const struct widest widest = find_widest(model);
    const size_t gradients =
        (size_t)(model->depth + 2) * widest.outputs * number_bytes(model->type);
    size_t bytes = (widest.scratch + gradients) * (size_t)model->batch_max + rounded_bytes(model);
    for (int i = 0; i < model->count; i++)
        if (!is_shared(model, &model->layers[i]))
            bytes += layer_bytes(model, &model->layers[i], model->batch_max);
    return bytes + shared_bytes(model, model->batch_max);
}

/* Returns the bytes of the logits if even one sample has more than LOGITS_FLOATS of them: these
 * bytes do not grow with the batch. Otherwise returns 0. */
static size_t fixed_bytes(const struct model *model)
{
    const struct layer *last = &model->layers[model->count - 1];
    const bool is_fixed = last->kind == &layer_logits && shape_size(last->out) > LOGITS_FLOATS;
    return is_fixed ? layer_bytes(model, last, 1) : 0;
}

size_t model_sample_bytes(const char *line, struct shape in, int classes, bool recompute)
{
    struct model read = {.in = in,
                         .classes = classes,
                         .batch_max = 1,
                         .logits_floats = LOGITS_FLOATS,
                         .recomputes = recompute};
    struct problem problem;
    if (model_read(&read, line, false, &problem) != OK)
        return 0;
    const size_t bytes = model_bytes(&read) - fixed_bytes(&read);
    model_read_free(&read);
    return bytes;
}
