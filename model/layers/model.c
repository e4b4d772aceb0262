#include "layers/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "layers/layer_words.h"
#include "layers/model_layers.h"
#include "layers/model_private.h"

/* Parts of the flat vector, in their order. Matrices are first, because only they have weight
 * decay. */
enum part { MATRICES, SCALES, STATISTICS };

static enum part part_of(const struct layer_tensor *tensor)
{
    if (tensor->is_statistic)
        return STATISTICS;
    return tensor->rank > 1 ? MATRICES : SCALES;
}

static void lay_out(struct model *model, enum part part)
{
    for (int i = 0; i < model->count; i++) {
        struct layer *layer = &model->layers[i];
        for (int k = 0; k < layer->tensors && !layer->borrows; k++) {
            if (part_of(&layer->tensor[k]) != part)
                continue;
            layer->tensor[k].offset = model->parameters;
            model->parameters += layer_tensor_count(&layer->tensor[k]);
            model->tensor[model->tensors].layer = layer;
            model->tensor[model->tensors++].which = k;
        }
    }
    for (int i = 0; i < model->count; i++)
        if (model->layers[i].borrows)
            model->layers[i].tensor[0].offset =
                model->layers[model->layers[i].partner].tensor[0].offset;
}

/* Returns the size of the layer's largest input, output or kept buffer, in numbers per sample. */
static size_t largest_buffer(const struct layer *layer)
{
    const size_t in = shape_size(layer->in), out = shape_size(layer->out);
    size_t most = size_max(in, out);
    for (int k = 0; k < LAYER_KEPT_MAX; k++)
        most = size_max(most, layer->kept_bytes[k] / number_bytes(layer->type));
    return most;
}

/* Returns MALFORMED if the flat vector or a layer's buffer for a batch is too large: BLAS and
 * kernels count in 31 bits. Logits need to fit only for one sample, because they are computed some
 * samples at a time. */
static enum error check_sizes(const struct model *model, struct problem *problem)
{
    size_t parameters = 0;
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        parameters += layer_parameters(layer);
        if (parameters > LAYER_COUNT_MAX)
            return problem_set(problem, MALFORMED,
                               "layer %d, '%s': with it the model has more than %d parameters; "
                               "take fewer or smaller layers",
                               layer->number + 1, layer->text, LAYER_COUNT_MAX);
        const size_t samples = layer->kind == &layer_logits ? 1 : (size_t)model->batch_max;
        if (largest_buffer(layer) > LAYER_COUNT_MAX / samples)
            return problem_set(problem, MALFORMED,
                               "layer %d, '%s': a batch of %zu is more than %d numbers there; take "
                               "a smaller batch, more train.micro_batches or a smaller layer",
                               layer->number + 1, layer->text, samples, LAYER_COUNT_MAX);
    }
    return OK;
}

/* Returns MALFORMED if the last layer does not fit the task. Unless `exact`, it may have more
 * outputs than this node's data have classes, because other nodes may have more classes. */
static enum error check_last(struct model *model, bool exact, struct problem *problem)
{
    const struct layer *last = &model->layers[model->count - 1];
    const bool is_dense = last->kind == &layer_dense || last->kind == &layer_logits;
    const int outputs = last->out.channels;
    const bool fits = exact ? outputs == model->classes : outputs >= model->classes;
    if (is_dense && fits && last->out.length == model->in.length) {
        if (model->in.length == 0)
            model->classes = outputs;
        return OK;
    }
    return problem_set(problem, MALFORMED,
                       "layer %d, '%s': the last layer must be 'dense %d', one output per %s",
                       last->number + 1, last->text, model->classes,
                       model->in.length > 0 ? "token"
                       : exact ? "number of y (for classes, store y as integers or set data.task = "
                                 "classes)"
                               : "class");
}

/* Makes a layer also compute the activation that follows it, if its kind can (absorbs): the layer's
 * loop over biases still has the numbers in the processor's cache. Skips activations whose backward
 * pass needs their input. */
static void absorb(struct model *model)
{
    for (int i = 1; i < model->count; i++) {
        struct layer *layer = &model->layers[i], *before = layer - 1;
        layer->absorbed = layer->kind->is_activation && before->kind->absorbs &&
                          !activation_keeps_input(layer->kind->activation);
        if (layer->absorbed)
            before->activation = layer->kind->activation;
    }
}

static enum error read(struct model *model, const char *line, bool exact, struct problem *problem)
{
    struct chain chain = {
        .layers = model->layers, .in = model->in, .classes = model->classes, .type = model->type};
    if (strlen(line) >= MODEL_LINE_MAX)
        return problem_set(problem, MALFORMED,
                           "the layers line is longer than %d characters; take fewer layers",
                           MODEL_LINE_MAX - 1);
    enum error error = layer_line_read(line, &chain, model->line, sizeof model->line, problem);
    model->count = chain.count;
    if (error == OK)
        error = check_last(model, exact, problem);
    if (error == OK)
        error = check_sizes(model, problem);
    if (error != OK)
        return error;
    for (int i = 0; i < model->count; i++)
        model->layers[i].y.type = i + 1 < model->count ? model->type : FLOAT32;
    absorb(model);
    lay_out(model, MATRICES);
    model->decayed = model->parameters;
    lay_out(model, SCALES);
    model->trained = model->parameters;
    lay_out(model, STATISTICS);
    for (int i = 0; i < model->count; i++)
        if (model->layers[i].kind == &layer_close && model->layers[i].depth >= model->depth)
            model->depth = model->layers[i].depth + 1;
    return OK;
}

