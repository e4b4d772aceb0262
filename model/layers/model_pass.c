/* Forward and backward pass of a batch.
 *
 *   x ─► layers ─► last layer ─► loss
 *        layers ◄ gradients ◄──────┘
 *
 * For logits, one backend operation computes last layer and loss, some rows at a time.
 */
#include "layers/model_layers.h"
#include "layers/model_private.h"

static struct numbers output_of(const struct model *model, int layer, const float *x)
{
    return layer == LAYER_INPUT ? floats(x) : model->layers[layer].y;
}

/* Returns true if layer i is an activation that the dense layer before it computes in the same
 * operation. The outputs of both layers are kept. */
static bool is_fused_activation(const struct model *model, int i)
{
    const struct layer *layer = &model->layers[i];
    return layer->kind->is_activation && !layer->absorbed && layer->from == i - 1 && i > 0 &&
           model->layers[i - 1].kind == &layer_dense;
}

/* Returns the index of the norm that directly follows the ")" at index i and reads its sum; 0 if
 * there is none. Also returns 0 if the model recomputes: the norm's output could then overlap the
 * addends in shared memory. */
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

/* Computes layer i. If one operation computes layer i and a following layer before `end`, computes
 * both. Returns the index of the last computed layer. */
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

static void forward(struct model *model, struct pass *pass, const float *x, int first, int end)
{
    for (int i = first; i < end; i++)
        if (layer_has_output(&model->layers[i]))
            i = layer_forward(model, pass, x, i, end);
    pass->fused = (struct fused){0};
}

/* Gradients of activations in a backward pass. The gradient at a residual's output enters the
 * residual's body. It is also kept, until it is added to the gradient at the body's input. */
struct gradient_stack {
    void *now;                   /* gradient at the output of the next layer to process */
    void *kept[LAYER_DEPTH_MAX]; /* kept gradients of the enclosing residuals, outermost first */
    int depth;
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

/* Runs the backward pass of the joint "residual(": adds the body's gradient and the gradient
 * that bypassed the body. */
static void open_backward(struct model *model, struct gradient_stack *stack,
                          const struct layer *open, int batch)
{
    CHECK(stack->depth > 0);
    void *passed = stack->kept[--stack->depth];
    if (open->from == LAYER_INPUT)
        return; /* the gradient of the model's input is not needed */
    void *to = !is_kept(stack, stack->now) ? stack->now
               : !is_kept(stack, passed)   ? passed
                                           : free_gradient(model, stack);
    model->backend->elements->add(model->backend, (size_t)batch * shape_size(open->in),
                                  activations(model, stack->now), activations(model, passed),
                                  activations(model, to));
    stack->now = to;
}

/* Runs the backward pass of the joint "|": keeps the finished gradient of the shortcut and
 * continues with the body. */
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
        model->backend->elements->copy(model->backend, (size_t)pass->batch * shape_size(layer->out),
                                       activations(model, stack->now), activations(model, own));
        stack->now = own;
    }
    void *dx = free_gradient(model, stack);
    pass->dy = activations(model, stack->now);
    pass->dx = activations(model, layer->from == LAYER_INPUT ? NULL : dx);
    layer->kind->backward(layer, pass);
    stack->now = dx;
}

/* Runs the backward pass of a norm that begins a residual's body. The norm also adds the
 * gradient that bypassed the body, so the joint "residual(" needs no pass of its own. */
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

/* Runs the backward pass of a dense layer and of the activation before it, in one operation. */
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

/* Adds the loss of the last layer's outputs to the score. Unless dy is NULL, writes the gradients
 * of these outputs to dy. */
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
        backend->loss->cross_entropy(backend, &loss, y, part->labels, dy, score);
    else
        backend->loss->squared_error(backend, part->samples, outputs, part->of, y, part->numbers,
                                     dy, score);
}

/* Computes the logits and adds their loss to the score. In training, also writes the gradients of
 * the logits' weights and, to dx, of their input. */
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
    model->backend->loss->logits(model->backend, &logits, output_of(model, last->from, part->x),
                                 layer_rounded(last, pass, 0), part->labels, dx,
                                 pass->training ? layer_gradients(last, pass, 0) : NULL, score);
}

/* Computes the last layer, the loss and the last layer's backward pass. Writes the gradients of
 * the layer's tensors and, to dx, of its input. */
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

/* Computes the activations inside the residual that ends at layer `close` again, because a later
 * residual has overwritten them. The input of the residual is still in memory. */
static void recompute(struct model *model, struct pass *pass, const float *x, int close)
{
    int open = close;
    while (model->layers[open].kind != &layer_open || model->layers[open].depth > 0)
        open--;
    forward(model, pass, x, open + 1, close);
}

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
            i--; /* skips the joint "residual(", which norm_backward has processed */
        } else if (layer->kind == &layer_dense && layer->activation == LINEAR &&
                   layer->from == i - 1 && i > 0 && is_fused_activation(model, i - 1)) {
            dense_backward(model, stack, layer, pass, x);
            i--; /* skips the activation, which dense_backward has processed */
        } else
            layer_backward(model, stack, layer, pass);
    }
    CHECK(stack->depth == 0);
}

/* Returns the weights in the type of the activations: the weights themselves if that is float32,
 * otherwise a rounded copy of all trained weights. */
static struct numbers rounded(const struct model *model, const float *weights)
{
    if (model->type == FLOAT32)
        return floats(weights);
    const struct numbers copy = {model->rounded, model->type};
    model->backend->elements->copy(model->backend, model->trained, floats(weights), copy);
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
