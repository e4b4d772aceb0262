#include "layers/model.h"

#include <stdlib.h>
#include <string.h>

#include "layers/layer_words.h"
#include "layers/model_private.h"

/* Reading. */

/* The flat vector: matrices and filters first, as weight decay is for them alone; then biases and
 * scales; then statistics, which are not trained. */
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

/* Bounds the memory of the flat vector and of a batch. */
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
        if (shape_size(layer->out) > LAYER_COUNT_MAX / (size_t)model->batch_max)
            return problem_set(problem, MALFORMED,
                               "layer %d, '%s': its outputs for a batch of %d are more than %d "
                               "numbers; take a smaller batch or layer",
                               layer->number + 1, layer->text, model->batch_max, LAYER_COUNT_MAX);
    }
    return OK;
}

static enum error check_last(const struct model *model, struct problem *problem)
{
    const struct layer *last = &model->layers[model->count - 1];
    const bool is_dense = last->kind == &layer_dense || last->kind == &layer_logits;
    if (is_dense && last->out.channels == model->classes && last->out.length == model->in.length)
        return OK;
    if (model->in.length > 0 && is_dense && last->out.channels > model->classes)
        return OK; /* tokens that the data do not have */
    return problem_set(problem, MALFORMED,
                       "layer %d, '%s': the last layer must be '%s %d', one output per %s",
                       last->number + 1, last->text, "dense", model->classes,
                       model->in.length > 0 ? "token" : "class");
}

/* A layer with weights computes the activation that follows it, in the pass that adds its biases:
 * the numbers are in the cache then, and their values before the activation are not needed again.
 */
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

static enum error read(struct model *model, const char *line, struct problem *problem)
{
    struct chain chain = {.layers = model->layers, .in = model->in, .classes = model->classes};
    if (strlen(line) >= MODEL_LINE_MAX)
        return problem_set(problem, MALFORMED,
                           "the layers line is longer than %d characters; take fewer layers",
                           MODEL_LINE_MAX - 1);
    enum error error = layer_line_read(line, &chain, model->line, sizeof model->line, problem);
    model->count = chain.count;
    if (error == OK)
        error = check_last(model, problem);
    if (error == OK)
        error = check_sizes(model, problem);
    if (error != OK)
        return error;
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

static void let_go(struct model *model)
{
    free(model->layers);
    free(model->tensor);
}

/* A model that has read its line and has no memory of the backend yet. */
static enum error model_read(struct model *model, const char *line, struct problem *problem)
{
    model->layers = calloc(LAYERS_MAX, sizeof *model->layers);
    model->tensor = calloc((size_t)LAYERS_MAX * LAYER_TENSORS_MAX, sizeof *model->tensor);
    CHECK(model->layers && model->tensor);
    const enum error error = read(model, line, problem);
    if (error != OK)
        let_go(model);
    return error;
}

/* Memory. */

/* Of the widest of all layers, a sample. */
struct widest {
    size_t outputs; /* numbers, but of the logits: their slopes take their place */
    size_t room;    /* bytes */
};

static struct widest find_widest(const struct model *model)
{
    struct widest widest = {0};
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        const size_t outputs = shape_size(layer->out);
        if (i + 1 < model->count && outputs > widest.outputs)
            widest.outputs = outputs;
        widest.room = layer->room_bytes > widest.room ? layer->room_bytes : widest.room;
    }
    return widest;
}

static bool has_output(const struct layer *layer)
{
    return !layer->absorbed && layer->kind->forward != NULL;
}

static void take_memory(struct model *model)
{
    struct backend *backend = model->backend;
    const size_t batch = (size_t)model->batch_max;
    const struct widest widest = find_widest(model);
    for (int i = 0; i < model->count; i++) {
        struct layer *layer = &model->layers[i];
        if (layer->absorbed)
            layer->y = model->layers[i - 1].y;
        else if (has_output(layer))
            layer->y = backend->take(backend, batch * shape_size(layer->out) * sizeof(float));
        for (int k = 0; k < LAYER_KEPT_MAX; k++)
            if (layer->kept_bytes[k] > 0)
                layer->kept[k] = backend->take(backend, batch * layer->kept_bytes[k]);
    }
    for (int i = 0; i < model->depth + 2; i++)
        model->slope[i] = backend->take(backend, batch * widest.outputs * sizeof(float));
    if (widest.room > 0)
        model->room = backend->take(backend, batch * widest.room);
}

