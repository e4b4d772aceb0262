/* Forward and backward pass of a batch.
 *
 *   x ─► layers ─► last layer ─► loss      logits: both at once, some rows at a time
 *        layers ◄ gradients ◄──────┘
 */
#include "layers/model_layers.h"
#include "layers/model_private.h"

static struct numbers output_of(const struct model *model, int layer, const float *x)
{
    return layer == LAYER_INPUT ? floats(x) : model->layers[layer].y;
}

/* An activation that a dense layer computes with its own output: both outputs are kept. */
static bool is_fused_activation(const struct model *model, int i)
{
    const struct layer *layer = &model->layers[i];
    return layer->kind->is_activation && !layer->absorbed && layer->from == i - 1 && i > 0 &&
           model->layers[i - 1].kind == &layer_dense;
}

/* Returns the number of the layer that reads the sum of the ")" i at once and is a norm, or 0. If
 * the insides of residuals share memory, the norm's output may lie where the sum is read. */
static int norm_of_sum(const struct model *model, int i)
{
    int next = i + 1;
    if (next < model->count && model->layers[next].kind == &layer_open)
        next++;
    if (model->layers[i].kind != &layer_close || next >= model->count || model->recomputes)
        return 0;
    const struct layer *norm = &model->layers[next];
    const bool is_norm = norm->kind == &layer_norm || norm->kind == &layer_rmsnorm;
    return is_norm && norm->from == i ? next : 0;
}

/* Computes layer i, and with it the one behind it if one operation does both and it stands before
 * `end`. Returns the number of the last of them. */
static int layer_forward(struct model *model, struct pass *pass, const float *x, int i, int end)
{
    const struct layer *layer = &model->layers[i], *own = layer;
    const int norm = norm_of_sum(model, i);
    int done = i;
    pass->x = output_of(model, layer->from, x);
    pass->other = output_of(model, layer->partner, x);
    pass->fused = (struct fused){0};
    if (norm > 0 && norm < end) {
        pass->fused.sum = layer;
        own = &model->layers[norm];
        done = norm;
    } else if (i + 1 < end && is_fused_activation(model, i + 1)) {
        pass->fused.activation = layer + 1;
        done = i + 1;
    }
    own->kind->forward(own, pass);
    return done;
}

/* The layers from `first` to before `end`. */
static void forward(struct model *model, struct pass *pass, const float *x, int first, int end)
{
    for (int i = first; i < end; i++)
        if (layer_has_output(&model->layers[i]))
            i = layer_forward(model, pass, x, i, end);
    pass->fused = (struct fused){0};
}

/* The backward pass. A residual's gradient enters its body and is kept until the body's gradient is
 * added to it. */
struct gradient_stack {
    void *now;                   /* gradient at the output of the next layer */
    void *kept[LAYER_DEPTH_MAX]; /* gradients at the enclosing residuals, the outermost first */
    int depth;                   /* number of these residuals */
};

static bool is_kept(const struct gradient_stack *stack, const void *gradient)
{
    for (int i = 0; i < stack->depth; i++)
        if (stack->kept[i] == gradient)
            return true;
    return false;
}

static void *free_gradient(const struct model *model, const struct gradient_stack *stack)
{
    for (int i = 0; i < model->depth + 2; i++)
        if (model->gradient[i] != stack->now && !is_kept(stack, model->gradient[i]))
            return model->gradient[i];
    CHECK(false);
}

static struct numbers activations(const struct model *model, void *at)
{
    return (struct numbers){at, model->type};
}

/* Adds the body's gradient to the one that bypassed it. */
static void open_backward(struct model *model, struct gradient_stack *stack,
                          const struct layer *open, int batch)
{
    CHECK(stack->depth > 0);
    void *passed = stack->kept[--stack->depth];
    if (open->from == LAYER_INPUT)
        return; /* no caller reads the gradient of the input */
    void *to = !is_kept(stack, stack->now) ? stack->now
               : !is_kept(stack, passed)   ? passed
                                           : free_gradient(model, stack);
    model->backend->add(model->backend, (size_t)batch * shape_size(open->in),
                        activations(model, stack->now), activations(model, passed),
                        activations(model, to));
    stack->now = to;
}

/* The shortcut's gradient is done; next is the body. */
static void shortcut_backward(struct gradient_stack *stack)
{
    CHECK(stack->depth > 0);
    void *made = stack->now;
    stack->now = stack->kept[stack->depth - 1];
    stack->kept[stack->depth - 1] = made;
}

