#include "layers/model.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "layers/layer.h"

struct model {
    struct backend *backend;
    struct shape in;
    int classes;
    int batch_max;
    struct layer layers[LAYERS_MAX];
    int count;
    size_t parameters;
    float *slope[2]; /* dy and dx of a layer, in alternation */
    char line[MODEL_LINE_MAX];
};

static const struct {
    const char *name;
    const char *line;
} presets[] = {
    {"xor", "dense 8, tanh, dense 2"},
    {"mlp", "dense 256, relu, dense 128, relu, dense 10"},
    {"lenet", "conv 16 5x5 pad 2, relu, maxpool 2, conv 32 5x5 pad 2, relu, maxpool 2, "
              "dense 128, relu, dense 10"},
};

const char *model_preset(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].name, name) == 0)
            return presets[i].line;
    }
    return NULL;
}

const char *model_presets(void)
{
    return "xor, mlp, lenet";
}

/* Lays the layers out in the flat vector, and bounds the memory of a batch. */
static enum error model_lay_out(struct model *model, struct problem *problem)
{
    for (int i = 0; i < model->count; i++) {
        struct layer *layer = &model->layers[i];
        layer->offset = model->parameters;
        model->parameters += layer_parameters(layer);
        if (model->parameters > LAYER_COUNT_MAX)
            return problem_set(problem, MALFORMED,
                               "layer %d, '%s': with it the model has more than %d parameters; "
                               "take fewer or smaller layers",
                               i + 1, layer->text, LAYER_COUNT_MAX);
        if (shape_size(layer->out) > LAYER_COUNT_MAX / (size_t)model->batch_max)
            return problem_set(problem, MALFORMED,
                               "layer %d, '%s': its outputs for a batch of %d are more than %d "
                               "numbers; take a smaller batch or layer",
                               i + 1, layer->text, model->batch_max, LAYER_COUNT_MAX);
    }
    return OK;
}

static enum error model_check_last(const struct model *model, struct problem *problem)
{
    const struct layer *last = &model->layers[model->count - 1];
    if (last->kind == &layer_dense && last->out.channels == model->classes)
        return OK;
    return problem_set(problem, MALFORMED,
                       "layer %d, '%s': the last layer must be 'dense %d', one output per class",
                       model->count, last->text, model->classes);
}

static enum error line_too_long(struct problem *problem)
{
    return problem_set(problem, MALFORMED,
                       "the layers line is longer than %d characters; take fewer layers",
                       MODEL_LINE_MAX - 1);
}

static enum error model_spell(struct model *model, struct problem *problem)
{
    size_t length = 0;
    for (int i = 0; i < model->count; i++) {
        int more = snprintf(model->line + length, sizeof model->line - length, "%s%s",
                            i > 0 ? ", " : "", model->layers[i].text);
        length += (size_t)more;
        if (length >= sizeof model->line)
            return line_too_long(problem);
    }
    return OK;
}

/* A layer with weights computes the activation that follows it, in the pass that adds its biases:
 * the numbers are in the cache then, and their values before the activation are not needed again.
 */
static void model_absorb(struct model *model)
{
    for (int i = 1; i < model->count; i++) {
        struct layer *layer = &model->layers[i], *before = layer - 1;
        layer->absorbed = layer->kind->is_activation && before->rank > 0;
        if (layer->absorbed)
            before->activation = layer->kind->activation;
    }
}

static enum error model_read(struct model *model, const char *line, struct problem *problem)
{
    if (strlen(line) >= MODEL_LINE_MAX)
        return line_too_long(problem);
    enum error error = layer_line_read(line, model->in, model->layers, &model->count, problem);
    if (error == OK)
        error = model_check_last(model, problem);
    if (error == OK)
        error = model_lay_out(model, problem);
    if (error == OK)
        error = model_spell(model, problem);
    if (error == OK)
        model_absorb(model);
    return error;
}