/* What take_memory takes for a batch of one. */
size_t model_sample_bytes(const char *line, struct shape in, int classes)
{
    struct model read = {.in = in, .classes = classes, .batch_max = 1};
    struct problem problem;
    if (model_read(&read, line, &problem) != OK)
        return 0;
    const struct widest widest = find_widest(&read);
    size_t bytes = widest.room + (size_t)(read.depth + 2) * widest.outputs * sizeof(float);
    for (int i = 0; i < read.count; i++) {
        const struct layer *layer = &read.layers[i];
        bytes += has_output(layer) ? shape_size(layer->out) * sizeof(float) : 0;
        for (int k = 0; k < LAYER_KEPT_MAX; k++)
            bytes += layer->kept_bytes[k];
    }
    let_go(&read);
    return bytes;
}

enum error model_new(struct model **model, struct arena *arena, struct backend *backend,
                     const char *line, struct shape in, int classes, int batch_max,
                     struct problem *problem)
{
    CHECK(in.channels > 0 && in.height > 0 && in.width > 0);
    CHECK(in.channels <= LAYER_NUMBER_MAX && in.height <= LAYER_NUMBER_MAX &&
          in.width <= LAYER_NUMBER_MAX);
    CHECK(in.length >= 0 && in.length <= LAYER_NUMBER_MAX);
    CHECK(classes > 0 && classes <= LAYER_NUMBER_MAX);
    CHECK(batch_max > 0);
    struct model built = {.backend = backend, .in = in, .classes = classes, .batch_max = batch_max};
    enum error error = model_read(&built, line, problem);
    if (error != OK)
        return error;
    if (backend)
        take_memory(&built);
    *model = arena_take(arena, 1, sizeof **model);
    **model = built;
    return OK;
}

static void give_memory(struct model *model)
{
    struct backend *backend = model->backend;
    for (int i = 0; i < model->count; i++) {
        struct layer *layer = &model->layers[i];
        if (has_output(layer))
            backend->give(backend, layer->y);
        for (int k = 0; k < LAYER_KEPT_MAX; k++)
            if (layer->kept[k])
                backend->give(backend, layer->kept[k]);
    }
    for (int i = 0; i < model->depth + 2; i++)
        backend->give(backend, model->slope[i]);
    if (model->room)
        backend->give(backend, model->room);
}

