/* A batch's way through the layers, forward and back.
 *
 *   x ─► layers ─► last layer ─► loss      some samples at a time from the last layer on
 *        layers ◄─ slopes ◄────────┘
 */
#include "layers/model_layers.h"
#include "layers/model_private.h"

static const float *output_of(const struct model *model, int layer, const float *x)
{
    return layer == LAYER_INPUT ? x : model->layers[layer].y;
}

/* The layers from `first` to before `end`. */
static void forward(struct model *model, struct pass *pass, const float *x, int first, int end)
{
    for (int i = first; i < end; i++) {
        const struct layer *layer = &model->layers[i];
        if (!layer_has_output(layer))
            continue;
        pass->x = output_of(model, layer->from, x);
        pass->other = output_of(model, layer->partner, x);
        layer->kind->forward(layer, pass);
    }
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

static int rows_of(const struct model *model, int samples)
{
    return samples * (int)shape_positions(model->in);
}

static struct pass logits_pass(const struct model *model, const struct pass *of, const float *x,
                               int first, int samples)
{
    const struct layer *last = &model->layers[model->count - 1];
    struct pass pass = *of;
    pass.x = output_of(model, last->from, x) + (size_t)first * shape_size(last->in);
    pass.batch = samples;
    return pass;
}

/* The loss of some of the samples, and its slopes, unless dy is NULL. */
static void apply_loss(const struct model *model, const struct model_part *part, int first,
                       int samples, float *dy, struct score *score)
{
    const struct layer *last = &model->layers[model->count - 1];
    struct backend *backend = model->backend;
    const int outputs = last->out.channels;
    const struct cross_entropy loss = {.rows = rows_of(model, samples),
                                       .classes = outputs,
                                       .of = rows_of(model, part->of),
                                       .smoothing = dy ? part->smoothing : 0};
    if (part->labels)
        backend->cross_entropy(backend, &loss, last->y, part->labels + rows_of(model, first), dy,
                               score);
    else
        backend->squared_error(backend, samples, outputs, part->of, last->y,
                               part->numbers + (size_t)first * (size_t)outputs, dy, score);
}

/* Of so many samples the logits are computed at once, from `first` on: of a large vocabulary those
 * of a whole batch take more memory than all else. */
static int part_of(const struct model *model, int first, int samples)
{
    return samples - first < model->logits_max ? samples - first : model->logits_max;
}

/* The logits, their loss and its slopes, and from these the slopes of the layer before and the
 * gradients of the last. */
static void learn_logits(struct model *model, const struct pass *all, const struct model_part *part,
                         float *dx, struct score *score)
{
    const struct layer *last = &model->layers[model->count - 1];
    for (int first = 0; first < part->samples;) {
        const int samples = part_of(model, first, part->samples);
        struct pass pass = logits_pass(model, all, part->x, first, samples);
        last->kind->forward(last, &pass);
        apply_loss(model, part, first, samples, last->y, score);
        pass.adds = first > 0;
        pass.dy = last->y;
        pass.dx = last->from == LAYER_INPUT ? NULL : dx + (size_t)first * shape_size(last->in);
        last->kind->backward(last, &pass);
        first += samples;
    }
}

/* What came into the body of a residual is still there: its layers compute anew what they had put
 * where the next residual's did. */
static void recompute(struct model *model, struct pass *pass, const float *x, int close)
{
    int open = close;
    while (model->layers[open].kind != &layer_open || model->layers[open].depth > 0)
        open--;
    forward(model, pass, x, open + 1, close);
}

/* From the slopes of the last layer but one back to the first. */
static void model_backward(struct model *model, struct pass *pass, struct slopes *slopes,
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
            slopes->kept[slopes->depth++] = slopes->now;
        else if (layer->kind == &layer_shortcut)
            shortcut_backward(slopes);
        else if (layer->kind == &layer_open)
            open_backward(model, slopes, layer, pass->batch);
        else
            layer_backward(model, slopes, layer, pass);
    }
    CHECK(slopes->depth == 0);
}

static struct pass pass_of(struct model *model, const float *weights, int batch)
{
    CHECK(model->backend && batch > 0 && batch <= model->batch_max);
    model->stepped = 0;
    return (struct pass){
        .backend = model->backend, .batch = batch, .weights = weights, .room = model->room};
}

void model_learn_part(struct model *model, const float *weights, float *gradients,
                      const struct model_part *part, struct score *score)
{
    CHECK(part->samples <= part->of && !part->labels != !part->numbers);
    struct pass pass = pass_of(model, weights, part->samples);
    struct slopes slopes = {.now = model->slope[0]};
    pass.training = true;
    pass.draws = part->draws;
    pass.gradients = gradients;
    forward(model, &pass, part->x, 0, model->count - 1);
    learn_logits(model, &pass, part, slopes.now, score);
    model_backward(model, &pass, &slopes, part->x);
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
    const struct layer *last = &model->layers[model->count - 1];
    struct pass all = pass_of(model, weights, part->samples);
    forward(model, &all, part->x, 0, model->count - 1);
    for (int first = 0; first < part->samples;) {
        const int samples = part_of(model, first, part->samples);
        const struct pass pass = logits_pass(model, &all, part->x, first, samples);
        last->kind->forward(last, &pass);
        apply_loss(model, part, first, samples, NULL, score);
        first += samples;
    }
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
    return model->layers[model->count - 1].y;
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
    return model->layers[model->count - 1].y;
}

int model_stepped(const struct model *model, const float *weights)
{
    return model->stepped_weights == weights ? model->stepped : 0;
}