static void model_take_memory(struct model *model)
{
    struct backend *backend = model->backend;
    const size_t batch = (size_t)model->batch_max;
    size_t widest = 0;
    for (int i = 0; i < model->count; i++) {
        struct layer *layer = &model->layers[i];
        const size_t outputs = shape_size(layer->out);
        if (layer->absorbed)
            layer->y = model->layers[i - 1].y;
        else
            layer->y = backend->take(backend, batch * outputs * sizeof(float));
        if (layer->kind == &layer_maxpool)
            layer->winner = backend->take(backend, batch * outputs);
        widest = outputs > widest ? outputs : widest;
    }
    for (int i = 0; i < 2; i++)
        model->slope[i] = backend->take(backend, batch * widest * sizeof(float));
}

enum error model_new(struct model **model, struct arena *arena, struct backend *backend,
                     const char *line, struct shape in, int classes, int batch_max,
                     struct problem *problem)
{
    CHECK(in.channels > 0 && in.height > 0 && in.width > 0);
    CHECK(in.channels <= LAYER_NUMBER_MAX && in.height <= LAYER_NUMBER_MAX &&
          in.width <= LAYER_NUMBER_MAX);
    CHECK(classes > 0 && classes <= UINT8_MAX + 1);
    CHECK(batch_max > 0);
    struct model built = {.backend = backend, .in = in, .classes = classes, .batch_max = batch_max};
    enum error error = model_read(&built, line, problem);
    if (error != OK)
        return error;
    model_take_memory(&built);
    *model = arena_take(arena, 1, sizeof **model);
    **model = built;
    return OK;
}

void model_free(struct model *model)
{
    struct backend *backend = model->backend;
    for (int i = 0; i < model->count; i++) {
        if (!model->layers[i].absorbed)
            backend->give(backend, model->layers[i].y);
        if (model->layers[i].winner != NULL)
            backend->give(backend, model->layers[i].winner);
    }
    for (int i = 0; i < 2; i++)
        backend->give(backend, model->slope[i]);
    *model = (struct model){0};
}

/* What model_take_memory takes for a batch of one. */
size_t model_sample_bytes(const char *line, struct shape in, int classes)
{
    struct model read = {.in = in, .classes = classes, .batch_max = 1};
    struct problem problem;
    size_t bytes = 0, widest = 0;
    if (model_read(&read, line, &problem) != OK)
        return 0;
    for (int i = 0; i < read.count; i++) {
        const size_t outputs = shape_size(read.layers[i].out);
        bytes += read.layers[i].absorbed ? 0 : outputs * sizeof(float);
        bytes += read.layers[i].kind == &layer_maxpool ? outputs : 0;
        widest = outputs > widest ? outputs : widest;
    }
    return bytes + 2 * widest * sizeof(float);
}

size_t model_parameters(const struct model *model)
{
    return model->parameters;
}

int model_batch_max(const struct model *model)
{
    return model->batch_max;
}

struct shape model_input(const struct model *model)
{
    return model->in;
}

const char *model_line(const struct model *model)
{
    return model->line;
}

int model_tensors(const struct model *model)
{
    int count = 0;
    for (int i = 0; i < model->count; i++)
        count += model->layers[i].rank > 0 ? 2 : 0;
    return count;
}

struct tensor model_tensor(const struct model *model, int i)
{
    CHECK(i >= 0 && i < model_tensors(model));
    int at = 0;
    for (int pairs = i / 2;; at++) {
        if (model->layers[at].rank > 0 && pairs-- == 0)
            break;
    }
    const struct layer *layer = &model->layers[at];
    struct tensor tensor = {.offset = layer->offset, .rank = layer->rank};
    memcpy(tensor.dims, layer->dims, sizeof tensor.dims);
    if (i % 2 == 1)
        tensor = (struct tensor){
            .offset = layer->offset + layer_weights(layer), .dims = {layer->dims[0]}, .rank = 1};
    (void)snprintf(tensor.name, sizeof tensor.name, "%d.%s.%s", at, layer->kind->name,
                   i % 2 == 0 ? "weight" : "bias");
    return tensor;
}