void model_free(struct model *model)
{
    if (model->backend)
        give_memory(model);
    let_go(model);
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

size_t model_trained(const struct model *model)
{
    return model->trained;
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

int model_tensors(const struct model *model)
{
    return model->tensors;
}

struct tensor model_tensor(const struct model *model, int i)
{
    CHECK(i >= 0 && i < model->tensors);
    const struct layer *layer = model->tensor[i].layer;
    const struct layer_tensor *own = &layer->tensor[model->tensor[i].which];
    struct tensor tensor = {.offset = own->offset, .rank = own->rank};
    memcpy(tensor.dims, own->dims, sizeof tensor.dims);
    const int length = snprintf(tensor.name, sizeof tensor.name, "%d.%s.%s", layer->number,
                                layer->kind->name, own->name);
    CHECK(length > 0 && (size_t)length < sizeof tensor.name);
    return tensor;
}

/* Computing. */

static const float *output_of(const struct model *model, int layer, const float *x)
{
    return layer == LAYER_INPUT ? x : model->layers[layer].y;
}

static const float *forward(struct model *model, struct pass *pass, const float *x)
{
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        if (!has_output(layer))
            continue;
        pass->x = output_of(model, layer->from, x);
        pass->other = output_of(model, layer->partner, x);
        layer->kind->forward(layer, pass);
    }
    return model->layers[model->count - 1].y;
}

static const float *forward_batch(struct model *model, const float *weights, const float *x,
                                  int batch, bool training)
{
    CHECK(model->backend && batch > 0 && batch <= model->batch_max);
    struct pass pass = {.backend = model->backend,
                        .batch = batch,
                        .training = training,
                        .weights = weights,
                        .room = model->room};
    model->stepped = 0;
    return forward(model, &pass, x);
}

const float *model_forward(struct model *model, const float *weights, const float *x, int batch)
{
    return forward_batch(model, weights, x, batch, false);
}

const float *model_step(struct model *model, const float *weights, const float *x, int from,
                        int count)
{
    CHECK(model->backend && count > 0 && from >= 0 && from <= model->in.length - count);
    CHECK(from <= model_stepped(model, weights));
    struct pass pass = {.backend = model->backend,
                        .batch = 1,
                        .from = from,
                        .positions = count,
                        .weights = weights,
                        .room = model->room};
    model->stepped = from + count;
    model->stepped_weights = weights;
    return forward(model, &pass, x);
}

int model_stepped(const struct model *model, const float *weights)
{
    return model->stepped_weights == weights ? model->stepped : 0;
}

/* Slopes on their way back. A residual's slope goes into its body as it is, and is kept until what
 * comes out of the body is added to it. */
struct slopes {
    float *now;                   /* of the output of the layer that is next */
    float *kept[LAYER_DEPTH_MAX]; /* of the residuals around, the outermost first */
    int depth;                    /* how many those are */
};

static bool is_kept(const struct slopes *slopes, const float *slope)
{
    for (int i = 0; i < slopes->depth; i++)
        if (slopes->kept[i] == slope)
            return true;
    return false;
}

static float *free_slope(const struct model *model, const struct slopes *slopes)
{
    for (int i = 0; i < model->depth + 2; i++)
        if (model->slope[i] != slopes->now && !is_kept(slopes, model->slope[i]))
            return model->slope[i];
    CHECK(false);
}

/* What the body has made of the slope meets what passed it by. */
static void open_backward(struct model *model, struct slopes *slopes, const struct layer *open,
                          int batch)
{
    CHECK(slopes->depth > 0);
    float *passed = slopes->kept[--slopes->depth];
    if (open->from == LAYER_INPUT)
        return; /* nobody asks */
    float *to = !is_kept(slopes, slopes->now) ? slopes->now
                : !is_kept(slopes, passed)    ? passed
                                              : free_slope(model, slopes);
    model->backend->add(model->backend, (size_t)batch * shape_size(open->in), slopes->now, passed,
                        to);
    slopes->now = to;
}

/* The shortcut has made its part of the slope; the body's turn. */
static void shortcut_backward(struct slopes *slopes)
{
    CHECK(slopes->depth > 0);
    float *made = slopes->now;
    slopes->now = slopes->kept[slopes->depth - 1];
    slopes->kept[slopes->depth - 1] = made;
}

static void layer_backward(struct model *model, struct slopes *slopes, const struct layer *layer,
                           struct pass *pass)
{
    if (layer->activation != LINEAR && is_kept(slopes, slopes->now)) {
        float *own = free_slope(model, slopes);
        model->backend->copy(model->backend, (size_t)pass->batch * shape_size(layer->out),
                             slopes->now, own);
        slopes->now = own;
    }
    float *dx = free_slope(model, slopes);
    pass->dy = slopes->now;
    pass->dx = layer->from == LAYER_INPUT ? NULL : dx;
    layer->kind->backward(layer, pass);
    slopes->now = dx;
}

/* From the slope of the logits, where they were, back to the first layer. */
static void model_backward(struct model *model, const float *weights, float *gradients,
                           const float *x, int batch)
{
    struct slopes slopes = {.now = model->layers[model->count - 1].y};
    struct pass pass = {.backend = model->backend,
                        .batch = batch,
                        .training = true,
                        .weights = weights,
                        .gradients = gradients,
                        .room = model->room};
    for (int i = model->count - 1; i >= 0; i--) {
        const struct layer *layer = &model->layers[i];
        if (layer->absorbed)
            continue;
        pass.x = output_of(model, layer->from, x);
        if (layer->kind == &layer_close)
            slopes.kept[slopes.depth++] = slopes.now;
        else if (layer->kind == &layer_shortcut)
            shortcut_backward(&slopes);
        else if (layer->kind == &layer_open)
            open_backward(model, &slopes, layer, batch);
        else
            layer_backward(model, &slopes, layer, &pass);
    }
    CHECK(slopes.depth == 0);
}

static int rows_of(const struct model *model, int batch)
{
    return batch * (int)shape_positions(model->in);
}

void model_learn(struct model *model, const float *weights, float *gradients, const float *x,
                 const int32_t *labels, int batch, struct score *score)
{
    const float *logits = forward_batch(model, weights, x, batch, true);
    model->backend->cross_entropy(model->backend, rows_of(model, batch), model_outputs(model),
                                  logits, labels, model->layers[model->count - 1].y, score);
    model_backward(model, weights, gradients, x, batch);
}

void model_score(struct model *model, const float *weights, const float *x, const int32_t *labels,
                 int batch, struct score *score)
{
    const float *logits = model_forward(model, weights, x, batch);
    model->backend->cross_entropy(model->backend, rows_of(model, batch), model_outputs(model),
                                  logits, labels, NULL, score);
}