void model_read_free(struct model *model)
{
    free(model->layers);
    free(model->tensor);
}

/* Returns the number of samples whose outputs the last layer computes at once. Only logits may
 * compute fewer samples than a batch. */
static int logits_max(const struct model *model)
{
    const struct layer *last = &model->layers[model->count - 1];
    const size_t fitting = model->logits_floats / shape_size(last->out);
    if (last->kind != &layer_logits || fitting >= (size_t)model->batch_max)
        return model->batch_max;
    const int most = fitting > 0 ? (int)fitting : 1, parts = (model->batch_max - 1) / most + 1;
    return (model->batch_max - 1) / parts + 1; /* gives the parts almost equal numbers of samples */
}

static size_t logits_budget(const struct model_use *use, struct backend *backend)
{
    if (use->logits_floats > 0)
        return use->logits_floats;
    return backend ? backend->loss->logits_budget(backend) : LOGITS_FLOATS;
}

enum error model_read(struct model *model, const char *line, bool exact, struct problem *problem)
{
    model->layers = memory_new(LAYERS_MAX, sizeof *model->layers);
    model->tensor = memory_new((size_t)LAYERS_MAX * LAYER_TENSORS_MAX, sizeof *model->tensor);
    const enum error error = read(model, line, exact, problem);
    if (error != OK)
        model_read_free(model);
    else
        model->logits_max = logits_max(model);
    return error;
}

enum error model_new_for(struct model **model, struct arena *arena, struct backend *backend,
                         const char *line, struct shape in, int classes,
                         const struct model_use *use, struct problem *problem)
{
    CHECK(in.channels > 0 && in.height > 0 && in.width > 0);
    CHECK(in.channels <= LAYER_NUMBER_MAX && in.height <= LAYER_NUMBER_MAX &&
          in.width <= LAYER_NUMBER_MAX);
    CHECK(in.length >= 0 && in.length <= LAYER_NUMBER_MAX);
    CHECK(classes > 0 && classes <= LAYER_NUMBER_MAX);
    CHECK(use->batch_max > 0);
    struct model built = {.backend = backend,
                          .in = in,
                          .classes = classes,
                          .batch_max = use->batch_max,
                          .type = backend && in.length > 0 ? backend->activations : FLOAT32,
                          .logits_floats = logits_budget(use, backend),
                          .recomputes = use->recompute};
    enum error error = model_read(&built, line, use->exact, problem);
    if (error != OK)
        return error;
    if (backend)
        model_alloc_buffers(&built);
    *model = arena_alloc(arena, 1, sizeof **model);
    **model = built;
    return OK;
}

enum error model_new(struct model **model, struct arena *arena, struct backend *backend,
                     const char *line, struct shape in, int classes, int batch_max,
                     struct problem *problem)
{
    const struct model_use use = {.batch_max = batch_max};
    return model_new_for(model, arena, backend, line, in, classes, &use, problem);
}

void model_free(struct model *model)
{
    if (model->backend)
        model_free_buffers(model);
    model_read_free(model);
    *model = (struct model){0};
}

size_t model_parameters(const struct model *model)
{
    return model->parameters;
}

size_t model_decayed(const struct model *model)
{
    return model->decayed;
}

double model_flops(const struct model *model)
{
    double flops = 0;
    for (int i = 0; i < model->count; i++)
        flops += model->layers[i].flops;
    return flops;
}

size_t model_trained(const struct model *model)
{
    return model->trained;
}

bool model_drops(const struct model *model)
{
    for (int i = 0; i < model->count; i++)
        if (model->layers[i].kind == &layer_dropout)
            return true;
    return false;
}

int model_batch_max(const struct model *model)
{
    return model->batch_max;
}

struct shape model_input(const struct model *model)
{
    return model->in;
}

int model_outputs(const struct model *model)
{
    return model->layers[model->count - 1].out.channels;
}

const char *model_line(const struct model *model)
{
    return model->line;
}

int model_layers(const struct model *model)
{
    return model->count;
}

const struct layer *model_layer_at(const struct model *model, int i)
{
    CHECK(i >= 0 && i < model->count);
    return &model->layers[i];
}

const char *model_layer(const struct model *model, int i)
{
    return model_layer_at(model, i)->text;
}

int model_tensors(const struct model *model)
{
    return model->tensors;
}

/* Position embeddings count as an input layer. */
static bool is_hidden(const struct model *model, const struct layer *layer,
                      const struct layer_tensor *tensor)
{
    return tensor->rank > 1 && layer->from != LAYER_INPUT && layer->kind != &layer_position &&
           layer != &model->layers[model->count - 1];
}

size_t tensor_entries(const struct tensor *tensor)
{
    size_t count = 1;
    for (int d = 0; d < tensor->rank; d++)
        count *= tensor->dims[d];
    return count;
}

struct tensor model_tensor(const struct model *model, int i)
{
    CHECK(i >= 0 && i < model->tensors);
    const struct layer *layer = model->tensor[i].layer;
    const struct layer_tensor *own = &layer->tensor[model->tensor[i].which];
    struct tensor tensor = {.offset = own->offset, .rank = own->rank};
    memcpy(tensor.dims, own->dims, sizeof tensor.dims);
    tensor.is_hidden = is_hidden(model, layer, own);
    tensor.is_output = layer == &model->layers[model->count - 1];
    const int length = snprintf(tensor.name, sizeof tensor.name, "%d.%s.%s", layer->number,
                                layer->kind->name, own->name);
    CHECK(length > 0 && (size_t)length < sizeof tensor.name);
    return tensor;
}