void model_print(const struct model *model, FILE *out)
{
    (void)fprintf(out, "%-26s %14s %12s\n", "layer", "output", "parameters");
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        char shape[40];
        (void)snprintf(shape, sizeof shape, "%dx%dx%d", layer->out.channels, layer->out.height,
                       layer->out.width);
        (void)fprintf(out, "%-26s %14s %12zu\n", layer->text, shape, layer_parameters(layer));
    }
    (void)fprintf(out, "%-26s %14s %12zu\n", "all", "", model->parameters);
}

/* The sum of twelve uniform numbers less six (Irwin, Hall 1927): variance 1 and close to normal.
 * Additions only, because every node must begin with the same bits, and log and cos, which other
 * ways need, differ in the last bit from one C library to the next. */
static double draw_normal(struct rng *rng)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(rng);
    return sum - 6;
}

/* He, Zhang, Ren, Sun 2015 before relu; Glorot, Bengio 2010 otherwise. The square roots are exact
 * to the last bit by IEEE 754. */
static void layer_init(const struct layer *layer, bool before_relu, struct rng rng, float *weights)
{
    const size_t count = layer_weights(layer);
    const size_t fan_in = count / layer->dims[0], fan_out = count / layer->dims[1];
    const double deviation = sqrt(2.0 / (double)fan_in);
    const double limit = sqrt(6.0 / (double)(fan_in + fan_out));
    for (size_t i = 0; i < count; i++)
        weights[i] = (float)(before_relu ? deviation * draw_normal(&rng)
                                         : limit * (2 * rng_uniform(&rng) - 1));
    memset(weights + count, 0, layer->dims[0] * sizeof *weights);
}

void model_init(const struct model *model, uint64_t seed, float *host_weights)
{
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        if (layer->rank > 0)
            layer_init(layer, layer->activation == RELU, rng_new(seed, (uint64_t)i),
                       host_weights + layer->offset);
    }
}

const float *model_forward(struct model *model, const float *weights, const float *x, int batch)
{
    CHECK(batch > 0 && batch <= model->batch_max);
    for (int i = 0; i < model->count; i++) {
        const struct layer *layer = &model->layers[i];
        if (layer->absorbed)
            continue;
        layer->kind->forward(layer, model->backend, batch, weights + layer->offset, x);
        x = layer->y;
    }
    return x;
}

/* From the slope of the logits in slope[0] back to the first layer. */
static void model_backward(struct model *model, const float *weights, float *gradients,
                           const float *x, int batch)
{
    float *dy = model->slope[0], *dx = model->slope[1];
    for (int i = model->count - 1; i >= 0; i--) {
        const struct layer *layer = &model->layers[i];
        if (layer->absorbed)
            continue;
        layer->kind->backward(layer, model->backend, batch, weights + layer->offset,
                              i > 0 ? layer[-1].y : x, dy, i > 0 ? dx : NULL,
                              gradients + layer->offset);
        float *done = dy;
        dy = dx;
        dx = done;
    }
}

void model_learn(struct model *model, const float *weights, float *gradients, const float *x,
                 const uint8_t *labels, int batch, struct score *score)
{
    const float *logits = model_forward(model, weights, x, batch);
    model->backend->cross_entropy(model->backend, batch, model->classes, logits, labels,
                                  model->slope[0], score);
    model_backward(model, weights, gradients, x, batch);
}

void model_score(struct model *model, const float *weights, const float *x, const uint8_t *labels,
                 int batch, struct score *score)
{
    const float *logits = model_forward(model, weights, x, batch);
    model->backend->cross_entropy(model->backend, batch, model->classes, logits, labels, NULL,
                                  score);
}