static void layer_backward(struct model *model, struct gradient_stack *stack,
                           const struct layer *layer, struct pass *pass)
{
    if (layer->activation != LINEAR && is_kept(stack, stack->now)) {
        void *own = free_gradient(model, stack);
        model->backend->copy(model->backend, (size_t)pass->batch * shape_size(layer->out),
                             activations(model, stack->now), activations(model, own));
        stack->now = own;
    }
    void *dx = free_gradient(model, stack);
    pass->dy = activations(model, stack->now);
    pass->dx = activations(model, layer->from == LAYER_INPUT ? NULL : dx);
    layer->kind->backward(layer, pass);
    stack->now = dx;
}

/* The norm that a body begins with adds the gradient that passed the body by. */
static void norm_backward(struct model *model, struct gradient_stack *stack,
                          const struct layer *norm, struct pass *pass)
{
    CHECK(stack->depth > 0);
    pass->fused.passed = activations(model, stack->kept[stack->depth - 1]);
    layer_backward(model, stack, norm, pass);
    pass->fused = (struct fused){0};
    stack->depth--;
}

static bool is_first_norm(const struct model *model, int i)
{
    const struct layer *layer = &model->layers[i];
    return i > 0 && (layer->kind == &layer_norm || layer->kind == &layer_rmsnorm) &&
           layer->from != LAYER_INPUT && model->layers[i - 1].kind == &layer_open;
}

/* The dense layer also computes the gradient of the activation that it reads. */
static void dense_backward(struct model *model, struct gradient_stack *stack,
                           const struct layer *dense, struct pass *pass, const float *x)
{
    const struct layer *activation = dense - 1;
    pass->fused.activation = activation;
    pass->fused.before = output_of(model, activation->from, x);
    layer_backward(model, stack, dense, pass);
    pass->fused = (struct fused){0};
}

static int rows_of(const struct model *model, int samples)
{
    return samples * (int)shape_positions(model->in);
}

/* Adds the loss of the outputs of the last layer; writes their gradients, unless dy is NULL. */
static void apply_loss(const struct model *model, const struct model_part *part, float *dy,
                       struct score *score)
{
    const struct layer *last = &model->layers[model->count - 1];
    struct backend *backend = model->backend;
    const int outputs = last->out.channels;
    const struct cross_entropy loss = {.rows = rows_of(model, part->samples),
                                       .classes = outputs,
                                       .of = rows_of(model, part->of),
                                       .smoothing = dy ? part->smoothing : 0};
    const float *y = floats_of(last->y);
    if (part->labels)
        backend->loss.cross_entropy(backend, &loss, y, part->labels, dy, score);
    else
        backend->loss.squared_error(backend, part->samples, outputs, part->of, y, part->numbers, dy,
                                    score);
}

/* Adds the loss of logits; where the pass trains, writes the gradients of the last layer, and dx of
 * the layer before. */
static void apply_logits_loss(const struct model *model, const struct pass *pass,
                              const struct model_part *part, struct numbers dx, struct score *score)
{
    const struct layer *last = &model->layers[model->count - 1];
    const struct logits logits = {.loss = {.rows = rows_of(model, part->samples),
                                           .classes = last->out.channels,
                                           .of = rows_of(model, part->of),
                                           .smoothing = pass->training ? part->smoothing : 0},
                                  .in = (int)layer_width(last),
                                  .at_once = rows_of(model, model->logits_max),
                                  .scratch = floats_of(last->y)};
    CHECK(part->labels);
    model->backend->loss.logits(model->backend, &logits, output_of(model, last->from, part->x),
                                layer_rounded(last, pass, 0), part->labels, dx,
                                pass->training ? layer_gradients(last, pass, 0) : NULL, score);
}

/* Computes the last layer, the loss, the gradients of both, and dx of the layer before. */
static void learn_last(struct model *model, struct pass *pass, const struct model_part *part,
                       void *dx, struct score *score)
{
    const struct layer *last = &model->layers[model->count - 1];
    const struct numbers to = activations(model, last->from == LAYER_INPUT ? NULL : dx);
    if (last->kind == &layer_logits) {
        apply_logits_loss(model, pass, part, to, score);
        return;
    }
    forward(model, pass, part->x, model->count - 1, model->count);
    apply_loss(model, part, floats_of(last->y), score);
    pass->x = output_of(model, last->from, part->x);
    pass->dy = last->y;
    pass->dx = to;
    last->kind->backward(last, pass);
}

/* The input of a residual's body is still there: its layers recompute the activations that the next
 * residual has overwritten. */
static void recompute(struct model *model, struct pass *pass, const float *x, int close)
{
    int open = close;
    while (model->layers[open].kind != &layer_open || model->layers[open].depth > 0)
        open--;
    forward(model, pass, x, open + 1, close);
}

/* Leads gradients from the second to last layer back to the first. */
static void model_backward(struct model *model, struct pass *pass, struct gradient_stack *stack,
                           const float *x)
{
    bool is_last_residual = true;
    for (int i = model->count - 2; i >= 0; i--) {
        const struct layer *layer = &model->layers[i];
        if (layer->absorbed)
            continue;
        if (model->recomputes && layer->kind == &layer_close && layer->depth == 0) {
            if (!is_last_residual)
                recompute(model, pass, x, i);
            is_last_residual = false;
        }
        pass->x = output_of(model, layer->from, x);
        if (layer->kind == &layer_close)
            stack->kept[stack->depth++] = stack->now;
        else if (layer->kind == &layer_shortcut)
            shortcut_backward(stack);
        else if (layer->kind == &layer_open)
            open_backward(model, stack, layer, pass->batch);
        else if (is_first_norm(model, i)) {
            norm_backward(model, stack, layer, pass);
            i--; /* the "residual(" is done */
        } else if (layer->kind == &layer_dense && layer->activation == LINEAR &&
                   layer->from == i - 1 && i > 0 && is_fused_activation(model, i - 1)) {
            dense_backward(model, stack, layer, pass, x);
            i--; /* the activation is done */
        } else
            layer_backward(model, stack, layer, pass);
    }
    CHECK(stack->depth == 0);
}

/* The weights in the type of the activations: themselves, or one copy for all layers. */
static struct numbers rounded(const struct model *model, const float *weights)
{
    if (model->type == FLOAT32)
        return floats(weights);
    const struct numbers copy = {model->rounded, model->type};
    model->backend->copy(model->backend, model->trained, floats(weights), copy);
    return copy;
}

static struct pass pass_of(struct model *model, const float *weights, int batch)
{
    CHECK(model->backend && batch > 0 && batch <= model->batch_max);
    model->stepped = 0;
    return (struct pass){.backend = model->backend,
                         .batch = batch,
                         .weights = weights,
                         .rounded = rounded(model, weights),
                         .scratch = model->scratch};
}

void model_learn_part(struct model *model, const float *weights, float *gradients,
                      const struct model_part *part, struct score *score)
{
    CHECK(part->samples <= part->of && !part->labels != !part->numbers);
    struct pass pass = pass_of(model, weights, part->samples);
    struct gradient_stack stack = {.now = model->gradient[0]};
    pass.training = true;
    pass.draws = part->draws;
    pass.gradients = gradients;
    forward(model, &pass, part->x, 0, model->count - 1);
    learn_last(model, &pass, part, stack.now, score);
    model_backward(model, &pass, &stack, part->x);
}

void model_learn(struct model *model, const float *weights, float *gradients, const float *x,
                 const int32_t *labels, int batch, struct score *score)
{
    const struct model_part all = {.x = x, .labels = labels, .samples = batch, .of = batch};
    model_learn_part(model, weights, gradients, &all, score);
}

void model_score_part(struct model *model, const float *weights, const struct model_part *part,
                      struct score *score)
{
    struct pass pass = pass_of(model, weights, part->samples);
    forward(model, &pass, part->x, 0, model->count - 1);
    if (model->layers[model->count - 1].kind == &layer_logits) {
        apply_logits_loss(model, &pass, part, activations(model, NULL), score);
        return;
    }
    forward(model, &pass, part->x, model->count - 1, model->count);
    apply_loss(model, part, NULL, score);
}

void model_score(struct model *model, const float *weights, const float *x, const int32_t *labels,
                 int batch, struct score *score)
{
    const struct model_part all = {.x = x, .labels = labels, .samples = batch, .of = batch};
    model_score_part(model, weights, &all, score);
}

const float *model_forward(struct model *model, const float *weights, const float *x, int batch)
{
    CHECK(batch <= model->logits_max);
    struct pass pass = pass_of(model, weights, batch);
    forward(model, &pass, x, 0, model->count);
    return floats_of(model->layers[model->count - 1].y);
}

void model_forward_each(struct model *model, const float *weights, const float *x,
                        model_layer_done *done, void *context)
{
    struct pass pass = pass_of(model, weights, 1);
    for (int i = 0; i < model->count; i++) {
        forward(model, &pass, x, i, i + 1);
        if (layer_has_output(&model->layers[i]))
            done(context, i, model->layers[i].y);
    }
}

const float *model_step(struct model *model, const float *weights, const float *x, int from,
                        int count)
{
    CHECK(!model->recomputes);
    CHECK(count > 0 && from >= 0 && from <= model->in.length - count);
    CHECK(from <= model_stepped(model, weights));
    struct pass pass = pass_of(model, weights, 1);
    pass.from = from;
    pass.positions = count;
    model->stepped = from + count;
    model->stepped_weights = weights;
    forward(model, &pass, x, 0, model->count);
    return floats_of(model->layers[model->count - 1].y);
}

int model_stepped(const struct model *model, const float *weights)
{
    return model->stepped_weights == weights ? model->stepped : 0;
}
